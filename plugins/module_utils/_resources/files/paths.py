# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths on a service: relative to its root, and never outside it (Files); and the URLs that lead there."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

from ..._api.text import describe_type
from ..shared.names import check_text
from ..shared.task_errors import Invalid

HIGHEST_PORT = 65535
KEYS = (
    {"host": "host", "port": "port", "user": "username"},
    {"host": "ansible_host", "port": "ansible_port", "user": "ansible_user"},
)
"""The keys of an SFTP access as the API and the modules show it, and those of a host's variables."""
WAYS = (
    "give a result of sftp_info, a service of service_info with include: [sftp], or the variables of a host "
    "of the inventory"
)


def relative_path(option: str, path: str, *, rooted: bool = True) -> str:
    """Return a path below the root of a service. Unless ``rooted``, a slash is no root but a slip."""
    if "\0" in path:
        raise Invalid(f"{option} holds a null character, which no file name can")
    below = path[1:] if rooted and path[:1] == "/" and path[1:] else path
    if below.startswith(("/", "~/")) or below == "~":
        plain = path.lstrip("/~") or "."
        raise Invalid(f"{option} is {path!r}; paths are relative to the root of the service: write {plain!r}")
    if ".." in unquote(path).replace("\\", "/").split("/"):  # as a server may read it
        raise Invalid(f"{option} is {path!r}; the platform refuses '..' in a path")
    return "/".join(name for name in path.split("/") if name not in ("", "."))


def is_root(path: str) -> bool:
    return path == "~" or set(path.removeprefix("~/").split("/")) <= {"", "."}


def ends_with_empty_variable(path: str) -> bool:
    """Tell whether a path looks like ``folder/{{ name }}`` with an empty variable."""
    return "//" in path or path.endswith(("/", "/."))


def sftp_url(source: Any, path: Any = ".") -> str:
    """Return the URL of a path on a service, or of its root, without any password."""
    if not isinstance(path, str):
        raise Invalid(f"path is {describe_type(path)}; it must be a string")
    check_text("path", path)  # an empty one may be a variable without a value, and is not the root
    access, below = access_from(source), relative_path("path", path)
    login = f"{quote(str(access['user']), safe='')}@" if access["user"] else ""
    folder = "/" if below and path.endswith("/") else ""
    return f"sftp://{login}{in_url(str(access['host']))}{port_of(access['port'])}/{quote(below)}{folder}"


def access_from(source: Any) -> dict[str, Any]:
    if not isinstance(source, Mapping):
        raise Invalid(f"there is no SFTP access in {describe_type(source)}; {WAYS}")
    if "sftp" in source:
        if not isinstance(source["sftp"], Mapping):
            who = f"service {source['name']!r}" if source.get("name") else "this service"
            raise Invalid(f"{who} has no SFTP access; it may not be created yet, or not offer it")
        source = source["sftp"]
    for keys in KEYS:
        if source.get(keys["host"]):
            return {part: source.get(key) for part, key in keys.items()}
    raise Invalid(f"there is no SFTP access in it; {WAYS}")


def in_url(host: str) -> str:
    """Return a host name or an address as a URL writes it: that of IPv6 in brackets."""
    bare = host.removeprefix("[").removesuffix("]")
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        if not host or any(char in host for char in "/?#@:[]\\%") or not host.isprintable() or " " in host:
            raise Invalid(f"the host is {host!r}, which is neither a name nor an address") from None
        return host
    return bare if address.version == 4 else f"[{quote(bare, safe=':')}]"


def port_of(port: Any) -> str:
    if port in (None, ""):
        return ""
    number = int(port) if re.fullmatch("[0-9]{1,5}", str(port)) else 0
    if not 0 < number <= HIGHEST_PORT:
        raise Invalid(f"the port is {port!r}; it must be a number from 1 to {HIGHEST_PORT}")
    return f":{number}"
