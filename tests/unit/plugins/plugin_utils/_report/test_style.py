# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The style: readable in light and dark, and without colors; nothing of it loads anything."""

from __future__ import annotations

import re

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._report import signs
from ansible_collections.hosted.services.plugins.plugin_utils._report.signs import SHAPES, Sign
from ansible_collections.hosted.services.plugins.plugin_utils._report.style import STYLE

BLOCKS = re.findall(r":root\{([^}]*)\}", STYLE)
GROUPS = [signs.VERDICTS, signs.LEVELS, signs.FRESHNESS, {**signs.STATES, **signs.STATUSES}]


def colors(block: str) -> dict[str, str]:
    """Return the colors that a block sets."""
    return dict(re.findall(r"--([a-z0-9]+):(#[0-9a-f]+)", block.replace("\n", "")))


def luminance(color: str) -> float:
    """Return how bright a color is (WCAG 2)."""
    digits = color[1:] if len(color) == 7 else "".join(digit * 2 for digit in color[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, two: str) -> float:
    """Return the contrast of two colors (WCAG 2)."""
    light, dark = sorted((luminance(one), luminance(two)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("block", BLOCKS, ids=["light", "dark", "paper"])
def test_text_and_shapes_stand_out(block: str) -> None:
    """4.5 for text, and 3 for shapes and columns."""
    found = colors(block)
    for name in ("ink", "soft", "accent"):
        for ground in ("bg", "card"):
            assert contrast(found[name], found[ground]) >= 4.5, (name, ground)
    shapes = ("good", "warn", "bad", "calm", "dim")
    assert {
        name: contrast(found[name], found["card"])
        for name in shapes
        if contrast(found[name], found["card"]) < 3
    } == {}


def test_light_dark_and_paper_set_the_same_colors() -> None:
    light, dark, paper = map(colors, BLOCKS)
    assert light.keys() == dark.keys() == paper.keys()


def test_every_color_that_is_used_is_set() -> None:
    assert set(re.findall(r"var\(--([a-z0-9]+)\)", STYLE)) <= colors(BLOCKS[0]).keys()


@pytest.mark.parametrize("group", GROUPS)
def test_colors_alone_tell_nothing(group: dict[str, Sign]) -> None:
    """Whoever cannot tell colors apart sees another shape."""
    tones = {sign.shape: sign.tone for sign in group.values()}
    for sign in group.values():
        assert sign.shape in SHAPES
        assert tones[sign.shape] == sign.tone, "one shape, one color"
