# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long sftp_sync takes for 2,000 small files and for one of 1 GiB, measured against lftp and rclone.

All three copy the same data to and from the same servers, OpenSSH's own and the sandbox's, in alternation
and into an empty place each time, with ciphers of which they may choose the same. Of the play, the time that
it takes when its one task is skipped is taken off. Ratios are medians of those of each round, as a machine
that does other work as well is not equally fast in each.

What arrived is compared byte by byte, and a second run of sftp_sync must change nothing; else this ends with
an error. A third run compares all content, as ``checksum: true`` does, against the time of the copy. Where a
disk is slow, TMPDIR=/dev/shm keeps it out of the figures.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._sftp.session import CIPHERS
from unit.plugins.module_utils._sftp import servers
from unit.plugins.module_utils._sftp.servers import Server

ROUNDS = 3
STARTS = 2
"""How often a round measures what Ansible takes by itself."""
AT_ONCE = 8
FILES, FOLDERS = 2000, 20
SMALLEST, LARGEST = 100, 8000
GIBIBYTE = 1 << 30
BLOCK = 1 << 20
PUSH, PULL = "push", "pull"
GOAL_RATIO = 1.0
CHECKSUM = "checksum"
CHECKSUM_RATIO = 1.2
"""How many times as long as copying the same files it may take to find that they are the same."""


@dataclass(frozen=True)
class Course:
    """One thing to be measured: a server, data, and the direction in which they go."""

    server: Server
    kind: str
    data: Path
    direction: str
    work: Path

    @property
    def there(self) -> Path:
        """Where the data lie on the server."""
        return self.server.root / "mirror"

    @property
    def target(self) -> Path:
        """What is made like the data."""
        return self.there if self.direction == PUSH else self.work / "pulled"

    def prepare(self) -> None:
        """Empty the target; for a pull, put the data on the server."""
        shutil.rmtree(self.target, ignore_errors=True)
        if self.direction == PULL and not self.there.exists():
            shutil.copytree(self.data, self.there)

    def check(self, name: str) -> None:
        """Compare what arrived with the data, byte by byte."""
        differences = run(["diff", "-rq", self.data, self.target], codes=(0, 1))
        if differences:
            sys.exit(f"{name} did not copy the data as they are:\n{differences}")

    def ends(self, remote: str) -> tuple[str, str]:
        """Return source and target; ``remote`` is what a program writes before a path of the server."""
        if self.direction == PUSH:
            return str(self.data), f"{remote}mirror"
        return f"{remote}mirror", str(self.target)


# --- The contestants --------------------------------------------------------------------------------------


def play(course: Course, condition: str = "true", checksum: bool = False) -> list[str]:
    """Return how Ansible is called for one sftp_sync."""
    src, dest = course.ends("")
    options = {
        **course.server.options,
        "checksum": checksum,
        "known_hosts": course.work / "known_hosts",
        "direction": course.direction,
        "src": src,
        "dest": dest,
    }
    lines = "".join(f"        {name}: {str(value)!r}\n" for name, value in options.items())
    path = course.work / "play.yml"
    path.write_text(
        "- hosts: localhost\n  gather_facts: false\n  tasks:\n"
        f"    - hosted.services.sftp_sync:\n{lines}      when: {condition}\n"
    )
    return ["ansible-playbook", str(path)]


def skipped(course: Course) -> list[str]:
    """Return the same without its task, which is what Ansible takes by itself."""
    return play(course, "false")


def lftp(course: Course) -> list[str]:
    """Return how lftp mirrors a directory."""
    options = course.server.options
    ssh = (
        f"ssh -a -x -F none -i {options['private_key_file']} -o StrictHostKeyChecking=no "
        f"-o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o Ciphers={','.join(CIPHERS)}"
    )
    src, dest = course.ends("")
    reverse = "-R " if course.direction == PUSH else ""
    script = (
        f'set sftp:connect-program "{ssh}"; '
        f"open -u {options['username']},none -p {options['port']} sftp://{options['host']}; "
        f"mirror {reverse}--parallel={AT_ONCE} {src} {dest}"
    )
    return ["lftp", "--norc", "-c", script]


def rclone(course: Course) -> list[str]:
    """Return how rclone copies a directory.

    Some versions send the last block of a file with more bytes than they announce. OpenSSH's server overlooks
    that, the sandbox's does not, and is spared.
    """
    options = course.server.options
    remote = (
        f":sftp,host={options['host']},port={options['port']},user={options['username']},"
        f"key_file={options['private_key_file']},shell_type=none,md5sum_command=none,sha1sum_command=none"
    )
    remote += "" if course.kind == "openssh" else ",disable_concurrent_writes=true"
    limits = ["--transfers", str(AT_ONCE), "--checkers", str(AT_ONCE)]
    return ["rclone", "--config", "", "copy", *limits, *course.ends(f"{remote}:")]


CONTESTANTS: dict[str, Callable[[Course], list[str]]] = {"sftp_sync": play, "lftp": lftp, "rclone": rclone}


# --- Measuring --------------------------------------------------------------------------------------------


