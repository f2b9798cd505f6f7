# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures for how long a relocation stops a service, as a share of a copy of all that it holds.

`make bench-relocate`. A service of 10 GiB on a sandbox is relocated once. Between the first copy, made while
it runs, and its stop, 1 % of its files get another content of the same size. The share is that of the stop,
from the signal to the old service until the new one runs, in the time of the first copy: both are measured in
the same run. Every byte is compared afterwards. TMPDIR names a place with room for twice the size.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import asyncssh

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.relocate import RELOCATE
from hosted_sandbox.testing import Sandbox

MEBIBYTE = 1 << 20
GOAL = 0.05
SEED = {
    "balance_cents": 1_000_000,
    "projects": ["old", "shop"],
    "services": [
        {
            "name": "survival",
            "product": "minecraft",
            "project": "shop",
            "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 40},
            "files": {"marker-of-survival": "x"},
        }
    ],
}


@dataclass
class Course:
    """One relocation: the files that change right before the stop, and when each step begins."""

    root: Path
    changing: list[Path]
    moments: dict[str, float] = field(default_factory=dict)

    def progress(self, line: str) -> None:
        """Note when a step begins. Before the stop, let some files change."""
        _number, _colon, step = line.partition(": ")
        if step.startswith("stop service 'survival' ("):
            self.moments["copied"] = time.perf_counter()
            for path in self.changing:
                path.write_bytes(random.Random(str(path)).randbytes(path.stat().st_size))
            self.moments["stop"] = time.perf_counter()
        elif step.startswith("copy ") and "copy" not in self.moments:
            self.moments["copy"] = time.perf_counter()
        elif step.startswith("suspend "):
            self.moments["running"] = time.perf_counter()

    @property
    def full(self) -> float:
        """How long the copy of everything took, in seconds."""
        return self.moments["copied"] - self.moments["copy"]

    @property
    def stop(self) -> float:
        """How long the service was stopped, in seconds."""
        return self.moments["running"] - self.moments["stop"]


@contextmanager
def platform(folder: Path) -> Iterator[tuple[Sandbox, Path, Path]]:
    """Run a sandbox with the service; return it, the private key, and the folder of the service's files."""
    key, private = asyncssh.generate_private_key("ssh-ed25519"), folder / "key"
    private.touch(mode=0o600)
    private.write_bytes(key.export_private_key())
    public = key.export_public_key().decode().strip()
    with Sandbox("--data", str(folder / "data")) as sandbox:
        sandbox.seed({**SEED, "ssh_keys": [{"name": "deploy", "public_key": public}]})
        [marker] = (folder / "data").rglob("marker-of-survival")
        yield sandbox, private, marker.parent


def fill(root: Path, mebibytes: int, each: int) -> list[Path]:
    """Write files with random content; return their paths."""
    paths = []
    for number in range(mebibytes // each):
        path = root / f"region-{number % 32}" / f"r.{number}.mca"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(random.Random(number).randbytes(each * MEBIBYTE))
        paths.append(path)
    return paths


def relocate(sandbox: Sandbox, key: Path, folder: Path, course: Course) -> dict[str, Any]:
    """Relocate the service as a task does; return the result."""
    options = {name: option.get("default") for name, option in argument_spec(RELOCATE).items()}
    options.update(
        base_url=sandbox.base_url,
        token=sandbox.token,
        service="survival",
        host="node-frankfurt-1",
        private_key_file=str(key),
        known_hosts=str(folder / "known_hosts"),
        secrets_dest=str(folder / "secrets.json"),
        state_dir=str(folder / "state"),
        healthy_for=0.0,
    )
    os.environ["HOSTED_SERVICES_HOME"] = str(folder / "home")
    clients: list[Client] = []

    def connect(settings: Any, log: Any) -> Client:
        clients.append(Client(settings, log))
        return clients[-1]

    result = execute(RELOCATE, options, RunContext(progress=course.progress, connect=connect))
    for client in clients:
        with closing(client):
            pass
    return result


def check_equal(root: Path, new_id: str) -> None:
    """Compare both services, byte by byte."""
    other = next(path for path in root.parent.iterdir() if new_id in path.name)
    words = subprocess.run(
        ["diff", "-rq", str(root), str(other)], capture_output=True, text=True, check=False
    )
    if words.returncode or words.stdout:
        sys.exit(f"the services differ:\n{words.stdout}{words.stderr}")


def main() -> None:
    """Relocate once, and print the share. Fail if it is above the goal."""
    parser = argparse.ArgumentParser(description="measure the stop of a relocation")
    parser.add_argument("--mebibytes", type=int, default=10240, help="size of the service (10240)")
    parser.add_argument("--file-mebibytes", type=int, default=4, help="size of each file (4)")
    parser.add_argument("--changed", type=float, default=0.01, help="share of files that change (0.01)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="relocate-") as name:
        folder = Path(name)
        with platform(folder) as (sandbox, key, root):
            paths = fill(root, given.mebibytes, given.file_mebibytes)
            changing = random.Random(1).sample(paths, max(1, round(len(paths) * given.changed)))
            course = Course(root, changing)
            result = relocate(sandbox, key, folder, course)
            if result.get("failed"):
                sys.exit(str(result["msg"]))
            check_equal(root, result["relocation"]["new_id"])
    share = course.stop / course.full
    print(
        f"{given.mebibytes} MiB in {len(paths)} files, {len(changing)} of them changed since the first copy"
    )
    print(f"first copy {course.full:.1f} s, stop {course.stop:.1f} s: {share:.1%} (goal: {GOAL:.0%})")
    if share > GOAL:
        sys.exit(1)


if __name__ == "__main__":
    main()
