# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes to the whole sandbox with skopeo: the account's credentials, the scan, another account's space."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox

pytestmark = pytest.mark.skipif(shutil.which("skopeo") is None, reason="skopeo is not installed")

Skopeo = Callable[..., subprocess.CompletedProcess[str]]
FILES = {"app/server": b"#!/bin/sh\nexec sleep 1000\n"}
OTHER = {"Authorization": "Bearer sandbox-other-token"}


@pytest.fixture
def skopeo(tmp_path: Path) -> Skopeo:
    policy = tmp_path / "policy.json"
    policy.write_text('{"default": [{"type": "insecureAcceptAnything"}]}')

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)}
        command = ["skopeo", "--policy", str(policy), *arguments]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    return run


@pytest.fixture
def login(sandbox: Sandbox) -> dict[str, str]:
    """The account's registry credentials, with an application to push to."""
    assert sandbox.api("POST", "/api/apps", {"slug": "shop"}).ok
    found: dict[str, str] = sandbox.api("GET", "/api/registry/credentials").json()
    return found


def creds(login: dict[str, str], side: str = "") -> tuple[str, ...]:
    """Return the options that log skopeo in."""
    return (f"--{side}tls-verify=false", f"--{side}creds", f"{login['username']}:{login['secret']}")


def scan(sandbox: Sandbox, tag: str, digest: str) -> Any:
    """Declare a release and read its report."""
    assert sandbox.api("POST", "/api/apps/shop/releases", {"tag": tag, "digest": digest}).ok
    return sandbox.api("GET", f"/api/apps/shop/releases/{tag}/scan").json()


def test_a_push_arrives_is_scanned_and_comes_back(
    sandbox: Sandbox, login: dict[str, str], skopeo: Skopeo, tmp_path: Path
) -> None:
    space = f"docker://{login['host']}/{login['project']}/shop"
    verdicts = {}
    for tag, packages in (("v1", [("bash", "5.2")]), ("v2", [("runc", "1.0.0~rc6")])):
        archive = tmp_path / f"{tag}.tar"
        digest = build_image(archive, FILES, packages=packages)
        pushed = skopeo("copy", *creds(login, "dest-"), f"oci-archive:{archive}", f"{space}:{tag}")
        assert pushed.returncode == 0, pushed.stderr
        seen = json.loads(skopeo("inspect", *creds(login), f"{space}:{tag}").stdout)
        assert (seen["Digest"], seen["Architecture"]) == (digest, "amd64")
        pulled = skopeo("copy", *creds(login, "src-"), f"{space}@{digest}", f"oci:{tmp_path / tag}:x")
        assert pulled.returncode == 0, pulled.stderr
        assert (tmp_path / tag / "blobs" / "sha256" / digest.partition(":")[2]).is_file()
        report = scan(sandbox, tag, digest)
        assert report["digest"] == digest
        verdicts[tag] = report["scanStatus"]
    assert verdicts == {"v1": "PASSED", "v2": "BLOCKED"}


def test_the_credentials_open_one_space_only(
    sandbox: Sandbox, login: dict[str, str], skopeo: Skopeo, tmp_path: Path
) -> None:
    other = sandbox.api("GET", "/api/registry/credentials", headers=OTHER).json()
    assert sandbox.api("POST", "/api/apps", {"slug": "theirs"}, headers=OTHER).ok
    build_image(tmp_path / "shop.tar", FILES)
    archive = f"oci-archive:{tmp_path / 'shop.tar'}"
    theirs = f"docker://{other['host']}/{other['project']}/theirs:v1"
    ours = f"docker://{login['host']}/{login['project']}/shop:v1"
    token = {"username": login["username"], "secret": sandbox.token}
    for with_login, target in ((login, theirs), (other, ours), (token, ours)):
        refused = skopeo("copy", *creds(with_login, "dest-"), archive, target)
        assert refused.returncode != 0
        assert any(word in refused.stderr.lower() for word in ("denied", "forbidden", "unauthorized"))
    assert skopeo("copy", *creds(other, "dest-"), archive, theirs).returncode == 0
    assert skopeo("inspect", *creds(login), theirs).returncode != 0
