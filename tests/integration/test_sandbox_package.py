# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sandbox as people install it: a wheel and its requirements in an environment without anything else."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from hosted_sandbox import __version__
from integration.ansible_run import REPOSITORY

SOURCES = REPOSITORY / "tests" / "sandbox"
ANY_PORTS = [f"--{name}=0" for name in ("port", "control-port", "sftp-port", "registry-port")]
PIP = (sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check")


def files(folder: Path) -> set[str]:
    """Return the files below a folder, except those that Python caches."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from the sources, which stay as they are."""
    folder = tmp_path_factory.mktemp("wheel")
    before = files(SOURCES)
    subprocess.run([*PIP, "wheel", "--no-deps", "--wheel-dir", str(folder), str(SOURCES)], check=True)
    assert files(SOURCES) == before
    (built,) = folder.iterdir()
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment into which the wheel was installed."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    subprocess.run([*PIP, "--python", python, "install", str(wheel)], check=True)
    return folder / "bin"


@pytest.fixture
def running(programs: Path, tmp_path: Path) -> Iterator[dict[str, Any]]:
    """What the installed sandbox says of itself; it runs in the background."""
    command = [str(programs / "hosted-sandbox"), *ANY_PORTS, "--ready-file=ready.json", "--detach=log"]
    subprocess.run(command, cwd=tmp_path, env={}, check=True, timeout=120)
    facts = json.loads((tmp_path / "ready.json").read_text())
    yield facts
    requests.post(facts["control_url"] + "/stop", timeout=10)


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    package = {f"hosted_sandbox/{name}" for name in files(SOURCES / "hosted_sandbox") if "." in name}
    assert {name for name in held if ".dist-info/" not in name} == package
    assert {"hosted_sandbox/py.typed", "hosted_sandbox/registry/vulnerabilities.yaml"} <= held
    assert wheel.name == f"hosted_sandbox-{__version__}-py3-none-any.whl"


def test_it_runs_where_nothing_else_is(programs: Path, running: dict[str, Any]) -> None:
    alone = subprocess.run(
        [str(programs / "python"), "-c", "import ansible"], capture_output=True, check=False
    )
    assert alone.returncode != 0
    headers = {"Authorization": f"Bearer {running['tokens']['full']}"}
    body = {"name": "web"}
    made = requests.post(running["base_url"] + "/api/projects", json=body, headers=headers, timeout=30)
    assert made.status_code == 201
    found = requests.get(running["base_url"] + "/api/projects", headers=headers, timeout=30).json()
    assert [project["name"] for project in found] == ["default", "web"]
    assert running["version"] == __version__


def test_it_tells_its_version(programs: Path) -> None:
    said = subprocess.run([str(programs / "hosted-sandbox"), "--version"], capture_output=True, check=True)
    assert said.stdout.decode().strip() == __version__
