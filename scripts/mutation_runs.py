# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs unit tests on changed sources: the tests are collected once, and each change gets a fork.

A fork gives the functions of a loaded module the code of the changed source, which costs no import. A change
that is not inside of a function is written into a copy of the working tree and tested from the start, because
what was computed at import has seen it only then. So has a program that a test starts: the tests that start
one are run once more for each change that no fork noticed.
"""

from __future__ import annotations

import gc
import json
import multiprocessing.process
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import _lru_cache_wrapper, cache, partial
from inspect import CO_OPTIMIZED
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LINK = Path("ansible_collections/hosted/services")
COPIED = ("plugins", "tests")
SLOWER, LEAST_SECONDS = 5, 10.0
"""How much longer the tests of a change may take than those of none.

A fork that takes longer is tried from the start; a change that makes them hang there is noticed.
"""
START_SECONDS = 60.0
"""How long a run from the start may take longer than one in a fork."""
MISSED, NOTICED, UNCLEAR, FAILED_TO_START = 96, 97, 98, 99
"""How a fork ends: no test failed; one did; it has to be tried from the start; no test ran."""
STARTS_PROGRAM = frozenset({"subprocess.Popen", "os.exec", "os.posix_spawn", "os.spawn", "os.system"})
"""The audit events of programs, which import the working tree anew."""
PASSED = 0
"""How pytest ends if all tests pass."""


Place = tuple[str, int]
"""Where a function is in its file."""
Call = tuple[str, Place]
"""A function that was called, and its file."""


class TestsFailUnchanged(Exception):
    """The tests fail, or take too long, while nothing is changed. Holds their output."""


@dataclass(frozen=True)
class Changed:
    """A file below the root, its source, the sources it is changed to, and the tests that should notice."""

    path: Path
    source: bytes
    changes: Sequence[bytes]
    tests: Sequence[Path]
    only: frozenset[str] = frozenset()
    """The node ids of the tests in these files to run; all if it is empty."""


def unnoticed(changed: Changed, tree: Path) -> Iterator[int]:
    """Yield the numbers of the changes that no test notices, tried in a tree of :func:`new_tree`.

    :raises TestsFailUnchanged: if nothing can be concluded from the tests.
    """
    tried = _try_forks(changed, tree)
    for number, change in enumerate(changed.changes):
        outcome = tried.outcomes[number]
        tests = tried.programs if outcome == MISSED else changed.tests
        if outcome != NOTICED and _passes(changed, tree, change, tests, tried.seconds + START_SECONDS):
            yield number


def new_tree(folder: Path) -> Path:
    """Copy what is changed, and link what is not, into a folder that tests can run in."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for entry in ROOT.iterdir():
        if entry.name in COPIED:
            shutil.copytree(entry, folder / entry.name, ignore=shutil.ignore_patterns("__pycache__"))
        elif not entry.name.startswith("."):
            (folder / entry.name).symlink_to(entry)
    link = folder / ".build" / "dev" / LINK
    link.parent.mkdir(parents=True)
    link.symlink_to("../../../..")
    (folder / "home").mkdir()
    return folder


# --- Processes --------------------------------------------------------------------------------------------


