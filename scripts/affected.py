# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests that concern what changed since main: `make affected`.

These are the tests that changed, the unit tests that call a changed function, the targets of the modules that
import a changed file, and the integration tests that name a changed role, playbook, guide or rulebook. Which
test calls what is in a record that `make affected RECORD=1` makes anew, in a quarter of an hour; tests that
were written since are run because they changed. It is no gate: `make test` is.

This module is also the pytest plugin that makes the record.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

from ansible_collections.hosted.services.scripts.architecture import (
    PLUGINS,
    ROOT,
    imports,
    module_name,
    sources,
)

RECORD = ROOT / ".build" / "calls.json"
PARTS = "HOSTED_RECORD_CALLS"
"""The environment variable with the folder where each process writes its part of the record."""
PLUGINS_PATH = "/hosted/services/plugins/"
HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@", re.M)
NAMED = re.compile(r"(?:roles|playbooks|rulebooks|guides|molecule)/(\w+)")
PLANS = "tests/unit/plugins/test_plans.py"
"""Runs the cases of tests/unit/data."""
WHOLE_FILE = ""
"""Stands for what is outside of any function."""


# --- What changed -----------------------------------------------------------------------------------------


def git(*arguments: str) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def changed_files(base: str) -> list[str]:
    """Return the files that differ from a commit, and those that git does not know yet."""
    told = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return sorted(set(told.splitlines()))


