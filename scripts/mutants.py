# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the plugins in one place at a time, and see whether a unit test notices.

`make mutants SAMPLE=100 SEED=1 ONLY=services/order` draws a sample of the changes in scripts/mutation.py. For
each the unit tests of the changed file run until one fails: those that mirror the file, then those of the
folder. The run fails when under nine in ten of the changes are noticed, or when one is not that is in a file
of DECISIVE.

mutmut and cosmic-ray do not fit: the former knows a module by its path in the working tree and not by
`ansible_collections.hosted.services`, the latter changes the working tree itself and runs one command for
every file.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import shutil
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from ansible_collections.hosted.services.scripts.mutation import Mutant, mutants_of

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = ROOT / "plugins"
TREES = ROOT / ".build" / "mutants" / str(os.getpid())  # several may run at a time
LINK = Path("ansible_collections/hosted/services")
COPIED = ("plugins", "tests")
ENOUGH = 0.9
PATIENCE = 240.0
"""How many seconds the tests of one file may take before the change counts as one that hangs."""
PASSED, NOT_RUN = 0, (4, 5, 99)
"""How pytest ends when no test failed, and when it never came to a test."""

# What tests need from elsewhere, imported once and inherited by every run. Not what pytest has to rewrite.
LIBRARIES = (
    "ansible.module_utils.basic",
    "ansible.plugins.action",
    "asyncssh",
    "pydantic",
    "pytest",
    "requests",
)

# Where it is decided what is ordered, paid, deleted, selected or shown: every change has to be noticed here.
DECISIVE = (
    "module_utils/_ansible/execution.py::hidden_options",
    "module_utils/_ansible/execution.py::map_strings",
    "module_utils/_ansible/execution.py::secrets_of",
    "module_utils/_ansible/execution.py::shown_options",
    "module_utils/_ansible/execution.py::string_values",
    "module_utils/_ansible/execution.py::without_secrets",
    "module_utils/_api/http_transport.py::is_connection_failure",
    "module_utils/_api/http_transport.py::tls_refusal",
    "module_utils/_api/http_transport.py::translate",
    "module_utils/_api/registry_session.py",
    "module_utils/_api/text.py",
    "module_utils/_resources/applications/environment_rules.py",
    "module_utils/_resources/services/lookup.py",
    "module_utils/_resources/services/many_services.py",
    "module_utils/_resources/services/namesakes.py",
    "module_utils/_resources/services/order.py",
    "module_utils/_resources/services/rates.py",
    "module_utils/_resources/services/removal.py",
    "module_utils/_resources/services/selection.py",
    "module_utils/_resources/services/settings.py",
    "module_utils/_resources/services/target.py",
    "module_utils/_resources/shared/money.py",
    "module_utils/_resources/shared/retention.py",
    "module_utils/_resources/shared/secret_notes.py",
    "module_utils/_resources/shared/secrets_file.py",
    "module_utils/_resources/shared/selectors.py",
)

# Changes that change nothing that anybody could see: they are not drawn.
SHARED = "module_utils/_resources/shared/"
SERVICES = "module_utils/_resources/services/"
EQUIVALENT = {
    f"{SHARED}controller_state.py state_key: 16 -> (17)": "a key of any such length is as good",
    f"{SHARED}retention.py moment_of: decision.copy.created_at or datetime.min.replace(tzinfo=UTC)"
    " -> ((decision.copy.created_at))": "only copies with a date are asked",
    f"{SHARED}secrets_file.py : 30.0 -> (31.0)": "a second more",
    f"{SHARED}secrets_file.py : 64 -> (65)": "a little more room than far more than enough",
    f"{SHARED}secrets_file.py : 1024 -> (1025)": "a little more room than far more than enough",
    f"{SHARED}secrets_file.py check_writable: file.flush() -> pass": "a block of this size is not buffered",
    "module_utils/_api/text.py : 1000 -> (1001)": "a character of very many",
    "module_utils/_api/text.py : 20_000 -> (20001)": "a character of very many",
    "module_utils/_api/registry_session.py RegistrySession.check_address: "
    'parts.hostname or "" -> ((parts.hostname))': "no host is not this machine either way",
    f"{SERVICES}order.py Ordering._await_lost_order: left > 0 -> ((left) >= (0))": "no clock stands still",
    f"{SERVICES}order.py Ordering._await_lost_order: 0 -> (1)": "a second of a minute",
    f"{SERVICES}target.py find_id_by_name: target.destination is None or target.project is None -> "
    "((target.destination is None))": "a name that is found everywhere is found at the destination",
}
"""The reasons, by file, function and change."""


