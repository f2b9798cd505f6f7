# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The settings of a connection, validated before anything is sent."""

from __future__ import annotations

import hashlib
import ipaddress
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from .errors import ConfigurationError
from .text import tell_secrets

MAX_TIMEOUT = 24 * 60 * 60
UNCHECKED = (
    "validate_certs is off: no certificate was checked, so anybody on the way to the server could read the "
    "token and change what was sent and received"
)
TOKEN = re.compile(r"[!-~]+")
"""Matches one line of printable ASCII without spaces."""
HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


@dataclass(frozen=True)
class Connection:
    """The settings of a connection.

    ``timeout`` is the deadline of a call with all its retries, in seconds. ``caller`` names the module or
    plugin in the ``User-Agent`` header, for readers of the platform's log.
    """

    base_url: str
    token: str = field(repr=False)
    auth_header: str = "Authorization"
    auth_scheme: str = "Bearer"
    validate_certs: bool = True
    ca_path: str | None = None
    timeout: float = 60
    retries: int = 5
    allow_http_hosts: tuple[str, ...] = ()
    caller: str = ""
    headers: dict[str, str] = field(init=False, repr=False, compare=False)
    """Those of all requests, with the token."""
    verify: bool | str = field(init=False, compare=False)
    """The ``verify`` argument of requests: a CA file, ``True`` for the system's CAs, or ``False``."""
    warnings: list[str] = field(init=False, compare=False)
    """What every user of the connection is told of it."""
    account_key: str = field(init=False, repr=False, compare=False)
    """A hash that differs for each address and token. The token cannot be found from it."""

    def __post_init__(self) -> None:
        url = check_base_url(self.base_url, self.allow_http_hosts)
        if not TOKEN.fullmatch(self.token):
            raise ConfigurationError(fault_of_token(self.token))
        tell_secrets([self.token])
        # Here, because requests would show the token in its error.
        if not HEADER_NAME.fullmatch(self.auth_header):
            raise ConfigurationError(
                f"auth_header is {self.auth_header!r}, which is not the name of a header"
            )
        if not self.auth_scheme.isascii() or not self.auth_scheme.isprintable():
            raise ConfigurationError(
                f"auth_scheme is {self.auth_scheme!r}; it must not hold control or non-ASCII characters"
            )
        if not 0 < self.timeout <= MAX_TIMEOUT:
            raise ConfigurationError(
                f"timeout is {self.timeout} seconds; it must be more than 0 and at most {MAX_TIMEOUT}"
            )
        if self.validate_certs and self.ca_path and not os.path.exists(self.ca_path):
            raise ConfigurationError(f"ca_path {self.ca_path!r} does not exist")
        if self.retries < 0:
            raise ConfigurationError(f"retries is {self.retries}; it must be 0 or more")
        caller = f"; {self.caller}" if self.caller else ""
        headers = {
            "Accept": "application/json",
            "User-Agent": f"hosted.services (Ansible collection{caller})",
            self.auth_header: f"{self.auth_scheme} {self.token}".strip(),
        }
        account = f"{url}\n{self.auth_header}\n{self.token}".encode("utf-8", "surrogatepass")
        known = {
            "base_url": url,
            "headers": headers,
            "verify": self.validate_certs and (self.ca_path or True),
            "warnings": [] if self.validate_certs or url.startswith("http:") else [UNCHECKED],
            "account_key": hashlib.blake2b(account, digest_size=16).hexdigest(),
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)


def fault_of_token(token: str) -> str:
    """Return what is wrong with an invalid token, without showing it."""
    if not token:
        return "token is empty; set token, token_file or HOSTED_SERVICES_TOKEN"
    if (lines := len(token.splitlines())) > 1:
        return f"token has {lines} lines; a token is a single line. Does its file contain something else?"
    return "token holds a space, a control character or a character that is not ASCII"


def check_base_url(url: str, allow_http_hosts: Iterable[str] = ()) -> str:
    """Return ``url`` without trailing slashes."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:  # the error's text may hold a password
        raise ConfigurationError("base_url is not a URL: its host or port is invalid") from None
    if parts.username or parts.password:
        raise ConfigurationError("base_url holds a user name or a password; use token instead")
    fault = ""
    if parts.scheme not in ("http", "https") or not host or port == 0:
        fault = "it must look like https://api.example.com"
    elif not url.isprintable() or " " in url or "\\" in url:
        fault = "it must not hold spaces, control characters or backslashes"
    elif "?" in url or "#" in url:
        fault = "it must not have a query or a fragment"
    elif parts.scheme == "http" and not is_loopback(host) and host not in allow_http_hosts:
        raise ConfigurationError(
            f"base_url is {url!r}: over http the token would be sent unencrypted. "
            f"Use https, or add {host!r} to allow_http_hosts if the network in between is trusted"
        )
    if fault:
        raise ConfigurationError(f"base_url is {url!r}; {fault}")
    return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Tell whether ``host`` is the local machine, without resolving it."""
    if host == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    # Python versions disagree on whether an IPv4-mapped IPv6 address is loopback.
    return address.is_loopback and getattr(address, "ipv4_mapped", None) is None
