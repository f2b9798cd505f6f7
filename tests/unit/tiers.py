# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cases of one kind, of which the gate takes the first, and the night the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def sample(cases: Iterable[Any], size: int = 1) -> list[Any]:
    """Return parameters of a test, so many of them for the gate."""
    marks = pytest.mark.night
    return [case if number < size else pytest.param(case, marks=marks) for number, case in enumerate(cases)]
