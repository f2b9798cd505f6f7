# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every helper has a test that mirrors its path, or is on a list that says where else it is tested."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.scripts.architecture import PLUGINS, sources
from ansible_collections.hosted.services.scripts.mutants import TESTED_ELSEWHERE

HERE = Path(__file__).resolve().parent
HELPERS = ("module_utils", "plugin_utils")


def names() -> list[str]:
    """Return the helpers by their paths below plugins."""
    found = (path.relative_to(PLUGINS) for path in sources())
    return [path.as_posix() for path in found if path.parts[0] in HELPERS]


@pytest.mark.parametrize("name", names())
def test_a_helper_has_a_test_of_its_own(name: str) -> None:
    path = HERE / name
    has_test = (path.parent / f"test_{path.name}").is_file()
    if name in TESTED_ELSEWHERE:
        assert not has_test, f"take {name} off the list in scripts/mutants.py: it has a test now"
    else:
        assert has_test, f"write tests/unit/plugins/{path.parent.relative_to(HERE)}/test_{path.name}"


def test_the_list_of_others_names_what_is_there() -> None:
    assert TESTED_ELSEWHERE.keys() <= set(names())
    files = {path.name for path in HERE.parents[1].rglob("test_*.py")}
    for name, reason in TESTED_ELSEWHERE.items():
        named = [
            part.rpartition("/")[2].strip(",") for part in reason.split() if part.strip(",").endswith(".py")
        ]
        assert set(named) <= files, name
