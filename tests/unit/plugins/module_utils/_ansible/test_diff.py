# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Diffs are YAML in the order given, and nothing for nothing."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._ansible.diff import as_diff, as_yaml
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan


def test_yaml_keeps_the_order_and_is_readable() -> None:
    state = {"name": "caf\u00e9", "dimensions": {"ram_gb": 4, "cpu_cores": 2}, "public": True, "of": ["a"]}
    assert as_yaml(state) == (
        "name: caf\u00e9\ndimensions:\n  ram_gb: 4\n  cpu_cores: 2\npublic: true\nof:\n- a\n"
    )


def test_nothing_is_shown_as_nothing() -> None:
    assert as_diff(Plan(result=None)) == {"before": "", "after": ""}
    assert as_diff(Plan(result=None, before={"a": 1})) == {"before": "a: 1\n", "after": ""}
