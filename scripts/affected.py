# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests that concern what changed since main: `make affected`.

These are the tests that changed, the unit tests of a changed file and those that import it, the targets of
the modules that import it, and the integration tests that name a changed role, playbook, guide or rulebook.
It is no gate: `make test` is.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

from ansible_collections.hosted.services.scripts.architecture import PLUGINS, imports, module_name, sources
from ansible_collections.hosted.services.scripts.sources import ROOT

NAMED = re.compile(r"(?:roles|playbooks|rulebooks|molecule|guides(?=/[\w-]+\.md))/([\w-]+)")
PLANS = "tests/unit/plugins/test_plans.py"
"""Runs the cases of tests/unit/data."""


def run(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def changed_files(base: str) -> list[str]:
    """Return the files that differ from a commit, and those that git does not know yet."""
    told = run("git", "diff", "--name-only", base)
    return sorted(
        {*told.splitlines(), *run("git", "ls-files", "--others", "--exclude-standard").splitlines()}
    )


def concerned(files: list[str]) -> list[str]:
    """Return the tests to run, as pytest takes them."""
    there = [path for path in files if (ROOT / path).is_file()]
    found = {path for path in there if re.search(r"^tests/(unit|integration)/(.*/)?test_\w+\.py$", path)}
    plugins = [path for path in there if path.startswith("plugins/") and path.endswith(".py")]
    for path in plugins:
        found |= unit_tests(path)
    if any(path.startswith(("tests/unit/data/", "plugins/module_utils/_resources/")) for path in files):
        found.add(PLANS)
    targets = targets_of(set(plugins))
    targets |= {path.split("/")[3] for path in files if path.startswith("tests/integration/targets/")}
    if any(path.startswith("tests/sandbox/") for path in files):
        targets.add("")
        found.add("tests/unit/sandbox")
    if targets:
        found |= {name for name in target_tests() if any(f"[{each}" in name for each in targets)}
    found |= mentions({name for path in files for name in NAMED.findall(path)})
    return sorted(name for name in found if "::" not in name or name.partition("::")[0] not in found)


def unit_tests(path: str) -> set[str]:
    """Return the unit tests of a file's name, and those that import it."""
    package, _dot, name = module_name(ROOT / path).rpartition(".")
    imported = re.compile(rf"{re.escape(package)}(?:\.{name}\b| import (?:[^(\n]*|\([^)]*)\b{name}\b)")
    tests = (ROOT / "tests" / "unit").rglob("test_*.py")
    found = {str(test.relative_to(ROOT)) for test in tests if imported.search(test.read_text("utf-8"))}
    own = f"tests/unit/{Path(path).with_name('test_' + Path(path).name)}"
    return found | ({own} if (ROOT / own).is_file() else set())


def targets_of(files: set[str]) -> set[str]:
    """Return the modules whose action, or what it imports, is among the files."""
    needs = {module_name(path): set(imports(path)) for path in sources()}
    wanted = {module_name(ROOT / path) for path in files}
    found = set()
    for path in sorted((PLUGINS / "action").glob("*.py")):
        action = module_name(path)
        seen, rest = set(), [action, action.replace(".action.", ".modules.")]
        while rest:
            name = rest.pop()
            if name not in seen:
                seen.add(name)
                rest += needs.get(name, ())
        if seen & wanted:
            found.add(path.stem)
    return found


def target_tests() -> list[str]:
    """Return the tests of the targets, as pytest names them."""
    told = run(sys.executable, "-m", "pytest", "-q", "--collect-only", "tests/integration/test_targets.py")
    return [line for line in told.splitlines() if "::test_target[" in line]


def mentions(names: set[str]) -> set[str]:
    """Return the integration tests in whose name or text one of these names stands."""
    if not names:
        return set()
    word = re.compile(rf"(?<![a-z])(?:{'|'.join(map(re.escape, sorted(names)))})(?![a-z])")
    tests = (ROOT / "tests" / "integration").rglob("test_*.py")
    found = (test for test in tests if word.search(f"{test.stem}\n{test.read_text(encoding='utf-8')}"))
    return {str(path.relative_to(ROOT)) for path in found}


def main() -> int:
    """Run what is affected."""
    parser = argparse.ArgumentParser(description="Run the tests that concern what changed.")
    parser.add_argument("--base", default="main", help="the commit to compare with (default: main)")
    parser.add_argument("--list", action="store_true", help="print the tests, and run none")
    options = parser.parse_args()
    tests = concerned(changed_files(run("git", "merge-base", options.base, "HEAD").strip()))
    print(f"{len(tests)} tests and files of tests are affected", *tests if options.list else (), sep="\n")
    if options.list or not tests:
        return 0
    workers = ["-n", "2", "--dist", "worksteal"] if len(tests) > 8 else []
    command = [sys.executable, "-m", "pytest", "-q", *workers, *tests]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
