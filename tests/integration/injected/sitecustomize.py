# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A defect, planted where it is most dangerous: an error that nobody expects, with the request in its text.

Python imports this by itself where the folder is on its path. PLANTED_CRASH names the methods that crash.
"""

from __future__ import annotations

import os
from typing import Any

import requests

plain_send = requests.Session.send


def send(session: requests.Session, request: requests.PreparedRequest, **options: Any) -> requests.Response:
    """Send a request, or crash."""
    if request.method in os.environ.get("PLANTED_CRASH", "").split():
        raise RuntimeError(f"{request.method} {request.url} {dict(request.headers)} {request.body!r}")
    return plain_send(session, request, **options)


requests.Session.send = send  # type: ignore[method-assign, assignment]
