# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations of services in memory, whose state shows at once."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.relocations import work


@pytest.fixture(autouse=True)
def stops_show_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "QUIET_SECONDS", 0.0)
