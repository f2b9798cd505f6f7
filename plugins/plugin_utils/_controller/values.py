# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Convert values that Ansible passes to plugins into those that the collection works with."""

from __future__ import annotations

from datetime import date, time
from typing import Any


def untagged(value: Any) -> Any:
    """Return ``value`` in plain types: Ansible's strings carry their origin, which other libraries refuse."""
    if isinstance(value, dict):
        return {untagged(key): untagged(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [untagged(item) for item in value]
    if isinstance(value, (date, time)):  # as Ansible hands it to a module
        return value.isoformat()
    for plain in (bool, str, int, float):
        if isinstance(value, plain):
            return plain(value) if plain is not str else str.__str__(value)
    return value
