# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Probes workloads: whether a URL responds, or a port accepts connections. Sends no token."""

from __future__ import annotations

import socket
from collections.abc import Collection
from contextlib import closing
from urllib.parse import urlsplit

from .bounded_call import run_bounded
from .http_transport import HttpTransport, Request, root_reason
from .libraries import requests, urllib3


def problem_of_url(url: str) -> str | None:
    """Return why a URL cannot be probed, as the end of a sentence; ``None`` if it can."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return "is no URL"
    if not valid:
        return "must begin with http:// or https:// and name a host"
    if "@" in parts.netloc:
        return "must not hold a user name or a password, because messages show it"
    return None


def probe_url(url: str, statuses: Collection[int], seconds: float, verify: bool | str) -> str | None:
    """Return what is wrong with a URL; ``None`` if it responds with one of the statuses."""
    with closing(HttpTransport()) as transport:
        try:
            request = Request("GET", url, None, {}, verify)
            response = run_bounded(seconds, lambda: transport.open(request, seconds))
            response.close()  # its body may have no end
        except (TimeoutError, requests.exceptions.ReadTimeout):  # whichever of the two clocks is first
            return f"{url} does not respond within {seconds:g} seconds"
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:
            return f"{url} does not respond: {root_reason(error)}"
    if response.status_code in statuses:
        return None
    return f"{url} responds with status {response.status_code}, not {' or '.join(map(str, statuses))}"


def probe_tcp(address: str, seconds: float) -> str | None:
    """Return what is wrong with an address of the form ``host:port``; ``None`` if it accepts a connection."""
    try:
        parts = urlsplit(f"tcp://{address}")
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=seconds):
            return None
    except (OSError, ValueError) as error:
        return f"{address} accepts no connection: {getattr(error, 'strerror', None) or error}"
