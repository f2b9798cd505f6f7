# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""All stories, each canary in the place of each text: what the judge finds, as a table.

A turn puts each canary in the place of other texts; several cores share the turns. In deep turns, which come
last, ids, times and addresses are canaries as well.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

import pytest
from ansible.release import __version__

from attacks.bench import Story, Verdict, judge
from attacks.canaries import TURNS
from attacks.stories import STORIES
from hosted_sandbox.testing import Sandbox

USUAL = ["0", "3", "6", "9", "12", "15", str(TURNS)]
"""Turns that have most canaries as names; all of them are 0-20, in an hour."""


def turns(given: Sequence[str]) -> list[int]:
    """Return turns from what the command line says, such as `0-4`."""
    pairs = (part.partition("-") for part in given)
    return [turn for first, _dash, last in pairs for turn in range(int(first), int(last or first) + 1)]


def tell(share: list[tuple[str, int]], as_module: bool, show: bool) -> list[Verdict]:
    """Tell stories in turns, on a sandbox of this process."""
    by_name = {story.name: story for story in STORIES}
    found = []
    with Sandbox() as sandbox:
        for name, turn in share:
            try:
                verdict = judge(sandbox, by_name[name], turn, not as_module)
            except pytest.skip.Exception as skipped:
                print(f"{name}: left out: {skipped}", flush=True)
                continue
            found.append(verdict)
            print(f"{name}, turn {turn}: {len(verdict.violations)} violations", flush=True)
            print(verdict.output.encode("ascii", "backslashreplace").decode() * show, end="")
            for violation in verdict.violations:
                print(f"    {violation[:700]}", flush=True)
    return found


def figures(found: Sequence[Verdict]) -> int:
    """Print the table; return 1 if anything was violated, and 2 if a module never succeeded."""
    outcomes: Counter[tuple[str, bool]] = Counter()
    rows: dict[str, Counter[str]] = {}
    for verdict in found:
        if verdict.turn < TURNS:  # where nothing is right, nothing has to succeed
            outcomes.update(verdict.outcomes)
        row = rows.setdefault(verdict.story, Counter())
        row["turns"] += 1
        row["violations"] += len(verdict.violations)
        for (_action, failed), number in verdict.outcomes.items():
            row["failed" if failed else "ok"] += number
    print(f"{'story':<28}{'turns':>7}{'ok':>7}{'failed':>8}{'violations':>12}")
    for name, row in sorted(rows.items()):
        print(f"{name:<28}{row['turns']:>7}{row['ok']:>7}{row['failed']:>8}{row['violations']:>12}")
    ours = sorted({action for action, _failed in outcomes if action.startswith("hosted.services.")})
    vacuous = [action for action in ours if not outcomes[action, False]]
    print("\n".join(f"{action} never succeeded, so this says little of it" for action in vacuous))
    violations = sum(row["violations"] for row in rows.values())
    print(f"{violations} violations, ansible-core {__version__}")
    return 1 if violations else 2 if vacuous else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the whole, or what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m attacks.run", description=__doc__)
    parser.add_argument(
        "--story", action="append", help="a story whose name holds this text, or more of them"
    )
    parser.add_argument("--core", action="append", help="virtual environment to run in, or more of them")
    parser.add_argument("--turns", nargs="+", default=USUAL, help=f"such as 0-4; from {TURNS} on deep")
    parser.add_argument("--as-module", action="store_true", help="run tasks outside of the controller")
    parser.add_argument("--show", action="store_true", help="print what the runs print")
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args(arguments)
    chosen, cores = turns(given.turns), given.core or []
    same = [*(f"--story={text}" for text in given.story or ()), f"--workers={given.workers}"]
    same += ["--as-module"] * given.as_module + ["--show"] * given.show
    codes = []
    for number, core in enumerate(cores):
        part = map(str, chosen[number :: len(cores)] or chosen)
        command = [f"{core}/bin/python", "-m", "attacks.run", *same, "--turns", *part]
        codes.append(subprocess.run(command, check=False).returncode)
    if cores:  # what never succeeded in the turns of one may have in those of another
        return 1 if {*codes} - {0, 2} else min(codes)
    wanted = [story for story in STORIES if any(text in story.name for text in given.story or [""])]
    return figures(told(wanted, chosen, given.workers, given.as_module, given.show))


def told(stories: Sequence[Story], chosen: Sequence[int], workers: int, *how: bool) -> list[Verdict]:
    """Tell stories in turns on several processors."""
    begun = time.monotonic()
    work = [(story.name, turn) for turn in chosen for story in stories]
    with ProcessPoolExecutor(workers) as pool:
        shares = [pool.submit(tell, work[number::workers], *how) for number in range(workers)]
        found = [verdict for share in shares for verdict in share.result()]
    print(f"{len(found)} stories in {time.monotonic() - begun:.0f} s")
    return found


if __name__ == "__main__":
    sys.exit(main())
