# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The variables of a host: what is known of its service, and how Ansible reaches it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from ipaddress import AddressValueError, IPv6Address
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import SERVICE_ID

ADDRESS = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<host>[A-Za-z0-9][\w.-]*))(?::(?P<port>\d+))?", re.ASCII)
MAX_PORT = 65535


def variables_of(
    service: Mapping[str, Any],
    connect_with: str,
    prefix: str,
    url: str,
    *,
    handed_on: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the variables of a host. Ansible renders none of them: it trusts no string of a plugin.

    The collection's tasks look for the id, ``url`` and ``handed_on``.
    """
    facts = {f"{prefix}{name}": value for name, value in service.items() if name != "sftp"}
    return {
        **facts,
        SERVICE_ID: service["id"],
        "hosted_url": url,
        **(handed_on or {}),
        **connection_variables(service, connect_with),
    }


def connection_variables(service: Mapping[str, Any], connect_with: str) -> dict[str, Any]:
    """Return the variables that tell Ansible where the host is."""
    if connect_with == "sftp":
        found = service.get("sftp") or {}
        # Facts are gathered by Python on the host, and SFTP opens files only.
        return {"ansible_facts_modules": [], **{f"ansible_{name}": value for name, value in found.items()}}
    if connect_with == "address" and service["address"]:
        return split_address(service["address"])
    return {}


def split_address(address: str) -> dict[str, Any]:
    """Read ``host:port``, or a host alone. An IPv6 address with a port is in brackets.

    Nothing comes of what cannot be one.
    """
    if is_ipv6(address):  # what looks like its port is its last part
        return {"ansible_host": address}
    found = ADDRESS.fullmatch(address)
    if found is None or (found["ipv6"] and not is_ipv6(found["ipv6"])):
        return {}
    host = {"ansible_host": found["ipv6"] or found["host"]}
    if found["port"] is None:
        return host
    port = int(found["port"])
    return {**host, "ansible_port": port} if 0 < port <= MAX_PORT else {}


def is_ipv6(text: str) -> bool:
    """Tell whether a text is an IPv6 address, without a zone."""
    try:
        return IPv6Address(text).scope_id is None
    except AddressValueError:
        return False
