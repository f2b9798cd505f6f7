# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Change the plugins in one place at a time, and see whether a unit test notices.

`make mutants SAMPLE=100 SEED=1 ONLY=services/order` draws a sample of the changes in scripts/mutation.py. For
each the unit tests run until one fails: those that mirror the changed file, then those elsewhere that call
the function (scripts/mutation_callers.py). The run fails when under nine in ten of the changes are noticed,
or when one is not that is in a file of DECISIVE.

mutmut and cosmic-ray do not fit: the former knows a module by its path in the working tree and not by
`ansible_collections.hosted.services`, the latter changes the working tree itself and runs one command for
every file.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import re
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from ansible_collections.hosted.services.scripts.mutation import Mutant, mutants_of
from ansible_collections.hosted.services.scripts.mutation_callers import RECORD, callers_of, record
from ansible_collections.hosted.services.scripts.mutation_runs import (
    ROOT,
    Changed,
    TestsFailUnchanged,
    new_tree,
    unnoticed,
)

PLUGINS = ROOT / "plugins"
TREES = ROOT / ".build" / "mutants" / str(os.getpid())  # several may run at a time
ENOUGH = 0.9

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
    "module_utils/_resources/blueprints/members.py",
    "module_utils/_resources/blueprints/removal.py",
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

TESTED_ELSEWHERE = {
    "module_utils/_api/values.py": "constants alone",
    "module_utils/_resources/account_events/observation.py": "test_changes.py",
    "module_utils/_resources/account_events/poll.py": "test_changes.py, test_of_services.py",
    "module_utils/_resources/applications/lookup.py": "test_app.py, test_app_info.py",
    "module_utils/_resources/applications/repository.py": "test_app_image.py, test_app_release.py",
    "module_utils/_resources/applications/rollout.py": "test_app_deploy.py",
    "module_utils/_resources/restore_points/resources.py": "test_backup.py, test_backup_info.py",
    "module_utils/_resources/shared/task_errors.py": "classes without code",
    "module_utils/_sftp/server_features.py": "test_sftp_sync.py, with several servers",
    "module_utils/_sftp/errors.py": "classes without code",
    "module_utils/_sftp/library.py": "an import alone",
    "module_utils/_sftp/session.py": "test_sftp_sync.py, with several servers",
    "module_utils/_sftp/shown_key.py": "test_sftp_host_key.py",
    "plugin_utils/_events/drift.py": "tests/integration/test_event_source.py",
    "plugin_utils/_templating/lookups.py": "tests/integration/test_lookups.py",
}
"""Helpers without a test named after them, and what tests them."""

# Changes that change nothing that anybody could see: they are not drawn.
SHARED = "module_utils/_resources/shared/"
SERVICES = "module_utils/_resources/services/"
EQUIVALENT = {
    f"{SHARED}controller_state.py state_key: 16 -> (17)": "a key of any such length is as good",
    f"{SHARED}retention.py moment_of: decision.copy.created_at or datetime.min.replace(tzinfo=UTC)"
    " -> ((decision.copy.created_at))": "only copies with a date are asked",
    f"{SHARED}secrets_file.py : 30.0 -> (31.0)": "a second more",
    "module_utils/_api/text.py : 1000 -> (1001)": "a character of very many",
    "module_utils/_api/text.py : 20_000 -> (20001)": "a character of very many",
    "module_utils/_resources/applications/records.py : 200 -> (201)": "a release of very many",
    "module_utils/_api/registry_session.py RegistrySession.check_address: "
    'parts.hostname or "" -> ((parts.hostname))': "no host is not this machine either way",
    "module_utils/_resources/reports/verdicts.py releases_of: facts.apps or () -> ((facts.apps))": (
        "only applications that could be read are asked for"
    ),
    "module_utils/_sftp/count.py Count: False -> (True)": "nobody passes what the class counts itself",
    f"{SERVICES}commitments.py account_of: 16 -> (17)": "a key of any such length is as good",
    f"{SERVICES}commitments.py run_id: 16 -> (17)": "a key of any such length is as good",
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
        if tests_of(path) or (not mirror_only and any(folder_of_tests(path).glob("test_*.py")))
        for source in [path.read_bytes()]
        for mutant in mutants_of(source)
    ]
    found = [subject for subject in found if subject.key not in EQUIVALENT]
    if only == "decisive":
        found = [subject for subject in found if subject.decisive]
    return random.Random(seed).sample(found, min(sample or len(found), len(found)))  # noqa: S311  no secret


def tests_of(path: Path) -> list[Path]:
    """Return the tests that are named after a file, or that TESTED_ELSEWHERE names for it."""
    elsewhere = re.findall(r"test_\w+\.py", TESTED_ELSEWHERE.get(path.relative_to(PLUGINS).as_posix(), ""))
    folder = folder_of_tests(path)
    return sorted(
        [
            *folder.glob(f"test_{path.stem}.py"),
            *folder.glob(f"test_{path.stem}_*.py"),
            *(found for name in elsewhere for found in (ROOT / "tests" / "unit").rglob(name)),
        ]
    )