@dataclass
class Result:
    """The seconds of every run, by contestant; a play's without those that Ansible takes by itself."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def note(self, name: str, took: float) -> None:
        """Add a run."""
        self.seconds.setdefault(name, []).append(took)

    def median(self, name: str) -> float:
        """Return what a contestant takes."""
        return statistics.median(self.seconds[name])

    def ratio(self, name: str, ours: str = "sftp_sync") -> float:
        """Return how many times as long as a contestant sftp_sync takes."""
        rounds = zip(self.seconds[ours], self.seconds[name], strict=True)
        return statistics.median(took / theirs for took, theirs in rounds)


def measure(course: Course, names: Sequence[str], rounds: int) -> Result:
    """Run all contestants in alternation."""
    result = Result()
    for turn in range(rounds):
        print(f"    round {turn + 1} of {rounds}", file=sys.stderr)
        startup = statistics.mean(timed(skipped(course)) for _start in range(STARTS))
        for name in names:
            course.prepare()
            took = timed(CONTESTANTS[name](course))
            result.note(name, took - startup if name == "sftp_sync" else took)
            course.check(name)
            if name == "sftp_sync":
                check_unchanged(play(course))
                result.note(CHECKSUM, timed(play(course, checksum=True), check_unchanged) - startup)
    return result


def check_unchanged(command: list[str]) -> None:
    """Run sftp_sync once more, which must change nothing."""
    if "changed=0" not in (said := run(command)):
        sys.exit(f"another run of sftp_sync was not unchanged:\n{said}")


def timed(command: list[str], call: Callable[[list[str]], object] | None = None) -> float:
    """Return how long a command takes."""
    begun = time.perf_counter()
    (call or run)(command)
    return time.perf_counter() - begun


def run(command: Sequence[str | Path], codes: Sequence[int] = (0,)) -> str:
    """Run a command and return what it printed."""
    quiet = {"ANSIBLE_LOCALHOST_WARNING": "false", "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false"}
    done = subprocess.run(command, env={**os.environ, **quiet}, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


# --- What is copied, and where ----------------------------------------------------------------------------


def small_files(folder: Path) -> Path:
    """Make files of a few kilobytes in some directories."""
    dice = random.Random(1)
    for number in range(FILES):
        path = folder / f"folder-{number % FOLDERS}" / f"file-{number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(dice.randbytes(dice.randint(SMALLEST, LARGEST)))
    return folder


def large_file(folder: Path) -> Path:
    """Make one file of 1 GiB."""
    dice = random.Random(2)
    folder.mkdir()
    with (folder / "large").open("wb") as file:
        for _block in range(GIBIBYTE // BLOCK):
            file.write(dice.randbytes(BLOCK))
    return folder


DATA: dict[str, tuple[str, Callable[[Path], Path]]] = {
    "small": (f"{FILES:,} small files", small_files),
    "large": ("one file of 1 GiB", large_file),
}


@contextmanager
def running(kind: str, folder: Path) -> Iterator[Server]:
    """Run a server."""
    folder.mkdir()
    if kind == "openssh":
        with servers.openssh(folder, "default none") as server:
            yield server
    else:
        with servers.sandboxed(folder) as server:
            yield server


# --- The whole --------------------------------------------------------------------------------------------


def main() -> None:
    """Measure and print."""
    chosen = arguments()
    names = [name for name in CONTESTANTS if name == "sftp_sync" or shutil.which(name)]
    if missing := set(CONTESTANTS) - set(names):
        print(f"Not installed, so not compared with: {', '.join(sorted(missing))}")
    kinds = [kind for kind in chosen.server if kind != "openssh" or not servers.missing()]
    print(f"{os.cpu_count()} cores, medians of {chosen.rounds} runs in alternation, start-up taken off")
    reached = True
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)
        data = {name: DATA[name][1](root / name) for name in chosen.data}
        for kind in kinds:
            print(f"\n{'OpenSSH' if kind == 'openssh' else 'the sandbox'}")
            work = root / kind
            with running(kind, work) as server:
                for name, folder in data.items():
                    for direction in (PUSH, PULL):
                        course = Course(server, kind, folder, direction, work)
                        result = measure(course, names, chosen.rounds)
                        reached &= report(f"{DATA[name][0]}, {direction}", result, names)
                    shutil.rmtree(course.there)
                    shutil.rmtree(course.target, ignore_errors=True)
    goal = f"at most {GOAL_RATIO} x lftp and rclone, and content compared in {CHECKSUM_RATIO} x the copy"
    print(f"\n  goal: {goal}: {'reached' if reached else 'MISSED'}")


def arguments() -> Any:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", nargs="+", choices=("openssh", "sandbox"), default=("openssh", "sandbox"))
    parser.add_argument("--data", nargs="+", choices=tuple(DATA), default=tuple(DATA))
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    return parser.parse_args()


def report(title: str, result: Result, names: Sequence[str]) -> bool:
    """Print one line of the table; return whether the goal was reached."""
    others = [name for name in names if name != "sftp_sync"]
    compared = "".join(
        f"   {name} {result.median(name):6.2f} s {result.ratio(name):5.2f} x" for name in others
    )
    print(f"  {title:<24} {result.median('sftp_sync'):6.2f} s{compared}", flush=True)
    content = result.ratio("sftp_sync", CHECKSUM)
    print(f"  {'  all content compared':<24} {result.median(CHECKSUM):6.2f} s   the copy {content:5.2f} x")
    return content <= CHECKSUM_RATIO and all(result.ratio(name) <= GOAL_RATIO for name in others)


if __name__ == "__main__":
    main()
