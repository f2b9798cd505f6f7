# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The fixtures for users' tests, in runs of pytest of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hosted_sandbox.testing import SANDBOX

#: What a user's tests might look like. Some fail on purpose: their names say so.
TESTS = """
import os
import sys

import pytest
import requests

def create(name="web"):
    headers = {"Authorization": "Bearer " + os.environ["HOSTED_SERVICES_TOKEN"]}
    url = os.environ["HOSTED_SERVICES_URL"] + "/api/projects"
    names = [project["name"] for project in requests.get(url, headers=headers, timeout=30).json()]
    if name not in names:
        requests.post(url, json={"name": name}, headers=headers, timeout=30)

@pytest.mark.parametrize("turn", [1, 2])
def test_each_begins_empty(sandbox, turn):
    assert sandbox.writes() == []
    create()
    assert len(sandbox.api("GET", "/api/projects").json()) == 2
    assert len(sandbox.writes()) == 1
    sandbox.fault("*", "status", count=None)
    sandbox.clock(freeze=True)

def test_the_environment(sandbox):
    assert "HOSTED_SERVICES_TOKEN_FILE" not in os.environ

@pytest.mark.parametrize("turn", [1, 2])
def test_a_folder_for_the_collection(sandbox, tmp_path, turn):
    folder = os.environ["HOSTED_SERVICES_HOME"]
    assert os.path.isabs(folder) and os.listdir(folder) == os.listdir(tmp_path) == []
    open(os.path.join(folder, "secret"), "w").close()

def test_the_profile(sandbox, sandbox_profile):
    assert sandbox.control("GET", "/profile")["name"] == sandbox_profile
    with open(os.environ["SEEN"], "a") as seen:
        seen.write(f"{sandbox_profile}\\n")

@pytest.mark.parametrize("sandbox_profile", ["terse"])
def test_a_profile_of_its_own(sandbox):
    assert sandbox.control("GET", "/profile")["name"] == "terse"

def test_a_seed_file(sandbox, tmp_path):
    (tmp_path / "seed.yml").write_text("projects: [shop]")
    assert list(sandbox.seed(tmp_path / "seed.yml")["projects"]) == ["shop"]

def test_idempotent(sandbox):
    sandbox.assert_idempotent(create)
    sandbox.assert_idempotent([sys.executable, "-c", "print(1)"])

def test_idempotent_fails_for_a_write(sandbox):
    sandbox.assert_idempotent(lambda: sandbox.api("POST", "/api/projects", {"name": "web"}))

def test_idempotent_fails_for_a_table(sandbox):
    ids = sandbox.seed({"services": [{"name": "db", "product": "postgresql"}]})["services"]
    path, tables = f"/api/resources/{ids['db']}/database/query", iter("abc")
    query = lambda sql: sandbox.api("POST", path, {"sql": sql})
    sandbox.assert_idempotent(lambda: query("SELECT 1"))
    sandbox.assert_idempotent(lambda: query(f"CREATE TABLE {next(tables)} (x int)"))

def test_idempotent_fails_for_a_command(sandbox):
    sandbox.assert_idempotent(f"{sys.executable} -c 'raise SystemExit(6 * 7)'")
"""


def run_pytest(folder: Path, *arguments: str) -> str:
    """Run the tests above in a folder of their own, and return what pytest prints."""
    (folder / "test_mine.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-p", "hosted_sandbox.pytest_plugin", "-rA", "--tb=short"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(SANDBOX.parent),
        "HOSTED_SERVICES_TOKEN_FILE": "/nowhere",
        "HOSTED_SERVICES_HOME": "/nowhere",
        "SEEN": str(folder / "seen"),
    }
    done = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return done.stdout + done.stderr


def results(output: str, outcome: str) -> set[str]:
    """Return the names of the tests with an outcome."""
    lines = [
        line.removeprefix(f"{outcome} ") for line in output.splitlines() if line.startswith(f"{outcome} ")
    ]
    return {line.partition("::")[2].partition(" - ")[0] for line in lines}


def test_a_sandbox_for_each_test(tmp_path: Path) -> None:
    output = run_pytest(tmp_path)
    failing = {"write", "table", "command"}
    assert results(output, "FAILED") == {f"test_idempotent_fails_for_a_{name}" for name in failing}, output
    assert results(output, "PASSED") == {
        "test_each_begins_empty[1]", "test_each_begins_empty[2]", "test_the_environment", "test_the_profile",
        "test_a_folder_for_the_collection[1]", "test_a_folder_for_the_collection[2]",
        "test_a_profile_of_its_own[terse]", "test_a_seed_file", "test_idempotent",
    }  # fmt: skip
    assert results(output, "ERROR") == set()
    assert "the second run changed something:\nE     POST /api/projects (projects.create): 4" in output
    assert "the second run changed something:\nE     content of files/" in output
    assert "ended with status 42" in output


@pytest.mark.night
def test_all_profiles_in_parallel(tmp_path: Path) -> None:
    output = run_pytest(tmp_path, "-n", "2", "-k", "profile", "--sandbox-profiles=plain, terse, wrapped")
    seen = ["plain", "terse", "wrapped"]
    assert sorted((tmp_path / "seen").read_text().split()) == seen, output
    passed = results(output, "PASSED")
    assert {f"test_the_profile[{name}]" for name in seen} <= passed
    assert {name for name in passed if "its_own" in name} == {"test_a_profile_of_its_own[terse]"}
    assert len(passed) == 3 + 1
    assert results(output, "FAILED") == results(output, "ERROR") == set()


@pytest.mark.night
@pytest.mark.parametrize(
    ("names", "told"),
    [
        *((names, f"{names!r} names no profile. Name at least one") for names in ("", " ", ",")),
        ("plain,loud", "unknown profile 'loud'; known: plain, terse"),
    ],
)
def test_what_names_no_profile_is_refused(names: str, told: str, tmp_path: Path) -> None:
    """As from an empty variable of a CI job: one profile would run where several were wanted."""
    output = run_pytest(tmp_path, f"--sandbox-profiles={names}")
    assert f"--sandbox-profiles: {told}" in output
    assert "Traceback" not in output
    assert results(output, "PASSED") == set()
