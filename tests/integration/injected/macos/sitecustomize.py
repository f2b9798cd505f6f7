# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proxy lookup of macOS, which crashes in a process that was forked. Here it notes the call, too.

Python imports this by itself where the folder is on its path. INJECTED_LOOKUPS names the file of the notes.
"""

from __future__ import annotations

import importlib
import os
import sys
import types

STARTED_AS = os.getpid()


def crash(*_arguments: object) -> dict[str, str]:
    """Answer in a process that was started, and crash in one that was forked."""
    forked = os.getpid() != STARTED_AS
    with open(os.environ["INJECTED_LOOKUPS"], "a") as file:
        file.write("forked\n" if forked else "started\n")
    if forked:
        os.abort()
    return {}


def proxy_settings() -> dict[str, object]:
    """Return the exceptions of the system's proxies, as `_scproxy` does."""
    crash()
    return {"exclude_simple": False, "exceptions": []}


library = types.ModuleType("_scproxy")
library._get_proxies, library._get_proxy_settings = crash, proxy_settings  # type: ignore[attr-defined]
sys.modules["_scproxy"] = library
# What a Mac's Python decides when it imports this, and on Linux nothing else.
sys.platform, platform = "darwin", sys.platform
importlib.import_module("urllib.request")
sys.platform = platform
