# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads proxies and CAs from the environment, with the rules of requests, and from nowhere else.

requests also asks the platform for proxies. On macOS that is SystemConfiguration, which crashes in a process
that was forked, as Ansible's workers are: https://github.com/python/cpython/issues/75999.
"""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass_environment  # type: ignore[attr-defined]


def from_environment(
    url: str, verify: bool | str, proxies: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Return the ``proxies`` and ``verify`` arguments of requests for a URL.

    ``proxies`` takes precedence over the environment; its ``no_proxy`` replaces that of the environment.
    """
    found, given = getproxies_environment(), dict(proxies or {})
    excepted = given.get("no_proxy", found.get("no", ""))
    if not bypasses(url, excepted):
        given = {**found, **given}
    if verify is True:
        verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or verify
    return {"proxies": given, "verify": verify}


def bypasses(url: str, excepted: str) -> bool:
    """Tell whether the hosts in ``excepted``, the form of ``NO_PROXY``, include that of a URL."""
    parts = urlsplit(url)
    host = parts.hostname
    if not host:
        return True
    entries = [entry for entry in excepted.replace(" ", "").split(",") if entry]
    if is_ipv4(host):
        listed = any(contains(entry, host) for entry in entries)
    else:
        names = (f".{host}", f".{host}:{parts.port}")
        listed = any(name.endswith(f".{entry.lstrip('.')}") for name in names for entry in entries)
    return listed or bool(proxy_bypass_environment(host, {"no": excepted}))


def is_ipv4(host: str) -> bool:
    """Tell whether a host is an IPv4 address."""
    try:
        ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return True


def contains(entry: str, address: str) -> bool:
    """Tell whether an entry of ``NO_PROXY`` is an IPv4 address, or a network that contains it."""
    if "/" not in entry:
        return entry == address
    try:
        return ipaddress.IPv4Address(address) in ipaddress.IPv4Network(entry, strict=False)
    except ValueError:
        return False
