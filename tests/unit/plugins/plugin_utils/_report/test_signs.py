# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Conditions and verdicts: each has a shape of its own beside its color."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report import signs
from ansible_collections.hosted.services.plugins.plugin_utils._report.signs import SHAPES, Sign

GROUPS = [signs.VERDICTS, signs.LEVELS, signs.FRESHNESS, {**signs.STATES, **signs.STATUSES}]


@pytest.mark.parametrize("group", GROUPS)
def test_colors_alone_tell_nothing(group: dict[str, Sign]) -> None:
    """Whoever cannot tell colors apart sees another shape."""
    tones = {sign.shape: sign.tone for sign in group.values()}
    for sign in group.values():
        assert sign.shape in SHAPES
        assert tones[sign.shape] == sign.tone, "one shape, one color"
