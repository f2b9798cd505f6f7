# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells which unit tests call a function of the plugins, wherever they are: each may notice a change in it.

A record of all unit tests is made once, which takes half an hour on two cores, and kept. Tests that were
written or renamed since are not in it. This module is also the pytest plugin that makes the record.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from ansible_collections.hosted.services.scripts.mutation_runs import ROOT, Call, watched_calls

RECORD = ROOT / ".build" / "calls.json"
PARTS = "HOSTED_RECORD_CALLS"
"""The environment variable with the folder where each process writes its part of the record."""
PLUGINS = "/hosted/services/plugins/"
ENOUGH = 200
"""How many of the callers of a function are tried, the nearest first."""


def callers_of(path: Path, functions: Iterable[str], but: tuple[str, ...] = ()) -> frozenset[str]:
    """Return the node ids of tests that call functions of a file, as Mutant names them.

    What is not inside of a function has the callers of all functions of the file.

    :param but: how the node ids of tests begin that are left out.
    """
    tests, calls = _record()
    known = calls.get(path.as_posix(), {})
    found: set[str] = set()
    for function in functions:
        numbers = known.get(function) or [number for numbers in known.values() for number in numbers]
        names = {tests[number] for number in numbers if not tests[number].startswith(but)}
        found.update(_nearest(names)[:ENOUGH])
    return frozenset(found)


def _nearest(names: Iterable[str]) -> list[str]:
    """Return tests in the order in which they are worth trying.

    What calls little else was probably written for the function, and is fast. One set of parameters of each
    test comes before any other set of theirs.
    """
    calls, sets = _calls(), Counter[str]()
    order: dict[str, tuple[int, int, str]] = {}
    for name in sorted(names, key=lambda name: (calls[name], name)):
        test = name.partition("[")[0]
        sets[test] += 1
        order[name] = (sets[test], calls[name], name)
    return sorted(order, key=order.__getitem__)


def record(workers: int) -> None:
    """Run all unit tests of the plugins and note what they call, those that fail included.

    :raises subprocess.CalledProcessError: if the tests cannot be run.
    """
    parts = RECORD.with_suffix(f".{os.getpid()}")
    parts.mkdir(parents=True)
    options = ["-q", "-n", str(workers), "--dist", "worksteal", "-p", __name__, "tests/unit/plugins"]
    environment = {**os.environ, PARTS: str(parts)}
    done = subprocess.run([sys.executable, "-m", "pytest", *options], cwd=ROOT, env=environment, check=False)
    if done.returncode > pytest.ExitCode.TESTS_FAILED:
        done.check_returncode()
    tests: dict[str, int] = {}
    calls: defaultdict[str, defaultdict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for part in sorted(parts.iterdir()):
        for path, functions in json.loads(part.read_text()).items():
            for function, names in functions.items():
                calls[path][function] += (tests.setdefault(name, len(tests)) for name in names)
        part.unlink()
    parts.rmdir()
    RECORD.write_text(json.dumps([[*tests], calls]))
    _record.cache_clear()
    _calls.cache_clear()


@cache
def _record() -> tuple[list[str], dict[str, dict[str, list[int]]]]:
    """Return the node ids of all tests, and the numbers of those that call each function of each file."""
    tests, calls = json.loads(RECORD.read_text())
    return tests, calls


@cache
def _calls() -> Counter[str]:
    """Return how many functions each test calls."""
    tests, calls = _record()
    return Counter(
        tests[number] for functions in calls.values() for numbers in functions.values() for number in numbers
    )


class _Recorder:
    """A pytest plugin that notes what each test calls."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{os.getpid()}.json"
        self.callers: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Note the calls of a test, its fixtures' included."""
        with watched_calls(PLUGINS) as take_called:
            result = yield
            for path, function in {_named(call) for call in take_called()}:
                self.callers[path][function].append(item.nodeid)
        return result

    def pytest_sessionfinish(self) -> None:
        """Write this process's part."""
        if self.callers:
            self.path.write_text(json.dumps(self.callers))


def _named(call: Call) -> tuple[str, str]:
    """Return the file of a call below the root, and the function's name without what Python adds to it."""
    path, (function, _line) = call
    return f"plugins/{path.rpartition(PLUGINS)[2]}", re.sub(r"\.?<[^>]*>", "", function)


def pytest_configure(config: pytest.Config) -> None:
    """Record where :func:`record` asks for it."""
    if folder := os.environ.get(PARTS):
        config.pluginmanager.register(_Recorder(Path(folder)), "recorder of calls")
