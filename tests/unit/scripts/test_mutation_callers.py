# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which tests are said to call a function."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ansible_collections.hosted.services.scripts import mutation_callers
from ansible_collections.hosted.services.scripts.mutation_callers import ENOUGH, PARTS, callers_of

SHAPES = Path("plugins/shapes.py")
SOURCE = """
class Shape:
    def area(self):
        def side():
            return 2
        return (lambda: side() * side())()


def unused():
    pass
"""
TESTS = """
import sys, threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "hosted/services/plugins"))
from shapes import Shape


@pytest.mark.parametrize("by", ["itself", "a thread", "a fixture", "nobody"])
def test_area(by, request):
    if by == "itself":
        assert Shape().area() == 4
    elif by == "a thread":
        thread = threading.Thread(target=Shape().area)
        thread.start()
        thread.join()
    elif by == "a fixture":
        request.getfixturevalue("area")


@pytest.fixture
def area():
    return Shape().area()
"""


@pytest.fixture
def record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the record, which is read anew."""
    path = tmp_path / "calls.json"
    monkeypatch.setattr(mutation_callers, "RECORD", path)
    mutation_callers._record.cache_clear()
    mutation_callers._calls.cache_clear()
    return path


def test_a_function_is_called_by_whatever_a_test_starts(tmp_path: Path) -> None:
    (tmp_path / "hosted/services/plugins").mkdir(parents=True)
    (tmp_path / "hosted/services/plugins/shapes.py").write_text(SOURCE)
    (tmp_path / "test_shapes.py").write_text(TESTS)
    parts = tmp_path / "parts"
    parts.mkdir()
    options = ["-q", "-p", mutation_callers.__name__, "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, PARTS: str(parts)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (part,) = parts.iterdir()
    functions = json.loads(part.read_text())[str(SHAPES)]
    callers = [f"test_shapes.py::test_area[{by}]" for by in ("itself", "a thread", "a fixture")]
    assert functions.pop("Shape.area") == functions.pop("Shape.area.side") == callers
    assert "unused" not in functions


def test_a_class_is_called_by_the_callers_of_its_file(record: Path) -> None:
    calls = {str(SHAPES): {"Shape.area": [0, 1], "double": [1, 2]}}
    record.write_text(json.dumps([["a", "b", "c"], calls]))
    assert callers_of(SHAPES, ["Shape.area"]) == {"a", "b"}
    assert callers_of(SHAPES, ["Shape.area", "double"]) == {"a", "b", "c"}
    assert callers_of(SHAPES, ["Shape"]) == {"a", "b", "c"}
    assert callers_of(SHAPES, ["Shape.area"], but=("b",)) == {"a"}
    assert callers_of(Path("plugins/other.py"), ["Shape"]) == set()


def test_of_many_callers_the_same_few_are_tried_each_time(record: Path) -> None:
    everyone = [f"test {number}" for number in range(1000)]
    record.write_text(json.dumps([everyone, {str(SHAPES): {"double": [*range(1000)]}}]))
    chosen = callers_of(SHAPES, ["double"])
    assert len(chosen) == ENOUGH and chosen < {*everyone}
    assert callers_of(SHAPES, ["double"]) == chosen


def test_the_nearest_tests_are_tried_and_each_before_its_other_parameters(record: Path) -> None:
    far = [f"test_far_{number}" for number in range(ENOUGH)]
    sets = [f"test_near[{number}]" for number in range(ENOUGH)]
    names = [*far, *sets, "test_written_for_it"]
    others = {f"other_{number}": [*range(ENOUGH)] for number in range(3)}
    record.write_text(json.dumps([names, {str(SHAPES): {"double": [*range(len(names))], **others}}]))
    chosen = callers_of(SHAPES, ["double"])
    assert {"test_written_for_it", "test_near[0]"} <= chosen
    assert len(chosen & {*far}) == ENOUGH - 2 and len(chosen & {*sets}) == 1
