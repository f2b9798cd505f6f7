# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes to a registry that is none of ours: the one of Docker. What arrived is read with skopeo."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible
from integration.docker_registry import LOGIN, PROGRAMS, platform, serving

pytestmark = pytest.mark.skipif(
    any(shutil.which(program) is None for program in PROGRAMS), reason="docker-registry or skopeo is missing"
)


@pytest.fixture
def pusher(ansible: Ansible, sandbox: Sandbox) -> Ansible:
    """ansible-playbook, an application, and images on disk."""
    assert sandbox.api("POST", "/api/apps", {"slug": "shop"}).ok
    for name in ("one", "two"):
        build_image(
            ansible.folder / f"{name}.tar", {"app/server": name.encode()}, packages=[("zlib", "1:1.3")]
        )
    return ansible


def push(name: str, **more: Any) -> str:
    """Return a task that pushes an image and goes on after a failure."""
    options = json.dumps({"slug": "shop", "path": f"{name}.tar", "tag": "v1", **more})
    return f"- name: Push {name}\n  hosted.services.app_image: {options}\n  ignore_errors: true\n"


@BOTH_WAYS
def test_what_is_pushed_arrives(pusher: Ansible, sandbox: Sandbox, tmp_path: Path, in_process: bool) -> None:
    """By its digest and its tag, once; a tag moves on, and layers that are there are not sent again."""
    (tmp_path / "docker").mkdir()
    with serving(tmp_path / "docker") as docker, platform(sandbox, docker) as url:
        tasks = push("one") + push("one").replace("Push", "Again push") + push("two")
        run = pusher.tasks(tasks, in_process=in_process, env={"HOSTED_SERVICES_URL": url}).succeed()
        first, again, second = (run[name].result for name in ("Push one", "Again push one", "Push two"))
        assert first["changed"] and not again["changed"] and second["changed"]
        assert again["image"]["sent_bytes"] == 0
        assert 0 < second["image"]["sent_bytes"] < second["image"]["size_bytes"]
        assert docker.inspect(":v1")["Digest"] == second["image"]["digest"]
        read = docker.inspect(f"@{first['image']['digest']}")
        assert read["Digest"] == first["image"]["digest"] and len(read["Layers"]) == 2
    assert LOGIN["secret"] not in run.output