def _fork(work: Callable[[], int]) -> int:
    """Run something in a process group of its own, whose exit status it returns; return the process id."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            multiprocessing.process._parent_process = None  # type: ignore[attr-defined]  # a fork has another
            os._exit(work())
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(FAILED_TO_START)
    return pid


def _exit_status(pid: int, seconds: float) -> int | None:
    """Return how a process ended; ``None`` if it had to be killed. What it left running is killed too."""
    until = time.monotonic() + seconds
    ended, status = 0, 0
    while not ended and time.monotonic() < until:
        ended, status = os.waitpid(pid, os.WNOHANG)
        time.sleep(0 if ended else 0.01)
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    if not ended:
        os.waitpid(pid, 0)
        return None
    return os.waitstatus_to_exitcode(status)


def _run_pytest(tree: Path, tests: Sequence[Path | str], plugins: Sequence[object] = ()) -> int:
    """Run tests of a tree in this process, which ends afterwards."""
    os.chdir(tree)
    log = os.open(tree / "log", os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    paths = [str(tree / ".build" / "dev"), str(tree / "tests"), str(tree / "tests" / "sandbox")]
    sys.path[:] = [*paths, *(path for path in sys.path if not path.startswith(str(ROOT / "")))] + [
        path for path in sys.path if path.startswith(str(ROOT / ".venv"))
    ]
    for name in [name for name in sys.modules if name.startswith("ansible_collections")]:
        del sys.modules[name]
    os.environ.update(PYTHONPATH=os.pathsep.join(paths), ANSIBLE_COLLECTIONS_PATH=paths[0])
    _move_home(tree / "home")
    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(tree)]
    return int(pytest.main([*options, *map(str, tests)], plugins=plugins))


def _move_home(homes: Path) -> None:
    """Give this process a home of its own: what one that was killed left there is no news of a change."""
    os.environ["HOME"] = tempfile.mkdtemp(dir=homes)


# --- Collected once ---------------------------------------------------------------------------------------


@dataclass
class _Tried:
    """What the forks of a file told, as JSON."""

    seconds: float
    """How long the tests of a change may take."""
    programs: list[str]
    """The tests that start a program."""
    outcomes: list[int]
    """MISSED, NOTICED or UNCLEAR for each change."""


def _try_forks(changed: Changed, tree: Path) -> _Tried:
    """Try all changes in forks.

    :raises TestsFailUnchanged: if the tests fail while nothing is changed.
    """
    results, sink = os.pipe()
    pid = _fork(lambda: _run_pytest(tree, changed.tests, [_Only(changed.only), _Forks(changed, sink)]))
    os.close(sink)
    with os.fdopen(results) as pipe:
        told = pipe.read()
    os.waitpid(pid, 0)
    if not told:
        raise TestsFailUnchanged((tree / "log").read_text())
    return _Tried(**json.loads(told))


class _Only:
    """A pytest plugin that leaves out the tests that are not to be run."""

    def __init__(self, names: frozenset[str]) -> None:
        self.names = names

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave them out."""
        if self.names:
            items[:] = [item for item in items if item.nodeid in self.names]


class _RunsAtImport(Exception):
    """A change concerns what ran when its module was imported."""


class _Forks:
    """A pytest plugin that runs the collected tests once, and for each change those that reach it, in a fork.

    If the tests pass unchanged it writes what _Tried holds. What the tests of a session share, such as a
    sandbox, is started by the first run and used by all.
    """

    def __init__(self, changed: Changed, sink: int) -> None:
        self.changed = changed
        self.sink = sink
        self.loaded: dict[Place, list[FunctionType]] = {}
        self.caches: list[_lru_cache_wrapper[Any]] = []
        self.callers: dict[Place, list[pytest.Item]] = {}
        """The tests that call each function of the file."""
        self.programs: list[str] = []
        """The tests that start a program."""

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests unchanged, and then in forks."""
        begun = time.monotonic()
        self.run_unchanged(session)
        if session.testsfailed or not session.items:
            return True
        seconds = SLOWER * (time.monotonic() - begun) + LEAST_SECONDS
        session.config.option.tbstyle = "no"  # a report of what failed takes longer than the tests
        self.loaded, self.caches = _functions_of(self.changed.path), _caches_of(os.getcwd())
        gc.freeze()  # a collection in a fork would copy the pages of what is shared
        outcomes = []
        for change in self.changed.changes:
            status = _exit_status(_fork(partial(self.run_patched, session, change)), seconds)
            outcomes.append(status if status in (MISSED, NOTICED) else UNCLEAR)
        with os.fdopen(self.sink, "w") as pipe:
            json.dump(asdict(_Tried(seconds, self.programs, outcomes)), pipe)
        return True

    def run_unchanged(self, session: pytest.Session) -> None:
        """Run all tests, and note what each of them calls and starts."""
        started: set[str] = set()
        sys.addaudithook(lambda event, _arguments: started.add(event) if event in STARTS_PROGRAM else None)
        with watched_calls(str(self.changed.path)) as take_called:
            for item in _run(session, session.items):
                for _path, place in take_called():
                    self.callers.setdefault(place, []).append(item)
                if started:
                    self.programs.append(item.nodeid)
                started.clear()

    def run_patched(self, session: pytest.Session, change: bytes) -> int:
        """Run the tests with a change in this process, which ends afterwards."""
        name = str(self.changed.path)
        _move_home(Path(os.environ["HOME"]).parent)
        try:
            pairs = list(_changed_code(_compiled(self.changed.source, name), _compiled(change, name)))
        except _RunsAtImport:
            return UNCLEAR
        callers: dict[pytest.Item, None] = {}  # in their order
        for before, after in pairs:
            for function in self.loaded.get(_place(before), ()):
                function.__code__ = after
            callers.update(dict.fromkeys(self.callers.get(_place(before), ())))
        for each in self.caches:  # they know what was returned while nothing was changed
            each.cache_clear()
        for _item in _run(session, [*callers]):
            pass
        return NOTICED if session.testsfailed else MISSED


def _run(session: pytest.Session, items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield each test once it was run, until one fails. What the first of all shares is left standing."""
    for item, following in zip(items, [*items[1:], *session.items[:1]], strict=False):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        yield item
        if session.testsfailed:
            break


