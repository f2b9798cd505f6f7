# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The page on the routes."""

from __future__ import annotations

from integration import coverage


def test_the_page_is_that_of_the_routes() -> None:
    assert coverage.PAGE.read_text() == coverage.page(), "run `python -m integration.coverage`"