def folder_of_tests(path: Path) -> Path:
    """Return the folder that mirrors that of a file."""
    return ROOT / "tests" / "unit" / path.relative_to(ROOT).parent


# --- Try it -----------------------------------------------------------------------------------------------


def try_file(subjects: Sequence[Subject]) -> list[tuple[Subject, bool]]:
    """Return the changes of one file, and whether each was noticed."""
    first = subjects[0]
    tree = TREES / str(os.getpid())
    if not tree.exists():
        new_tree(tree)
    missed = missed_by(subjects, tests_of(first.path), tree)
    if not first.mirror_only:
        missed = missed_by_callers(missed, tree)
    return [(subject, subject not in missed) for subject in subjects]


def missed_by(
    subjects: Sequence[Subject], tests: Sequence[Path], tree: Path, names: frozenset[str] = frozenset()
) -> list[Subject]:
    """Return the changes of one file that tests do not notice.

    :param names: the node ids of the tests to run; all of those files if there is none.
    """
    if not (subjects and tests):
        return list(subjects)
    first = subjects[0]
    changes = [subject.mutant.apply(subject.source) for subject in subjects]
    files = [test.relative_to(ROOT) for test in tests]
    changed = Changed(first.path.relative_to(ROOT), first.source, changes, files, names)
    return [subjects[number] for number in unnoticed(changed, tree)]


def missed_by_callers(subjects: Sequence[Subject], tree: Path) -> list[Subject]:
    """Return the changes of one file that the tests elsewhere that call their functions do not notice.

    If those fail while nothing is changed, for example for lack of time, no change counts as noticed.
    """
    if not subjects:
        return []
    first = subjects[0]
    known = tuple(f"{test.relative_to(ROOT)}::" for test in tests_of(first.path))
    functions = {subject.mutant.function for subject in subjects}
    names = callers_of(first.path.relative_to(ROOT), functions, but=known)
    files = {ROOT / name.partition("::")[0] for name in names}
    tests = sorted(file for file in files if file.exists())
    try:
        return missed_by(subjects, tests, tree, names)
    except TestsFailUnchanged as failure:
        print(f"The tests elsewhere that call {first.name} tell nothing: {failure}", flush=True)
        return list(subjects)


def tried(subjects: Sequence[Subject], workers: int) -> Iterator[tuple[Subject, bool | None]]:
    """Yield each change and whether it was noticed, file by file, as they end.

    It is ``None`` for a file whose tests fail while nothing is changed; what they printed is shown.
    """
    files: dict[Path, list[Subject]] = {}
    for subject in subjects:
        files.setdefault(subject.path, []).append(subject)
    with ProcessPoolExecutor(workers, get_context("fork")) as pool:
        futures = {pool.submit(try_file, each): each for each in files.values()}
        for number, future in enumerate(as_completed(futures), 1):
            try:
                yield from future.result()
            except TestsFailUnchanged as failure:
                print(failure, flush=True)
                yield from ((subject, None) for subject in futures[future])
            print(f"{number} of {len(files)} files", file=sys.stderr, flush=True)


# --- Report -----------------------------------------------------------------------------------------------


def main(arguments: Sequence[str]) -> int:
    """Try a sample, and say what no test noticed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sample", type=int, default=100, help="how many changes; 0 for all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="parts of paths, joined by commas; or: decisive")
    parser.add_argument("--workers", type=int, choices=(1, 2), default=2)
    parser.add_argument("--mirror-only", action="store_true", help="leave out all tests but the file's: fast")
    parser.add_argument("--record", action="store_true", help="record again which tests call what")
    options = parser.parse_args(arguments)
    os.nice(10)
    for library in LIBRARIES:
        importlib.import_module(library)
    subjects = drawn(options.only, options.sample, options.seed, options.mirror_only)
    if not subjects:
        print(f"There is nothing to change in files with {options.only!r} in their path.")
        return 2
    if options.record or not (options.mirror_only or RECORD.exists()):
        record(options.workers)
    try:
        return report(tried(subjects, options.workers))
    finally:
        shutil.rmtree(TREES, ignore_errors=True)


def report(results: Iterator[tuple[Subject, bool | None]]) -> int:
    """Name what survives as it is found, then count by folder."""
    total: Counter[str] = Counter()
    caught: Counter[str] = Counter()
    missed, unknown = False, 0
    for subject, noticed in results:
        if noticed is None:
            unknown += 1
            continue
        folder = subject.name.rpartition("/")[0]
        total[folder] += 1
        caught[folder] += noticed
        if not noticed:
            missed = missed or subject.decisive
            print(f"{'MISSED' if subject.decisive else 'missed'} {subject}", flush=True)
    for folder in sorted(total):
        print(f"{caught[folder]:5} of {total[folder]:5} noticed in plugins/{folder}")
    share = caught.total() / max(total.total(), 1)
    print(f"{caught.total():5} of {total.total():5} noticed, {share:.1%}")
    if unknown:
        print(f"{unknown} were not tried: the tests fail while nothing is changed, or take too long.")
        return 2
    if missed:
        print(
            "Every change of a file where orders, money, deletions, selections or secrets are decided has to"
        )
        print("be noticed; the survivors in capitals were not.")
    return int(missed or share < ENOUGH)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
