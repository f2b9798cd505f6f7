# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every route of the platform: `python -m integration.coverage` writes docs/coverage.md."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._api.routes import ROUTES
from integration.ansible_run import REPOSITORY

PAGE = REPOSITORY / "docs" / "coverage.md"
INTRODUCTION = """\
# Every route

All {count} routes of the platform: the token scope that each needs, and what happens to a call whose
outcome is unknown. `python -m integration.coverage` writes this page from the sources.

| route | token scope | if the outcome is unknown |
| --- | --- | --- |
"""


def page() -> str:
    rows = [f"| `{route}` | {route.scope} | {route.idempotency.meaning} |\n" for route in ROUTES.values()]
    return INTRODUCTION.format(count=len(ROUTES)) + "".join(rows)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
