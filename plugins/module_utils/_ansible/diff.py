# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Formats plans as diffs in YAML."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._api.libraries import yaml
from .._api.text import printable
from .._resources.shared.plan import Plan


def as_diff(plan: Plan) -> dict[str, str]:
    """Return the diff of a plan in Ansible's form."""
    return {"before": as_yaml(plan.before), "after": as_yaml(plan.after)}


def as_yaml(state: Mapping[str, Any] | str) -> str:
    """Return ``state`` as YAML, with its keys in order; an empty string if it is empty. Text is kept."""
    if not state:
        return ""
    if isinstance(state, str):
        return printable(state)
    text: str = yaml.safe_dump(dict(state), sort_keys=False, default_flow_style=False, allow_unicode=True)
    return printable(text)
