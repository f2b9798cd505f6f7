# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which changes are made to a source, and that each is one change of a source that still compiles."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.scripts.mutants import DECISIVE, EQUIVALENT, PLUGINS, Subject
from ansible_collections.hosted.services.scripts.mutation import mutants_of


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("a = b < 3", ["a = ((b) <= (3))", "a = b < (4)"]),
        ("a = b == 'x'", ["a = ((b) != ('x'))", "a = ((b) == ('another text'))"]),
        ("a = b and c", ["a = ((b) or (c))", "a = ((b))", "a = ((c))"]),
        ("a = not b", ["a = (b)"]),
        ("a = True", ["a = (False)"]),
        ("a = b + c", ["a = ((b) - (c))"]),
        ("a()", ["pass"]),
        ("if a():\n    b = c", ["if (not (a())):\n    b = c"]),
        ("if a < b:\n    c = d", ["if ((a) <= (b)):\n    c = d"]),
        ("c = [a for a in b if a()]", ["c = [a for a in b if (True)]", "c = [a for a in b if (not (a()))]"]),
        ("def f() -> int:\n    return a", ["def f() -> int:\n    return None"]),
        ("def f():\n    return False", ["def f():\n    return (True)"]),
        ("def f():\n    return True", ["def f():\n    return None", "def f():\n    return (False)"]),
        ("a = zip(b, c, strict=False)", ["a = zip(b, c, strict=(True))"]),
        ("MAX_COUNT = 30", ["MAX_COUNT = (31)"]),
        ("SIMILARITY = 0.75", ["SIMILARITY = (1.75)"]),
        ("def f():\n    raise a", ["def f():\n    pass"]),
        ("text = 'é'; a = True", ["text = 'é'; a = (False)"]),
    ],
)
def test_each_condition_constant_and_statement_is_changed(source: str, changed: list[str]) -> None:
    made = [mutant.apply(source.encode()).decode() for mutant in mutants_of(source.encode())]
    assert sorted(made) == sorted(changed)


@pytest.mark.parametrize(
    "source",
    [
        "'what it is for'",
        "import a",
        "from a import b",
        "a: Literal[1]",
        "if TYPE_CHECKING:\n    a()",
        "return None",
        "a = zip(b, c, strict=True)",
        "a = dumps(b, indent=2)",
        "WAIT_SECONDS = 30.0",
        "CHUNK = 64 * 1024",
        "a = time.monotonic() >= until",
    ],
)
def test_what_no_test_could_notice_is_left_alone(source: str) -> None:
    assert mutants_of(source.encode()) == []


@pytest.mark.parametrize("entry", DECISIVE)
def test_every_change_of_a_file_that_decides_compiles(entry: str) -> None:
    name, _colons, function = entry.partition("::")
    source = (PLUGINS / name).read_bytes()
    mutants = [mutant for mutant in mutants_of(source) if function in ("", *mutant.function.split("."))]
    assert mutants, "the file or function is still there"
    for mutant in mutants:
        compile(mutant.apply(source), name, "exec")


@pytest.mark.parametrize("key", EQUIVALENT)
def test_a_change_that_is_not_drawn_is_one_that_can_be_made(key: str) -> None:
    """Else it was made to code that is not there any more."""
    path = PLUGINS / key.partition(" ")[0]
    source = path.read_bytes()
    assert key in {Subject(path, source, mutant).key for mutant in mutants_of(source)}
