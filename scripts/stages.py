# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run a stage or a tier of tests/stages.yml. A stage that fails does not hide the next; a table ends the run.

python scripts/stages.py test
python scripts/stages.py test-faults --share 0.1
python scripts/stages.py --list
"""

from __future__ import annotations

import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

import yaml

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / ".build"
KNOWN = yaml.safe_load((ROOT / "tests" / "stages.yml").read_text(encoding="utf-8"))
STAGES: dict[str, str] = KNOWN["stages"]
TIERS: dict[str, list[list[str]]] = KNOWN["tiers"]
NICER = 5
"""By how much the second list of a tier yields to the first one."""
SHORT_PATHS = "sed -u 's#^[^ ]*ansible_collections/hosted/services/##'"


def stages_of(name: str) -> Iterator[str]:
    """Yield a stage, or those of a tier."""
    if name in STAGES:
        yield name
    for part in TIERS.get(name, []):
        for member in part:
            yield from stages_of(member)


class Run:
    """A run of stages: what became of each, and how long it took."""

    def __init__(self, arguments: Sequence[str] = ()) -> None:
        self._arguments = shlex.join(arguments)
        self._begun = time.monotonic()
        self._table: list[str] = []
        self.failed = 0

    def stage(self, name: str, niceness: int = 0, output: IO[str] | None = None) -> None:
        """Run a stage; its output is shown, or goes to a file."""
        print(f"\n==> {name}", file=output, flush=True)
        begun = time.monotonic()
        command = f"{{ {STAGES[name]} {self._arguments}\n}} | {SHORT_PATHS}"
        status = subprocess.run(
            ["nice", "-n", str(niceness), "bash", "-euo", "pipefail", "-c", command],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
        self.failed += bool(status)
        self._table.append(
            f"  {name:<18} {'FAILED' if status else 'ok':<8} {time.monotonic() - begun:5.0f} s"
        )

    def tier(self, name: str) -> None:
        """Run the lists of a tier at the same time, and show the output of all but the first at the end."""
        with ThreadPoolExecutor() as pool, (BUILD / "behind.txt").open("w+", encoding="utf-8") as behind:
            lists = [[stage for member in part for stage in stages_of(member)] for part in TIERS[name]]
            for place, part in enumerate(lists):
                pool.submit(self._list, part, NICER * place, behind if place else None)
            pool.shutdown()
            behind.seek(0)
            print(behind.read())

    def _list(self, names: Sequence[str], niceness: int, output: IO[str] | None) -> None:
        for name in names:
            self.stage(name, niceness, output)

    def summary(self) -> str:
        """Return the table."""
        seconds = time.monotonic() - self._begun
        count = f"{len(self._table) - self.failed} passed, {self.failed} failed"
        return "\n".join([f"\n==> summary, {seconds:.0f} s in all", *self._table, "", count])


def main(arguments: Sequence[str]) -> int:
    """Run what the first argument names; the others are for the last command of a single stage."""
    name, *others = arguments or ["--list"]
    if name == "--list":
        print(*STAGES)
        return 0
    if name not in STAGES and name not in TIERS:
        print(f"{name} is no stage. These are: {', '.join([*STAGES, *TIERS])}", file=sys.stderr)
        return 2
    BUILD.mkdir(exist_ok=True)
    run = Run(others)
    if name in STAGES:
        run.stage(name)
        return min(run.failed, 1)
    run.tier(name)
    summary = run.summary()
    (BUILD / "summary").write_text(f"{summary}\n", encoding="utf-8")
    print(summary)
    return min(run.failed, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
