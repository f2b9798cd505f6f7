# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Weigh the house: lines and files by folder, and what a task calls and runs. Fails over a budget.

A budget in BUDGETS is lowered after something was deleted, and raised only with a reason in the commit. What
is generated, from `# generated: NAME` to `# generated end`, weighs nothing. What
waits calls and runs a little more on a busy machine, so those figures have some room.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from ansible_collections.hosted.services.scripts.sources import ROOT
from hosted_sandbox.gaps import POINTS
from hosted_sandbox.testing import Sandbox

BUDGETS = {
    "plugins, lines": 43_250,
    "plugins, code lines": 24_090,
    "module_utils, files": 137,
    "roles and playbooks, lines": 7_985,
    "unit tests, lines": 30_040,
    "integration tests, lines": 20_820,
    "other tests, lines": 7_010,
    "sandbox, lines": 10_445,
    "scripts, lines": 2_195,
    "docs, lines": 5_480,
    "changelog fragments, files": 1,
    "gap points": 31,
    "order, calls": 10,
    "order, functions": 166,
    "repeat, calls": 3,
    "repeat, functions": 89,
    "delete, calls": 5,
    "delete, functions": 116,
}
JUDGES = ("attacks", "faults", "money", "calendars", "benchmarks")
LINES = {
    "plugins, lines": (["plugins"], ["*.py"]),
    "roles and playbooks, lines": (["roles", "playbooks"], ["*"]),
    "unit tests, lines": (["tests/unit"], ["*.py"]),
    "integration tests, lines": (["tests/integration"], ["*.py", "*.yml"]),
    "other tests, lines": ([f"tests/{name}" for name in JUDGES], ["*.py"]),
    "sandbox, lines": (["tests/sandbox"], ["*.py"]),
    "scripts, lines": (["scripts"], ["*.py", "*.sh"]),
    "docs, lines": (["docs"], ["*.md", "*.json", "*.py", "*.yml"]),
}  # fmt: skip
"""What counts lines: the folders, and the names of files."""
BUILT = ("openapi.json", ".schema.json")
"""How the names of documents end that are built from something else."""
GENERATED = re.compile(r"# generated: .*?# generated end", re.S)
DOCUMENTATION = {"DOCUMENTATION", "EXAMPLES", "RETURN"}
TASKS = {
    "order": "hosted.services.service: {name: weighed, product: minecraft, host: node-paris-1, "
    "dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}, state: started}",
    "repeat": "hosted.services.service: {name: weighed, state: started}",
    "delete": "hosted.services.service: {name: weighed, state: absent, delete_backups: true}",
}
PLAY = "- hosts: localhost\n  connection: local\n  gather_facts: false\n  tasks:\n    - {task}\n"
WATCH = """
import os, sys, threading
seen = set()
def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code not in seen and "hosted/services/plugins" in code.co_filename:
        seen.add(code)
        if not code.co_name.startswith("<") and code.co_name != "__init_subclass__":
            with open(f"{os.environ['WEIGHED']}/{os.getpid()}", "a") as file:
                file.write(f"{code.co_filename}:{code.co_qualname}\\n")
def start():
    seen.clear()
    sys.setprofile(note)
    threading.setprofile(note)
if "ansible-playbook" in " ".join(sys.orig_argv):
    os.register_at_fork(after_in_child=start)
"""
"""Notes what runs in the workers of `ansible-playbook`: the sitecustomize.py of its Python."""


def tracked(folders: Iterable[str], names: Iterable[str]) -> list[Path]:
    """Return the files that git tracks in some folders; no links."""
    patterns = [f":(glob){folder}/**/{name}" for folder in folders for name in names]
    command = ["git", "ls-files", "-z", *patterns]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = (ROOT / name for name in told.split("\0") if name and not name.endswith(BUILT))
    return [path for path in paths if path.is_file() and not path.is_symlink()]


def lines(path: Path) -> int:
    """Return how many lines of a file somebody has to keep."""
    text = path.read_text(encoding="utf-8", errors="replace")
    return GENERATED.sub("", text).count("\n")


def code_lines(path: Path) -> int:
    """Return how many lines are neither blank, comment, docstring, import nor a module's documentation."""
    text = path.read_text(encoding="utf-8")
    numbered = enumerate(text.splitlines(), 1)
    counted = {number for number, line in numbered if line.strip() and not line.strip().startswith("#")}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not is_code(node):
            counted.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(counted)


def is_code(node: ast.stmt) -> bool:
    """Tell whether a statement does something of its own."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant(value=str())):
            return False
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name not in DOCUMENTATION
    return True


def at_rest() -> Iterator[tuple[str, int]]:
    """Yield the figures that need no run."""
    for what, (folders, names) in LINES.items():
        yield what, sum(map(lines, tracked(folders, names)))
    yield "plugins, code lines", sum(map(code_lines, tracked(["plugins"], ["*.py"])))
    yield "module_utils, files", len(tracked(["plugins/module_utils"], ["*.py"]))
    yield "changelog fragments, files", len(tracked(["changelogs/fragments"], ["*.yml", "*.yaml"]))
    yield "gap points", len(POINTS)


def at_work() -> Iterator[tuple[str, int]]:
    """Yield how many calls a task makes on a sandbox, and how many functions of ours run in it."""
    with tempfile.TemporaryDirectory() as name, Sandbox() as sandbox:
        folder = Path(name)
        (folder / "sitecustomize.py").write_text(WATCH)
        surroundings = {
            **os.environ,
            "PYTHONPATH": str(folder),
            "ANSIBLE_HOME": str(folder / "home"),
            "HOSTED_SERVICES_HOME": str(folder / "records"),
            "HOSTED_SERVICES_URL": sandbox.base_url,
            "HOSTED_SERVICES_TOKEN": sandbox.token,
        }
        for what, task in TASKS.items():
            (folder / what).mkdir()
            play = folder / f"{what}.yml"
            play.write_text(PLAY.format(task=task))
            sandbox.clear_journal()
            command = ["ansible-playbook", "-i", "localhost,", str(play)]
            subprocess.run(
                command,
                env={**surroundings, "WEIGHED": str(folder / what)},
                check=True,
                stdout=subprocess.DEVNULL,
            )
            ran = {line for file in (folder / what).iterdir() for line in file.read_text().splitlines()}
            yield f"{what}, calls", len(sandbox.journal())
            yield f"{what}, functions", len(ran)


def main() -> int:
    """Print the figures, and name those over their budget."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    found = dict([*at_rest(), *at_work()])
    over = [what for what, value in found.items() if value > BUDGETS[what]]
    for what, budget in BUDGETS.items():
        print(f"{what:32} {found[what]:8,} of {budget:8,}" + ("   over" if what in over else ""))
    if over:
        print(
            f"\n{len(over)} over budget: delete what nobody needs, or say in the commit why it may weigh more"
        )
    return 1 if over else 0


if __name__ == "__main__":
    sys.exit(main())
