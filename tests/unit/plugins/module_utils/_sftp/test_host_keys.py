# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be a server's address is refused before a library trips over it."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import HostKeyRefused
from ansible_collections.hosted.services.plugins.module_utils._sftp.session import (
    HostKeys,
    check_address,
)


@pytest.mark.parametrize(
    "host", ["", " ", "a b", "a\0b", "a..b", "x" * 300, f"{'x.' * 126}xx", "\ud800", "a\nb"]
)
def test_no_address(host: str) -> None:
    with pytest.raises(ConfigurationError, match="neither a name nor an address"):
        check_address(host, 22)


@pytest.mark.parametrize("port", [0, -1, 65536, 10**400])
def test_no_port(port: int) -> None:
    with pytest.raises(ConfigurationError, match="from 1 to 65535"):
        check_address("127.0.0.1", port)


# --- Keys -----------------------------------------------------------------------------------------------

KEY, OTHER = (asyncssh.generate_private_key("ssh-ed25519").convert_to_public() for _key in range(2))


def line(key: Any, host: str = "node-1") -> str:
    return f"{host} {key.export_public_key().decode().strip()}\n"


@pytest.fixture
def known(tmp_path: Path) -> Path:
    return tmp_path / "known_hosts"


def keys(known: Path, policy: str = "accept_new") -> HostKeys:
    return HostKeys(str(known), policy, "node-1", 22)


"""A name of as many characters as one may have: 253, with at most 63 between two dots."""


@pytest.mark.parametrize(
    ("before", "policy", "said"),
    [
        ("", "strict", "is not in .*, and host_key_checking is strict"),
        (line(OTHER), "accept_new", "has changed: it is ssh-ed25519 SHA256:.*Someone may be intercepting"),
        (f"@revoked {line(KEY)}", "accept_new", "is revoked in"),
        (f"@revoked {line(KEY)}{line(KEY)}", "accept_new", "is revoked in"),
    ],
    ids=["unknown", "another", "revoked", "revoked and known"],  # the keys differ from worker to worker
)
def test_a_key_that_is_not_the_known_one_is_refused(known: Path, before: str, policy: str, said: str) -> None:
    known.write_text(before)
    refused = keys(known, policy)
    with pytest.raises(HostKeyRefused, match=said):
        refused.judge("127.0.0.1", KEY)
    refused.pin()
    assert known.read_text() == before


def test_a_full_disk_leaves_no_half_line(known: Path) -> None:
    before = line(OTHER, "node-2")
    known.write_text(before)
    first = keys(known)
    first.judge("127.0.0.1", KEY)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 9, limits[1]))
    try:
        with pytest.raises(ConfigurationError, match="cannot be written"):
            first.pin()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert known.read_text() == before
