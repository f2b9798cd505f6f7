# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be a server's address is refused before a library trips over it."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._sftp.host_keys import check_address


@pytest.mark.parametrize("host", ["", " ", "a b", "a\0b", "a..b", "x" * 300, "\ud800", "a\nb"])
def test_no_address(host: str) -> None:
    with pytest.raises(ConfigurationError, match="neither a name nor an address"):
        check_address(host, 22)


@pytest.mark.parametrize("port", [0, -1, 65536, 10**400])
def test_no_port(port: int) -> None:
    with pytest.raises(ConfigurationError, match="from 1 to 65535"):
        check_address("127.0.0.1", port)


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "::1", "fe80::1%eth0", "node-1.example.com", "b\u00fccher.example"]
)
def test_an_address(host: str) -> None:
    check_address(host, 65535)
