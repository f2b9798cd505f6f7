# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Looks whether something else than the platform responds: a URL, or a TCP port. Sends no token."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from .libraries import requests
from .proxies import from_environment


def probe_url(url: str, statuses: list[int], seconds: float, verify: bool | str) -> str | None:
    """Return what is wrong with a URL; ``None`` if it responds with one of the statuses.

    Redirects are not followed: they are a status like any other.
    """
    try:
        with requests.Session() as session:
            session.trust_env = False
            settings = from_environment(url, verify)
            response = session.get(url, timeout=seconds, allow_redirects=False, stream=True, **settings)
            response.close()
    except (requests.RequestException, ValueError) as error:
        return f"{url} does not respond: {type(error).__name__}"
    if response.status_code in statuses:
        return None
    wanted = " or ".join(map(str, statuses))
    return f"{url} responds with status {response.status_code}, not {wanted}"


def probe_tcp(address: str, seconds: float) -> str | None:
    """Return what is wrong with an address of the form ``host:port``; ``None`` if it accepts a connection."""
    try:
        parts = urlsplit(f"tcp://{address}")
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=seconds):
            return None
    except (OSError, ValueError) as error:
        return f"{address} accepts no connection: {getattr(error, 'strerror', None) or error}"