def changed_functions(path: str, base: str) -> set[str]:
    """Return the qualified names of the functions of a file in which a line differs."""
    if not (ROOT / path).is_file():
        return {WHOLE_FILE}
    spans = dict(functions(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
    found = set()
    for first, count in HUNK.findall(git("diff", "-U0", base, "--", path)):
        for line in range(int(first), int(first) + max(int(count or 1), 1)):
            inside = [name for name, span in spans.items() if line in span]
            found.add(max(inside, key=len, default=WHOLE_FILE))
    return found or {WHOLE_FILE}


def functions(node: ast.AST, above: str = "") -> Iterator[tuple[str, range]]:
    """Yield the qualified name of each function below a node, and its lines."""
    for child in ast.iter_child_nodes(node):
        name = above
        if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            name = f"{above}.{child.name}".lstrip(".")
            if not isinstance(child, ast.ClassDef):
                first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
                yield name, range(first, (child.end_lineno or first) + 1)
        yield from functions(child, name)


# --- What it concerns -------------------------------------------------------------------------------------


def concerned(files: list[str], base: str) -> list[str]:
    """Return the tests to run, as pytest takes them."""
    there = [path for path in files if (ROOT / path).is_file()]
    found = {path for path in there if re.search(r"^tests/(unit|integration)/(.*/)?test_\w+\.py$", path)}
    plugins = [path for path in files if path.startswith("plugins/") and path.endswith(".py")]
    for path in plugins:
        found.update(callers(path, changed_functions(path, base)))
    if any(path.startswith("tests/unit/data/") for path in files):
        found.add(PLANS)
    targets = targets_of({path for path in there if path in plugins})
    targets |= {path.split("/")[3] for path in files if path.startswith("tests/integration/targets/")}
    if any(path.startswith("tests/sandbox/") for path in files):
        targets.add("")
        found.add("tests/unit/sandbox")
    found.update(name for name in target_tests() if any(f"[{each}" in name for each in targets))
    found.update(mentions({name for path in files for name in NAMED.findall(path)}))
    files_alone = {name for name in found if "::" not in name}
    return sorted(name for name in found if name in files_alone or name.partition("::")[0] not in files_alone)


def callers(path: str, changed: set[str]) -> set[str]:
    """Return the unit tests that call functions of a file; of the whole file where that is not known."""
    if not RECORD.is_file():
        mirror = f"tests/unit/{Path(path).with_name('test_' + Path(path).name)}"
        return {each for each in (mirror, PLANS) if (ROOT / each).is_file()}
    tests, calls = json.loads(RECORD.read_text())
    known: dict[str, list[int]] = calls.get(path, {})
    every = [number for numbers in known.values() for number in numbers]
    numbers = {number for name in changed for number in known.get(name, every)}
    return {tests[number] for number in numbers if (ROOT / tests[number].partition("::")[0]).is_file()}


def targets_of(files: set[str]) -> set[str]:
    """Return the modules whose action, or what it imports, is among the files."""
    needs = {module_name(path): (path, set(imports(path))) for path in sources()}
    wanted = {module_name(ROOT / path) for path in files}
    found = set()
    for path in sorted((PLUGINS / "action").glob("*.py")):
        seen, rest = (
            set(),
            [module_name(path), f"{module_name(path).rpartition('.action.')[0]}.modules.{path.stem}"],
        )
        while rest:
            name = rest.pop()
            if name not in seen:
                seen.add(name)
                rest += needs[name][1] if name in needs else ()
        if seen & wanted:
            found.add(path.stem)
    return found


def target_tests() -> list[str]:
    """Return the tests of the targets, as pytest names them."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "tests/integration/test_targets.py"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [line for line in told.splitlines() if "::test_target[" in line]


def mentions(names: set[str]) -> set[str]:
    """Return the integration tests in whose name or text one of these names stands."""
    if not names:
        return set()
    word = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, sorted(names)))})(?![a-z])")
    tests = (ROOT / "tests" / "integration").rglob("test_*.py")
    found = (
        path for path in tests if word.search(path.stem) or word.search(path.read_text(encoding="utf-8"))
    )
    return {str(path.relative_to(ROOT)) for path in found}


# --- Which test calls what --------------------------------------------------------------------------------


def record() -> None:
    """Run all unit tests of the plugins and note what they call, those that fail included."""
    parts = RECORD.with_suffix(f".{os.getpid()}")
    parts.mkdir(parents=True)
    options = ["-q", "-n", "2", "--dist", "worksteal", "-p", __spec__.name, "tests/unit/plugins"]
    environment = {**os.environ, PARTS: str(parts)}
    subprocess.run([sys.executable, "-m", "pytest", *options], cwd=ROOT, env=environment, check=False)
    tests: dict[str, int] = {}
    calls: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for part in sorted(parts.iterdir()):
        for path, function, names in json.loads(part.read_text()):
            calls[path][function] += (tests.setdefault(name, len(tests)) for name in names)
        part.unlink()
    parts.rmdir()
    RECORD.write_text(json.dumps([[*tests], calls]))


class Recorder:
    """A pytest plugin that notes which functions of the plugins each test calls, in its fixtures too."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{os.getpid()}.json"
        self.called: set[tuple[str, str]] = set()
        self.callers: defaultdict[tuple[str, str], list[str]] = defaultdict(list)

    def watch(self, frame: FrameType, event: str, argument: object) -> None:
        """Note a call."""
        code = frame.f_code
        if event == "call" and PLUGINS_PATH in code.co_filename:
            name = re.sub(r"\.?<[^>]*>", "", code.co_qualname)
            self.called.add((f"plugins/{code.co_filename.rpartition(PLUGINS_PATH)[2]}", name))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch a test."""
        self.called.clear()
        sys.setprofile(self.watch)
        threading.setprofile(self.watch)
        try:
            result = yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        for call in self.called:
            self.callers[call].append(item.nodeid)
        return result

    def pytest_sessionfinish(self) -> None:
        """Write this process's part."""
        self.path.write_text(json.dumps([[*call, names] for call, names in self.callers.items()]))


def pytest_configure(config: pytest.Config) -> None:
    """Record where :func:`record` asks for it."""
    if folder := os.environ.get(PARTS):
        config.pluginmanager.register(Recorder(Path(folder)), "recorder of calls")


def main() -> int:
    """Run what is affected, or make the record."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", default="main", help="the commit to compare with (default: main)")
    parser.add_argument("--record", action="store_true", help="note anew which unit test calls what")
    parser.add_argument("--list", action="store_true", help="print the tests, and run none")
    options = parser.parse_args()
    if options.record:
        record()
        return 0
    base = git("merge-base", options.base, "HEAD").strip()
    tests = concerned(changed_files(base), base)
    print(f"{len(tests)} tests and files of tests are affected", flush=True)
    if options.list:
        print("\n".join(tests))
    if options.list or not tests:
        return 0
    if not RECORD.is_file():
        print("Unit tests are chosen by their file: make affected RECORD=1 notes which of them calls what")
    workers = ["-n", "2", "--dist", "worksteal"] if len(tests) > 8 else []
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *workers, *tests], cwd=ROOT, check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
