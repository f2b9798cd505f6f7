# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deliveries: the role app_delivery by its molecule scenario, and the playbooks deploy and rollback."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from integration.ansible_run import COLLECTIONS, REPOSITORY, Ansible, Run
from sandbox.registry.images import build_image
from sandbox.testing import Sandbox

SECONDS = 600


def test_app_delivery(tmp_path: Path) -> None:
    """First delivery, second run, new version, a blocked one, one that does not start, one that is mute."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "LANG": "C.UTF-8",
        "ANSIBLE_HOME": str(tmp_path / ".ansible"),
        "ANSIBLE_COLLECTIONS_PATH": COLLECTIONS,
        "MOLECULE_EPHEMERAL_DIRECTORY": str(tmp_path / "molecule"),
    }
    done = subprocess.run(
        ["molecule", "test", "-s", "app_delivery"],
        cwd=REPOSITORY,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def small(ansible: Ansible, sandbox: Sandbox) -> Ansible:
    """ansible-playbook with a token of scope REGISTRY, and two versions of an application on disk."""
    ansible.environment["HOSTED_SERVICES_TOKEN"] = sandbox.registry_token
    for version in ("1", "2"):
        build_image(ansible.folder / f"{version}.tar", {"app/server": version.encode()})
    return ansible


def deliver(small: Ansible, version: str, *arguments: str) -> Run:
    """Run the playbook `deploy` for a version."""
    return small.playbook(
        "- ansible.builtin.import_playbook: hosted.services.deploy",
        *arguments,
        variables={
            "app_delivery_slug": "acme-shop",
            "app_delivery_tag": version,
            "app_delivery_path": str(small.folder / f"{version}.tar"),
            "app_delivery_variables": {"VERSION": version},
            "app_delivery_secret_variables": {"KEY": "not-for-anybody"},
            "app_delivery_max_monthly": "5",
        },
    )


def roll_back(small: Ansible, **variables: str) -> Run:
    """Run the playbook `rollback`."""
    return small.playbook(
        "- ansible.builtin.import_playbook: hosted.services.rollback",
        variables={"rollback_slug": "acme-shop", **variables},
    )


def in_service(sandbox: Sandbox) -> str:
    """Return the digest that runs."""
    (app,) = sandbox.api("GET", "/api/apps").json()["items"]
    return str(app["imageRef"]).partition("@")[2]


def writes(sandbox: Sandbox) -> list[str]:
    """Return the calls that changed something, but for quotes."""
    calls = [line["route"] for line in sandbox.journal() if line["method"] != "GET"]
    return [route for route in calls if route != "apps.quote"]


def test_check_mode_shows_a_delivery_and_writes_nothing(small: Ansible, sandbox: Sandbox) -> None:
    """Of a first one the price; of a new version digest and names as well; the secret never."""
    first = deliver(small, "1", "--check", "--diff").succeed()
    assert "3.885 a month" in first.output
    assert writes(sandbox) == []
    deliver(small, "1").succeed()
    sandbox.clear_journal()
    second = deliver(small, "2", "--check", "--diff").succeed()
    digest = second["hosted.services.app_delivery : Push the image"].result["image"]["digest"]
    assert f"+digest: {digest}" in second.output
    assert "-  VERSION: (another value)" in second.output and "+  VERSION: '2'" in second.output
    assert "verdict: PENDING" in second.output
    assert "not-for-anybody" not in first.output + second.output
    assert writes(sandbox) == []
    assert digest != in_service(sandbox)


def test_the_playbooks_deliver_and_roll_back(small: Ansible, sandbox: Sandbox) -> None:
    """A second delivery changes nothing; back to the one before, and to a tag."""
    deliver(small, "1").succeed()
    first = in_service(sandbox)
    again = deliver(small, "1").succeed()
    assert [outcome.name for outcome in again.outcomes if outcome.result.get("changed")] == []
    deliver(small, "2").succeed()
    second = in_service(sandbox)
    assert first != second
    roll_back(small).succeed()
    assert in_service(sandbox) == first
    roll_back(small, rollback_tag="2").succeed()
    assert in_service(sandbox) == second
    small_ones = [line["template"] for line in sandbox.journal() if line["token"] == "REGISTRY"]
    assert small_ones and not any(path.startswith("/api/resources") for path in small_ones)


def test_there_may_be_nothing_to_go_back_to(small: Ansible, sandbox: Sandbox) -> None:
    """The error names the releases that there are."""
    deliver(small, "1").succeed()
    run = roll_back(small)
    assert run.rc != 0 and "no deployable release before the one in service" in run.output
    assert roll_back(small, rollback_tag="3").rc != 0


def test_either_an_archive_or_a_digest(small: Ansible) -> None:
    """Without an image there is nothing to deliver."""
    run = small.playbook(
        "- ansible.builtin.import_playbook: hosted.services.deploy",
        variables={"app_delivery_slug": "acme-shop", "app_delivery_tag": "1"},
    )
    assert run.rc != 0 and "Set either app_delivery_path" in run.output
