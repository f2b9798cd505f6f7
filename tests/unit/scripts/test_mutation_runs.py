# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a change that tests should notice is noticed, wherever in a source it is made."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SOURCE = """
import contextlib
import functools

LIMIT = 3


def double(number):
    return number * 2


@functools.cache
def outer(number):
    def inner():
        return number + LIMIT
    return inner()


class Shape:
    SIDES = 4

    def __init__(self, size):
        self.size = size

    @property
    def area(self):
        return self.size * self.size

    @contextlib.contextmanager
    def bigger(self):
        self.size += 1
        yield
        self.size -= 1
"""
TESTS = """
from shapes import Shape, double, outer


def test_functions():
    assert double(2) == 4
    assert outer(1) == 4


def test_shape():
    shape = Shape(3)
    assert shape.area == 9
    with shape.bigger():
        assert shape.size == 4
"""
IN_A_PROGRAM = """
import subprocess, sys
from pathlib import Path
from shapes import double


def test_here():
    assert double(2)


def test_elsewhere():
    program = "import shapes; print(shapes.double(2))"
    here = Path(__file__).parent
    assert subprocess.run([sys.executable, "-c", program], cwd=here, capture_output=True).stdout == b"4\\n"
"""
TOO_DEEP = """
import json
import pytest
from shapes import double


def test_what_is_nested_too_deeply():
    with pytest.raises(RecursionError):
        json.loads("[" * 100_000)

    def down():
        down()

    with pytest.raises(RecursionError):
        down()


def test_after_that():
    assert double(2) == 4
"""
LEFTOVERS = """
from pathlib import Path
from shapes import double


def test_a_home_of_its_own():
    assert double(2)
    assert not list(Path.home().iterdir())
    (Path.home() / "left").touch()
"""
PROGRAM = """
import json, sys
from pathlib import Path
from ansible_collections.hosted.services.scripts.mutation_runs import Changed, unnoticed
tree, *only = Path(sys.argv[1]), *sys.argv[2:]
changes = [change.encode() for change in json.load(sys.stdin)]
source = Path("tests/shapes.py")
tests = [Path("tests/test_shapes.py")]
changed = Changed(source, (tree / source).read_bytes(), changes, tests, frozenset(only))
print(list(unnoticed(changed, tree)))
"""


def run(
    tree: Path, *changes: tuple[str, str], tests: str = TESTS, only: str = ""
) -> subprocess.CompletedProcess[str]:
    """Try changes of SOURCE in a tree of its own."""
    (tree / "tests").mkdir()
    (tree / "tests" / "shapes.py").write_text(SOURCE)
    (tree / "tests" / "test_shapes.py").write_text(tests)
    sources = [SOURCE.replace(before, after) for before, after in changes]
    assert SOURCE not in sources
    (tree / "home").mkdir()
    command = [sys.executable, "-c", PROGRAM, str(tree), *only.split()]
    return subprocess.run(command, input=json.dumps(sources), capture_output=True, text=True, check=False)


def test_what_no_test_asserts_is_named_and_everything_else_is_noticed(tmp_path: Path) -> None:
    changes = {
        "in a function": ("number * 2", "number * 3"),
        "in a function inside of another": ("number + LIMIT", "number - LIMIT"),
        "in a property": ("self.size * self.size", "self.size + self.size"),
        "in a context manager": ("self.size += 1", "pass"),
        "at import": ("LIMIT = 3", "LIMIT = 4"),
        "no import": ("LIMIT = 3", "LIMIT = 3 - 'text'"),
        "a function less": ("return inner()", "return None"),
        "the end of a test": ("return number * 2", "import sys; sys.exit(0)"),
        "not seen: a constant": ("SIDES = 4", "SIDES = 5"),
        "not seen: after the test": ("self.size -= 1", "self.size = 0"),
    }
    ended = run(tmp_path, *changes.values())
    assert ended.stdout, ended.stderr
    named = [name for number, name in enumerate(changes) if number in json.loads(ended.stdout)]
    assert named == [name for name in changes if name.startswith("not seen")]
    assert (tmp_path / "tests" / "shapes.py").read_text() == SOURCE


def test_of_a_file_with_many_tests_some_can_be_run(tmp_path: Path) -> None:
    """Whether a change is tried in a fork or, because it is made at import, from the start."""
    changes = [("number * 2", "number * 3"), ("LIMIT = 3", "LIMIT = 4"), ("self.size += 1", "pass")]
    done = run(tmp_path, *changes, only="tests/test_shapes.py::test_shape")
    assert json.loads(done.stdout) == [0, 1], done.stderr


def test_what_only_a_program_sees_is_noticed(tmp_path: Path) -> None:
    """It imports the working tree, where no fork has changed anything."""
    done = run(tmp_path, ("number * 2", "number * 3"), ("self.size += 1", "pass"), tests=IN_A_PROGRAM)
    assert json.loads(done.stdout) == [1], done.stderr


def test_what_follows_a_recursion_without_an_end_is_seen(tmp_path: Path) -> None:
    """Python then drops what watches the calls."""
    done = run(tmp_path, ("number * 2", "number * 3"), tests=TOO_DEEP)
    assert json.loads(done.stdout) == [], done.stderr


def test_tests_that_fail_by_themselves_conclude_nothing(tmp_path: Path) -> None:
    ended = run(tmp_path, ("number * 2", "number * 3"), tests=TESTS.replace("== 9", "== 8"))
    assert ended.returncode != 0
    assert "TestsFailUnchanged" in ended.stderr and "assert 9 == 8" in ended.stderr


def test_what_a_run_leaves_at_home_is_no_news_to_the_next(tmp_path: Path) -> None:
    done = run(tmp_path, ("number * 2", "number * 3"), ("number * 2", "number * 4"), tests=LEFTOVERS)
    assert json.loads(done.stdout) == [0, 1], done.stderr