@contextmanager
def watched_calls(part: str) -> Iterator[Callable[[], set[Call]]]:
    """Yield what returns the functions that were called since it did so before.

    :param part: what the path of their file contains.
    """
    called: set[Call] = set()
    belongs = cache(lambda filename: part in filename)

    def watch(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and belongs(frame.f_code.co_filename):
            called.add((frame.f_code.co_filename, _place(frame.f_code)))

    def take() -> set[Call]:
        sys.setprofile(watch)  # Python drops one that ran into a RecursionError
        found = set(called)
        called.clear()
        return found

    sys.setprofile(watch)
    threading.setprofile(watch)
    try:
        yield take
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def _compiled(source: bytes, name: str) -> CodeType:
    """Return the code of a source."""
    return compile(source, name, "exec", dont_inherit=True)


def _changed_code(before: CodeType, after: CodeType) -> Iterator[tuple[CodeType, CodeType]]:
    """Yield the code of the functions that differ.

    :raises _RunsAtImport: if more differs than functions that are there before and after.
    """
    nested = [[each for each in code.co_consts if isinstance(each, CodeType)] for code in (before, after)]
    if not before.co_flags & CO_OPTIMIZED:  # a module, or the body of a class
        if _own_part(before) != _own_part(after):
            raise _RunsAtImport
    elif before != after:
        if before.co_freevars != after.co_freevars:
            raise _RunsAtImport
        yield before, after
    for inner in zip(*nested, strict=False):  # a function inside of another one may be gone
        yield from _changed_code(*inner)


def _own_part(code: CodeType) -> tuple[object, ...]:
    """Return what a module or the body of a class does itself, without its functions."""
    constants = [each for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, code.co_names, [(type(each), each) for each in constants]


def _functions_of(path: Path) -> dict[Place, list[FunctionType]]:
    """Return the loaded functions of a file, whatever wraps them."""
    found: dict[Place, list[FunctionType]] = {}
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename.endswith(str(path)):
            found.setdefault(_place(each.__code__), []).append(each)
    return found


def _caches_of(tree: str) -> list[_lru_cache_wrapper[Any]]:
    """Return the functions in a tree that remember what they returned."""
    caches = [each for each in gc.get_objects() if isinstance(each, _lru_cache_wrapper)]
    functions = [each for each in caches if isinstance(each.__wrapped__, FunctionType)]
    return [each for each in functions if each.__wrapped__.__code__.co_filename.startswith(tree)]


def _place(code: CodeType) -> Place:
    """Return the qualified name of a function, and its first line: methods of a property have one name."""
    return code.co_qualname, code.co_firstlineno


# --- From the start ---------------------------------------------------------------------------------------


def _passes(changed: Changed, tree: Path, change: bytes, tests: Sequence[Path | str], seconds: float) -> bool:
    """Whether these tests pass with a change that is in the tree before anything is imported."""
    if not tests:
        return True
    target = tree / changed.path
    _write(target, change)
    try:
        status = _exit_status(_fork(lambda: _run_pytest(tree, tests, [_Only(changed.only)])), seconds)
    finally:
        _write(target, changed.source)
    return status == PASSED  # they ran unchanged before, so where none runs the change is why


def _write(path: Path, content: bytes) -> None:
    """Replace a source; what Python compiled from it may look as new and goes as well."""
    path.write_bytes(content)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()
