# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Start programs from a process that has imported what they import: most of a short run is its imports.

``programs()`` returns the paths of programs that replace ``ansible-playbook`` and others. Each asks
a server (``server.py``) for a fork with its own arguments, folder, environment and standard streams, waits
until the fork ends, and ends with the same code. If the server cannot start a run as if it were new, the real
program starts. WARM_START=0 always starts the real program.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
REPOSITORY = HERE.parents[2]
WHOLE = os.environ.get("ANSIBLE_COLLECTIONS_PATH", str(REPOSITORY / ".build" / "dev"))
PLACE = "ansible_collections/hosted/services"
HUGE_PAGES = {"PYTHONMALLOC": "malloc", "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""A fork copies a page table and not the memory: with few large pages that takes half as long."""
FOLDERS = ("meta", "playbooks", "plugins", "roles")
"""What packages have of a collection: nothing public may use anything else of it."""
MADE_FOLDERS, STARTED = "FOUR_FOLDERS", "WARM_PROGRAMS"
"""Where the processes that this one starts, such as pytest's workers, find what was made here."""


@functools.cache
def four_folders() -> str:
    """Make a collection of these folders alone, so that each run shows that they are enough."""
    if made := os.environ.get(MADE_FOLDERS):
        return made
    (REPOSITORY / ".build").mkdir(exist_ok=True)
    path = Path(tempfile.mkdtemp(prefix="four-folders-", dir=REPOSITORY / ".build"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    path.chmod(0o755)  # as the plans of roles may be run by another user
    half_written = shutil.ignore_patterns("*.pyc.*")  # by others, who compile what they import
    for name in FOLDERS:
        shutil.copytree(
            Path(WHOLE, PLACE, name), path / PLACE / name, copy_function=os.link, ignore=half_written
        )
    os.environ[MADE_FOLDERS] = str(path)
    return str(path)


@dataclass(frozen=True)
class Programs:
    playbook: str
    inventory: str
    python: str
    local_playbook: str
    """ansible-playbook for commands that leave no room for the option that lets modules start warm, too."""


COLD = Programs(
    str(BIN / "ansible-playbook"),
    str(BIN / "ansible-inventory"),
    sys.executable,
    str(BIN / "ansible-playbook"),
)


@functools.cache
def programs() -> Programs:
    """Start the servers, unless whoever started this process has; they end with it."""
    if os.environ.get("WARM_START") == "0":
        return COLD
    if not (started := os.environ.get(STARTED)):
        started = os.environ[STARTED] = start_all()
    names = ("ansible-playbook", "ansible-inventory", Path(COLD.python).name, "local-playbook")
    return Programs(*(os.path.join(started, name) for name in names))


def start_all() -> str:
    """Start the servers of this process; return the folder with the programs that ask them."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    servers = [start(folder, kind) for kind in ("ansible", "python")]
    for server in servers:
        assert server.stdout is not None
        assert server.stdout.readline(), "the server did not start"
    atexit.register(stop, servers, folder)
    playbook, python = write(folder, "ansible", COLD.playbook), write(folder, "python", COLD.python)
    write(folder, "ansible", COLD.inventory)
    local = folder / "local-playbook"
    local.write_text(f'#!/bin/sh\nexec {playbook} "$@" -e ansible_python_interpreter={python}\n')
    local.chmod(0o755)
    return str(folder)


def start(folder: Path, kind: str) -> subprocess.Popen[bytes]:
    home = folder / f"home-{kind}"
    home.mkdir()
    environment = {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8", **HUGE_PAGES}
    return subprocess.Popen(
        [sys.executable, "-m", "integration.warm.server", kind, folder / f"{kind}.socket"],
        env=environment | {"ANSIBLE_COLLECTIONS_PATH": four_folders(), "PYTHONPATH": str(HERE.parents[1])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )


def write(folder: Path, kind: str, cold: str) -> str:
    """Write a program that asks the server of its kind; return its path."""
    constants = f"SERVER, COLD = {str(folder / kind) + '.socket'!r}, {cold!r}\n"
    program = folder / Path(cold).name
    program.write_text(f"#!{sys.executable} -IS\n{constants}{(HERE / 'client.py').read_text()}")
    program.chmod(0o755)
    return str(program)


def stop(servers: list[subprocess.Popen[bytes]], folder: Path) -> None:
    """Let the servers end: they do when nobody can write to them any more."""
    for server in servers:
        server.communicate()
    shutil.rmtree(folder)