@dataclass(frozen=True)
class Subject:
    """A change of a file of the plugins."""

    path: Path
    source: bytes
    mutant: Mutant
    mirror_only: bool = False

    @property
    def name(self) -> str:
        """The file below plugins/, as DECISIVE spells it."""
        return self.path.relative_to(PLUGINS).as_posix()

    @property
    def key(self) -> str:
        """The change, as EQUIVALENT spells it."""
        return f"{self.name} {self.mutant.function}: {self.mutant.change}"

    @property
    def decisive(self) -> bool:
        """Whether this change has to be noticed."""
        return any(
            self.name == name and (not function or function in self.mutant.function.split("."))
            for name, _colons, function in (entry.partition("::") for entry in DECISIVE)
        )

    def __str__(self) -> str:
        return f"plugins/{self.name}:{self.mutant.line} {self.mutant.function}: {self.mutant.change}"


@dataclass
class Run:
    """The tests of one change, in a process of their own."""

    subject: Subject
    tree: Path
    pid: int
    started: float = field(default_factory=time.monotonic)


# --- What to change ---------------------------------------------------------------------------------------


def sources(only: str) -> list[Path]:
    """Return the files with something in their path, or those of DECISIVE."""
    files = sorted(path for path in PLUGINS.rglob("*.py") if "modules" not in path.parts)
    if only == "decisive":
        named = {entry.partition("::")[0] for entry in DECISIVE}
        return [path for path in files if path.relative_to(PLUGINS).as_posix() in named]
    return [path for path in files if any(part in str(path) for part in only.split(","))]


def drawn(only: str, sample: int, seed: int, mirror_only: bool = False) -> list[Subject]:
    """Return the changes to try: a sample of those that can be made to files with tests."""
    found = [
        Subject(path, source, mutant, mirror_only)
        for path in sources(only)
        if tests_of(path, ROOT, mirror_only)
        for source in [path.read_bytes()]
        for mutant in mutants_of(source)
    ]
    found = [subject for subject in found if subject.key not in EQUIVALENT]
    if only == "decisive":
        found = [subject for subject in found if subject.decisive]
    return random.Random(seed).sample(found, min(sample or len(found), len(found)))  # noqa: S311  no secret


def tests_of(path: Path, tree: Path, mirror_only: bool = False) -> list[str]:
    """Return the tests that belong to a file: those named after it, then those of its folder."""
    folder = tree / "tests" / "unit" / path.relative_to(ROOT).parent
    first = sorted([*folder.glob(f"test_{path.stem}.py"), *folder.glob(f"test_{path.stem}_*.py")])
    rest = [] if mirror_only else sorted(set(folder.glob("test_*.py")) - set(first))
    return [str(file) for file in (*first, *rest)]


# --- Try it -----------------------------------------------------------------------------------------------


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


def write(path: Path, content: bytes) -> None:
    """Replace a source; what Python compiled from it may look as new and goes as well."""
    path.write_bytes(content)
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()


def start(subject: Subject, tree: Path, changed: bool = True) -> Run:
    """Change a file of a tree and run its tests there."""
    target = tree / subject.path.relative_to(ROOT)
    write(target, subject.mutant.apply(subject.source) if changed else subject.source)
    pid = os.fork()
    if pid == 0:
        try:
            os._exit(_tests(tree, tests_of(subject.path, tree, subject.mirror_only)))
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(99)
    return Run(subject, tree, pid)


