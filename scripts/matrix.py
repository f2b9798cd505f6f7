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
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parent.parent
WORK = ROOT / ".build" / "matrix"
PAIRS = (("2.19", "3.11"), ("2.20", "3.12"), ("2.21", "3.13"))
LOWEST = ("2.19", "3.11")
NEWEST = ("2.21", "3.13")
STAGES = {
    "unit": "tests/unit",
    "integration": "tests/integration",
    "targets": "tests/integration/test_targets.py",
}
# What the tests themselves start, for the pair whose other libraries are as old as they may be.
TOOLS = (
    *("pytest", "pytest-xdist", "hypothesis", "schemathesis", "httpx"),
    *("fastapi", "uvicorn", "python-debian", "zstandard"),
)
# What a new FastAPI makes of an old pydantic: warnings that no user sees, and other words for one document.
OLD = ("-W", "default", "--ignore", "tests/unit/sandbox/test_documents.py")
# ansible-core decides on these itself.
NOT_PINNED = re.compile(r"^(ansible-core|resolvelib)==.*?[^\\]\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Pair:
    """An ansible-core and the Python that it runs on."""

    core: str
    python: str
    libraries: Literal["pinned", "lowest", "newest", "next"] = "pinned"

    @property
    def name(self) -> str:
        """What the command line and the folder call it."""
        return f"{self.core}-py{self.python}" if self.libraries == "pinned" else self.libraries

    @property
    def folder(self) -> Path:
        """Its virtual environment."""
        return WORK / self.name


ALL = [
    *(Pair(core, python) for core, python in PAIRS),
    Pair(*LOWEST, "lowest"),
    Pair(*NEWEST, "newest"),
    Pair(*NEWEST, "next"),
]


def interpreter(version: str) -> str | None:
    """Find a Python, on the search path or among those of pyenv, that starts and is of this version."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    installed = sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True)
    for candidate in [shutil.which(f"python{version}"), *map(str, installed)]:
        if candidate and reported(candidate) == version:
            return candidate
    return None


def reported(python: str) -> str:
    """Return the version that a Python says it has; nothing when it does not start (as pyenv's stand-ins)."""
    command = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def lower_bounds() -> list[str]:
    """Return the libraries of the plugins, each at the lowest version that requirements.txt allows."""
    return [f"{name}=={version}" for name, version in libraries().items()]


def libraries() -> dict[str, str]:
    """Return the libraries of the plugins, each with its lower bound."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    bounds = (line.partition(">=") for line in lines if not line.startswith("#"))
    return {name: version for name, _operator, version in bounds}


def install(pair: Pair, python: str) -> None:
    """Make the pair's virtual environment, unless it is there."""
    stamp = pair.folder / ".installed"
    pins = (ROOT / "tests" / "requirements.txt").read_text(encoding="utf-8")
    wanted = "\n".join(lower_bounds()) if pair.libraries == "lowest" else pins
    # What is newest today may not be tomorrow.
    if (
        pair.libraries not in ("newest", "next")
        and stamp.is_file()
        and stamp.read_text(encoding="utf-8") == wanted
    ):
        return
    print(f"==> {pair.name}: installing", flush=True)
    subprocess.run([python, "-m", "venv", "--clear", str(pair.folder)], check=True)
    if pair.libraries == "lowest":
        pip(pair, f"ansible-core=={pair.core}.0", *lower_bounds(), *TOOLS)
    else:
        pinned = pair.folder / "pins.txt"
        pinned.write_text(NOT_PINNED.sub("", pins))
        # The pins are complete, so there is nothing to work out; that would find fault with the one left out.
        pip(pair, "--no-deps", "-r", str(pinned))
        pip(
            pair,
            *(["--pre", "ansible-core"] if pair.libraries == "next" else [f"ansible-core=={pair.core}.*"]),
        )
    if pair.libraries == "newest":
        pip(pair, "--upgrade", "--upgrade-strategy", "eager", *libraries())
    stamp.write_text(wanted, encoding="utf-8")


def pip(pair: Pair, *arguments: str) -> None:
    """Install something into the pair's environment."""
    command = [f"{pair.folder}/bin/python", "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*command, *arguments], check=True)


def run(pair: Pair, stage: str, arguments: Sequence[str]) -> bool:
    """Run one stage of the tests with a pair, and tell whether it passed."""
    print(f"\n==> {pair.name}: {stage}", flush=True)
    python = str(pair.folder / "bin" / "python")
    if stage == "sanity":
        command = [python, "scripts/sanity.py", *arguments]
    else:
        command = [
            python,
            "-m",
            "pytest",
            "-q",
            *(OLD if pair.libraries == "lowest" else ()),
            STAGES[stage],
            *(arguments or ["-n", "2", "-m", "not release"]),
        ]
    environment = os.environ | {
        "PATH": f"{pair.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "SANITY_FOLDER": str(WORK / f"sanity-{pair.name}"),
        # The forks of tests/integration/warm were written with one version of Ansible in mind.
        "WARM_START": "0",
    }
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode == 0


def stages_of(pair: Pair, wanted: Sequence[str]) -> list[str]:
    """Return the stages that say something about a pair: sanity tests run without the libraries."""
    return [stage for stage in wanted if pair.libraries == "pinned" or stage != "sanity"]


def main() -> int:
    """Run what the command line asks for, go on after a failure, and end with a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[pair.name for pair in ALL], help="these pairs")
    parser.add_argument(
        "--stages", nargs="+", choices=[*STAGES, "sanity"], default=["unit", "integration", "sanity"]
    )
    parser.add_argument("arguments", nargs="*", help="for pytest or ansible-test, after --")
    options = parser.parse_args()
    table: dict[str, dict[str, str]] = {}
    for pair in ALL:
        if options.only and pair.name not in options.only:
            continue
        python = interpreter(pair.python)
        if python is None:
            table[pair.name] = {f"no Python {pair.python} here": ""}
            continue
        try:
            install(pair, python)
        except subprocess.CalledProcessError:
            table[pair.name] = {"installation": "FAILED"}
            continue
        stages = stages_of(pair, options.stages)
        table[pair.name] = {
            stage: "ok" if run(pair, stage, options.arguments) else "FAILED" for stage in stages
        }
    print("\n==> summary")
    for name, row in table.items():
        print(f"  {name:14}", "  ".join(f"{stage} {verdict}".strip() for stage, verdict in row.items()))
    return 1 if any("FAILED" in row.values() for row in table.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
