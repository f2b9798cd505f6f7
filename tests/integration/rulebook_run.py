# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""ansible-rulebook from PyPI in an environment of its own, and runs of it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    lock_file,
)
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY
from integration.warm import WHOLE

REQUIREMENTS = Path(__file__).parent / "rulebook.txt"
BUILD = REPOSITORY / ".build"
INSTALL_SECONDS = 600
SECONDS = 180


def environment() -> Path:
    """Return the folder of an environment with ansible-rulebook. Build it first if it is not there.

    Skips the test if PyPI cannot be reached.
    """
    version = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode()).hexdigest()
    folder = BUILD / f"rulebook-{version[:16]}"
    with lock_file(str(BUILD / "rulebook.lock"), INSTALL_SECONDS):
        if not (folder / "complete").exists():
            shutil.rmtree(folder, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
            pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install", "-q"]
            command = [*pip, "--disable-pip-version-check", "--require-hashes", "-r", str(REQUIREMENTS)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=INSTALL_SECONDS
            )
            if done.returncode:
                pytest.skip(f"ansible-rulebook cannot be installed: {done.stderr[-300:]}")
            (folder / "complete").touch()
    return folder


def environment_for_rulebooks() -> Path:
    """Return the environment; skip the test without Java, in which ansible-rulebook's engine runs."""
    if shutil.which("java") is None:
        pytest.skip("Java is not installed")
    return environment()


class Rulebook:
    """A run of ansible-rulebook; a context manager that ends it."""

    def __init__(
        self,
        programs: Path,
        folder: Path,
        sandbox: Sandbox,
        rulebook: list[dict[str, Any]] | str,
        **variables: str,
    ) -> None:
        self.output = folder / "output"
        inventory = folder / "localhost.ini"
        python = programs / "bin" / "python"
        inventory.write_text(f"localhost ansible_connection=local ansible_python_interpreter={python}\n")
        if not isinstance(rulebook, str):
            (folder / "rulebook.yml").write_text(yaml.safe_dump(rulebook))
        name = rulebook if isinstance(rulebook, str) else str(folder / "rulebook.yml")
        known = {
            "PATH": f"{programs / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "PYTHONUNBUFFERED": "1",
            "ANSIBLE_COLLECTIONS_PATH": WHOLE,
            "HOSTED_SERVICES_URL": sandbox.base_url,
            "HOSTED_SERVICES_TOKEN": sandbox.token,
        }
        command = [str(programs / "bin" / "ansible-rulebook"), "--rulebook", name, "-i", str(inventory)]
        passed = ["--env-vars", ",".join(variables)] if variables else []
        with self.output.open("w") as output:
            self.process = subprocess.Popen(
                [*command, *passed, "--print-events"],
                env=known | variables,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def said(self) -> str:
        return self.output.read_text()

    def until(self, condition: Callable[[], object]) -> None:
        """Wait until something is so. Fail if ansible-rulebook ends before, or it takes too long."""
        end = time.monotonic() + SECONDS
        while not condition():
            assert self.process.poll() is None, self.said()
            assert time.monotonic() < end, self.said()
            time.sleep(0.1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.terminate()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)


def shipped(name: str, **arguments: Any) -> dict[str, Any]:
    """Return a rulebook of the collection, whose source has further arguments."""
    path = REPOSITORY / "extensions" / "eda" / "rulebooks" / f"{name}.yml"
    [rules] = yaml.safe_load(path.read_text())
    [source] = rules["sources"]
    source["hosted.services.account"] = {**(source["hosted.services.account"] or {}), **arguments}
    return dict(rules)