def _tests(tree: Path, files: Sequence[str]) -> int:
    """Run tests in this process, which ends afterwards."""
    os.setsid()
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
    os.environ.update(
        PYTHONPATH=os.pathsep.join(paths), ANSIBLE_COLLECTIONS_PATH=paths[0], HOME=str(tree / "home")
    )
    import pytest  # noqa: PLC0415  imported by the process that this one was forked from

    options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", str(tree)]
    return int(pytest.main([*options, *files]))


def finished(runs: list[Run]) -> Iterator[tuple[Run, bool]]:
    """Yield the runs that ended, and whether a test failed; one that takes too long is ended."""
    for run in list(runs):
        pid, status = os.waitpid(run.pid, os.WNOHANG)
        late = time.monotonic() - run.started > PATIENCE
        if not pid and not late:
            continue
        with suppress(ProcessLookupError):
            os.killpg(run.pid, signal.SIGKILL)
        if not pid:
            os.waitpid(run.pid, 0)
            status = 1
        write(run.tree / run.subject.path.relative_to(ROOT), run.subject.source)
        runs.remove(run)
        if os.waitstatus_to_exitcode(status) in NOT_RUN:
            raise RuntimeError(f"no test ran for {run.subject}:\n{(run.tree / 'log').read_text()}")
        yield run, status != PASSED


def tried(subjects: list[Subject], trees: Sequence[Path]) -> Iterator[tuple[Subject, bool]]:
    """Yield each change and whether it was noticed, as they end."""
    free = list(trees)
    waiting = list(reversed(subjects))
    runs: list[Run] = []
    while waiting or runs:
        while waiting and free:
            runs.append(start(waiting.pop(), free.pop()))
        for run, noticed in finished(runs):
            free.append(run.tree)
            yield run.subject, noticed
        time.sleep(0.02)


def passing(subjects: list[Subject], tree: Path) -> bool:
    """Whether the tests pass while nothing is changed; without that nothing could be concluded."""
    for subject in {one.path if one.mirror_only else one.path.parent: one for one in subjects}.values():
        runs = [start(subject, tree, changed=False)]
        while not (ended := list(finished(runs))):
            time.sleep(0.02)
        if ended[0][1]:
            print((tree / "log").read_text())
            print(f"The tests of {subject.name} fail, or take over {PATIENCE:.0f} s: see --mirror-only.")
            return False
    return True


# --- Report -----------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """Try a sample, and say what no test noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=100, help="how many changes; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="parts of paths, joined by commas; or: decisive")
    parser.add_argument("--workers", type=int, choices=(1, 2), default=2)
    parser.add_argument("--mirror-only", action="store_true", help="leave out the tests of the folder: fast")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a change first")
    options = parser.parse_args(arguments)
    os.nice(10)
    for library in LIBRARIES:
        importlib.import_module(library)
    subjects = drawn(options.only, options.sample, options.seed, options.mirror_only)
    if not subjects:
        print(f"There is nothing to change in files with {options.only!r} in their path.")
        return 2
    try:  # copied at once, so that one may go on to work on what is copied
        trees = [new_tree(TREES / str(number)) for number in range(options.workers)]
        if not options.trust and not passing(subjects, trees[0]):
            return 2
        return report(tried(subjects, trees))
    finally:
        shutil.rmtree(TREES, ignore_errors=True)


def report(results: Iterator[tuple[Subject, bool]]) -> int:
    """Name what survives as it is found, then count by folder."""
    total: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    missed = False
    for subject, noticed in results:
        folder = subject.name.rpartition("/")[0]
        total[folder] += 1
        caught[folder] += noticed
        if not noticed:
            missed = missed or subject.decisive
            print(f"{'MISSED' if subject.decisive else 'missed'} {subject}", flush=True)
    for folder in sorted(total):
        print(f"{caught[folder]:5} of {total[folder]:5} noticed in plugins/{folder}")
    share = caught.total() / total.total()
    print(f"{caught.total():5} of {total.total():5} noticed, {share:.1%}")
    if missed:
        print(
            "Every change of a file where orders, money, deletions, selections or secrets are decided has to"
        )
        print("be noticed; the survivors in capitals were not.")
    return int(missed or share < ENOUGH)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
