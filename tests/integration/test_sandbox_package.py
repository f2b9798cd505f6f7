# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The sandbox as people install it: a wheel and its requirements in an environment without anything else."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from hosted_sandbox import __version__
from integration.ansible_run import REPOSITORY
from integration.test_sandbox_role import free_ports

pytestmark = pytest.mark.night

GUIDES = [REPOSITORY / "docs" / "guides" / name for name in ("testing-your-playbooks.md", "sandbox.md")]
GUIDE_SECONDS = 1800
SOURCES = REPOSITORY / "tests" / "sandbox"
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


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    package = {f"hosted_sandbox/{name}" for name in files(SOURCES / "hosted_sandbox") if "." in name}
    assert {name for name in held if ".dist-info/" not in name} == package
    assert {"hosted_sandbox/py.typed", "hosted_sandbox/registry/vulnerabilities.yaml"} <= held
    assert wheel.name == f"hosted_sandbox-{__version__}-py3-none-any.whl"


# --- The guide ----------------------------------------------------------------------------------------


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """Yield the language and the content of each block of code."""
    for found in re.finditer(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        yield found[1], found[2]


def commands(text: str) -> list[str]:
    lines = [line for kind, block in blocks(text) if kind == "console" for line in block.splitlines()]
    assert [line for line in lines if not line.startswith("$ ")] == []
    return [line.removeprefix("$ ") for line in lines]


def named_files(text: str) -> dict[str, str]:
    """Return all other blocks: each is a file that its first line names in a comment."""
    found = {}
    for kind, block in blocks(text):
        if kind != "console":
            first, __, rest = block.partition("\n")
            assert first.startswith("# "), f"this block names no file:\n{block}"
            found[first.removeprefix("# ")] = rest
    return found


def on_free_ports(text: str) -> str:
    """Return the guide's text with ports that nobody listens on."""
    options = ("port", "control-port", "sftp-port", "registry-port")
    given = dict(zip([*range(8080, 8084), *range(18080, 18084)], free_ports(8), strict=True))
    text = re.sub(r"\b1?808[0-3]\b", lambda found: str(given[int(found[0])]), text)
    ports = " ".join(f"--{name} {given[8080 + turn]}" for turn, name in enumerate(options))
    return text.replace("$ hosted-sandbox ", f"$ hosted-sandbox {ports} ")


@pytest.fixture
def tarball(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tarball")
    command = ["ansible-galaxy", "collection", "build", "--output-path", str(folder)]
    subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True)
    (built,) = folder.iterdir()
    return built


@pytest.fixture
def surroundings(tmp_path: Path, wheel: Path) -> dict[str, str]:
    """The environment of somebody with an account, and an index that has the package."""
    dropped = ("ANSIBLE_", "HOSTED_SERVICES_", "MOLECULE_", "PYTHON", "PYTEST_", "SANDBOX_", "VIRTUAL_ENV")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith(dropped)},
        "HOME": str(tmp_path),
        "HOSTED_SERVICES_TOKEN_FILE": str(tmp_path / "own-account"),
        "LANG": "C.UTF-8",
        "PIP_CACHE_DIR": str(Path.home() / ".cache" / "pip"),
        "PIP_FIND_LINKS": f"{os.environ.get('PIP_FIND_LINKS', '')} {wheel.parent}",
    }


def stop_all(text: str) -> None:
    """Stop what a guide that broke off has left running."""
    for port in set(re.findall(r"http://127\.0\.0\.1:(\d+)|control_port: (\d+)", text)):
        with contextlib.suppress(requests.RequestException, KeyError):
            os.kill(
                requests.get(f"http://127.0.0.1:{''.join(port)}/", timeout=5).json()["pid"], signal.SIGTERM
            )


def test_every_line_of_the_guides(tmp_path: Path, surroundings: dict[str, str], tarball: Path) -> None:
    pytest.importorskip("ensurepip")
    text = on_free_ports("\n".join(guide.read_text() for guide in GUIDES))
    folder = tmp_path / "project"
    for name, content in named_files(text).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    galaxy = "ansible-galaxy collection install "
    script = [line.replace(f"{galaxy}hosted.services", f"{galaxy}{tarball}") for line in commands(text)]
    try:
        done = subprocess.run(
            ["bash", "-euxo", "pipefail", "-c", "\n".join(script)],
            cwd=folder, env=surroundings, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, timeout=GUIDE_SECONDS, check=False,
        )  # fmt: skip
    finally:
        stop_all(text)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout
    assert "3 passed" in done.stdout
    kept = [path for path in tmp_path.rglob("hosted_services/secrets") if path.is_dir()]
    assert not (tmp_path / ".ansible" / "hosted_services").exists()
    assert (folder / ".hosted_services" / "secrets").is_dir()
    assert len(kept) == len([path for path in kept if "molecule" in str(path)]) == 1
