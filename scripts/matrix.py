# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the tests on every supported ansible-core and Python that this machine has.

Each pair has a virtual environment of its own, .build/matrix/NAME, with the pins of tests/requirements.txt
but another ansible-core; the pair `next` has the newest pre-release of it. The pair `lowest` has the lower
bounds of requirements.txt instead, and the pair `newest` the newest version of every library that the package
index has: requirements.txt promises both. A Python that is not on this machine is named and left out.

    python scripts/matrix.py                                  # everything, which takes a while
    python scripts/matrix.py --only 2.21-py3.13 --stages unit -- -k transport
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from ansible_collections.hosted.services.scripts.sources import ROOT

WORK = ROOT / ".build" / "matrix"
LINES = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
LIBRARIES = [line for line in LINES if not line.startswith("#")]
"""Those of the plugins, each with its lower bound."""
# What the tests themselves start, for the pair whose other libraries are as old as they may be.
TOOLS = (
    *("pytest", "pytest-xdist", "hypothesis", "schemathesis", "httpx", "jsonschema"),
    *("fastapi", "uvicorn", "python-debian", "zstandard"),
)
PAIRS: dict[str, tuple[str, Sequence[str]]] = {
    "2.19-py3.11": ("3.11", ["ansible-core==2.19.*"]),
    "2.20-py3.12": ("3.12", ["ansible-core==2.20.*"]),
    "2.21-py3.13": ("3.13", ["ansible-core==2.21.*"]),
    "lowest": ("3.11", ["ansible-core==2.19.0", *(line.replace(">=", "==") for line in LIBRARIES), *TOOLS]),
    "newest": ("3.13", ["--upgrade", "--upgrade-strategy=eager", "ansible-core==2.21.*", *LIBRARIES]),
    "next": ("3.13", ["--pre", "ansible-core"]),
}
"""The Python of each pair, and what is installed beside the pins; for `lowest`, in place of them."""
STAGES = {
    "unit": "tests/unit",
    "integration": "tests/integration",
    "targets": "tests/integration/test_targets.py",
}
# What a new FastAPI makes of an old pydantic: warnings that no user sees, and other words for one document.
OLD = ("-W", "default", "--ignore", "tests/unit/sandbox/test_documents.py")
# ansible-core decides on these itself.
NOT_PINNED = re.compile(r"^(ansible-core|resolvelib)==.*?[^\\]\n", re.MULTILINE | re.DOTALL)


def interpreter(version: str) -> str | None:
    """Find a Python, on the search path or among those of pyenv, that starts and is of this version."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    installed = sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
    for candidate in [shutil.which(f"python{version}"), *map(str, installed)]:
        # One of pyenv's stand-ins may not start.
        if candidate and f"Python {version}." in output(candidate, "--version"):
            return candidate
    return None


def output(*command: str) -> str:
    """Return what a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def install(name: str, python: str, packages: Sequence[str]) -> None:
    """Make a pair's virtual environment, unless it is there."""
    folder, stamp = WORK / name, WORK / name / ".installed"
    pins = (ROOT / "tests" / "requirements.txt").read_text(encoding="utf-8")
    wanted = "\n".join([*packages, pins])
    # What is newest today may not be tomorrow.
    if name not in ("newest", "next") and stamp.is_file() and stamp.read_text("utf-8") == wanted:
        return
    print(f"==> {name}: installing", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    if name != "lowest":
        pinned = folder / "pins.txt"
        pinned.write_text(NOT_PINNED.sub("", pins))
        # The pins are complete, so there is nothing to work out; that would find fault with the one left out.
        subprocess.run([*pip, "--no-deps", "-r", str(pinned)], check=True)
    subprocess.run([*pip, *packages], check=True)
    stamp.write_text(wanted, encoding="utf-8")


def run(name: str, stage: str, arguments: Sequence[str]) -> bool:
    """Run one stage of the tests with a pair, and tell whether it passed."""
    print(f"\n==> {name}: {stage}", flush=True)
    folder = WORK / name / "bin"
    if stage == "sanity":
        command = ["scripts/sanity.py", *arguments]
    else:
        old = OLD if name == "lowest" else ()
        command = [
            "-m",
            "pytest",
            "-q",
            *old,
            STAGES[stage],
            *(arguments or ["-n", "2", "-m", "not release"]),
        ]
    environment = os.environ | {
        "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}",
        "SANITY_FOLDER": str(WORK / f"sanity-{name}"),
        # The forks of tests/integration/warm were written with one version of Ansible in mind.
        "WARM_START": "0",
    }
    command = [str(folder / "python"), *command]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def main() -> int:
    """Run what the command line asks for, go on after a failure, and end with a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PAIRS, default=PAIRS, help="these pairs")
    parser.add_argument(
        "--stages", nargs="+", choices=[*STAGES, "sanity"], default=["unit", "integration", "sanity"]
    )
    parser.add_argument("arguments", nargs="*", help="for pytest or ansible-test, after --")
    options = parser.parse_args()
    table: dict[str, list[str]] = {}
    for name in options.only:
        version, packages = PAIRS[name]
        python = interpreter(version)
        if python is None:
            table[name] = [f"no Python {version} here"]
            continue
        try:
            install(name, python, packages)
        except subprocess.CalledProcessError:
            table[name] = ["installation FAILED"]
            continue
        # Sanity tests run without the libraries, so they say nothing about others.
        stages = [stage for stage in options.stages if stage != "sanity" or "-py" in name]
        table[name] = [
            f"{each} {'ok' if run(name, each, options.arguments) else 'FAILED'}" for each in stages
        ]
    print("\n==> summary")
    for name, row in table.items():
        print(f"  {name:14}", "  ".join(row))
    return 1 if any("FAILED" in told for row in table.values() for told in row) else 0


if __name__ == "__main__":
    sys.exit(main())
