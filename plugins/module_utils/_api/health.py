# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Requests a URL of a workload, to learn whether it responds. Sends no token, and follows no redirect."""

from __future__ import annotations

from collections.abc import Collection
from urllib.parse import urlsplit

from .http_transport import CallThread, Request, open_session, prepare_request, root_reason
from .libraries import requests
from .proxies import from_environment

MAX_SECONDS = 10.0
"""How long one request may take in total. A workload that hangs is requested again."""


def problem_of_url(url: str) -> str | None:
    """Return why a URL cannot be requested, as the end of a sentence; ``None`` if it can."""
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


def why_unhealthy(url: str, statuses: Collection[int], verify: bool | str) -> str | None:
    """Request a URL once. Return why its response is not a healthy one; ``None`` if it is.

    :param statuses: the HTTP statuses that count as healthy.
    :param verify: whether to verify the certificate, or the path of the authorities to verify it with.
    """
    thread = CallThread()
    try:
        status = thread.run(MAX_SECONDS, lambda: status_of(url, verify))
    except TimeoutError:
        return f"no response within {MAX_SECONDS:g} seconds"
    except (requests.RequestException, OSError, UnicodeError) as error:
        return f"no response: {root_reason(error)}"
    finally:
        thread.stop()
    return None if status in statuses else f"it responds with status {status}"


def status_of(url: str, verify: bool | str) -> int:
    """Return the status of the response. Does not read its body, which may have no end."""
    prepared = prepare_request(Request("GET", url, None, None, {}, verify, {}, fresh=True))
    settings = from_environment(url, verify)
    with (
        open_session() as session,
        session.send(
            prepared, allow_redirects=False, timeout=MAX_SECONDS, stream=True, **settings
        ) as response,
    ):
        return int(response.status_code)
