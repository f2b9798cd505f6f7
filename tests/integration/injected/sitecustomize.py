# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A defect, planted where it is most dangerous: an error that nobody expects, with the request in its text.

Python imports this by itself where the folder is on its path. PLANTED_CRASH names the methods that crash.
"""

from __future__ import annotations

import os
from typing import Any

from urllib3.connectionpool import HTTPConnectionPool

plain_urlopen = HTTPConnectionPool.urlopen


def urlopen(pool: HTTPConnectionPool, method: str, url: str, *arguments: Any, **options: Any) -> Any:
    """Send a request, or crash. The collection sends through this directly, registries through requests."""
    if method in os.environ.get("PLANTED_CRASH", "").split():
        raise RuntimeError(f"{method} {url} {dict(options['headers'])} {options.get('body')!r}")
    return plain_urlopen(pool, method, url, *arguments, **options)


HTTPConnectionPool.urlopen = urlopen  # type: ignore[method-assign, assignment]
