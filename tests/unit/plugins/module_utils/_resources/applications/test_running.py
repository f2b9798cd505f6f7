# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Indexes of images, on platforms that show the image that they took out of one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests

from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import running
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.lookup import (
    digest_in_service,
    require_app,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.records import (
    AppRecords,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from hosted_sandbox.registry.images import build_image
from unit.plugins.apps import Platform, plain, server
from unit.plugins.responder import responding

__all__ = ["plain", "server"]
DECLARE, DEPLOY = "releases.declare", "apps.deploy"
VALUES = [
    {"image_ref.digest": shown, "scan.digest": scanned}
    for shown, scanned in [
        ("the declared one", "the declared one"),
        ("that of the platform's image", "the declared one"),
        ("the declared one", "that of the platform's image"),
        ("that of the platform's image", "that of the platform's image"),
    ]
]


def push_index(platform: Platform, folder: Path, tag: str) -> str:
    """Push an index of images for two platforms, as docker buildx does, and return its digest."""
    digest = build_image(folder / tag, {"app/server": tag.encode()}, architecture=["amd64", "arm64"])
    login = platform.sandbox.api("GET", "/api/registry/credentials").json()
    name = f"http://{login['host']}/v2/{login['project']}/shop"
    send(folder / tag, name, (login["username"], login["secret"]), digest, tag)
    return digest


def send(layout: Path, name: str, auth: tuple[str, str], digest: str, tag: str) -> None:
    """Push what an index refers to, and the index under its tag."""
    session = requests.Session()
    session.auth = auth
    blobs = layout / "blobs" / "sha256"
    for blob in blobs.iterdir():
        answer = session.post(f"{name}/blobs/uploads/?digest=sha256:{blob.name}", data=blob.read_bytes())
        assert answer.status_code == 201
    index = json.loads((blobs / digest.partition(":")[2]).read_bytes())
    for part in [*index["manifests"], {"digest": digest, "mediaType": index["mediaType"]}]:
        body = (blobs / part["digest"].partition(":")[2]).read_bytes()
        reference = tag if part["digest"] == digest else part["digest"]
        headers = {"Content-Type": part["mediaType"]}
        answer = session.put(f"{name}/manifests/{reference}", data=body, headers=headers)
        assert answer.status_code == 201, answer.text


@pytest.mark.parametrize("fill", VALUES, ids=["neither", "list", "scan", "both"])
def test_an_index_is_deployed_once(plain: Platform, tmp_path: Path, fill: dict[str, str]) -> None:
    """What the platform took out of it is the image that was asked for, so a second run does nothing."""
    plain.sandbox.profile("plain", **fill)
    first, second = (push_index(plain, tmp_path, tag) for tag in ("one", "two"))
    for tag, digest in (("one", first), ("two", second)):
        release = plain.run(APP_RELEASE, tag=tag, digest=digest)
        assert release["changed"] and not release.get("failed"), release.get("msg")
        assert not plain.run(APP_RELEASE, tag=tag, digest=digest)["changed"]
        deployed = plain.run(APP_DEPLOY, tag=tag, digest=digest)
        assert deployed["changed"] and not deployed.get("failed"), deployed.get("msg")
        again = plain.run(APP_DEPLOY, tag=tag, digest=digest)
        assert not again["changed"] and not again.get("failed"), again.get("msg")
    assert plain.writes(DECLARE) == [201, 201] and plain.writes(DEPLOY) == [200, 200]
    app = plain.run(APP_INFO, include=["releases"])["apps"][0]
    assert app["previous_release"]["tag"] == "one"
    assert [release["tag"] for release in app["releases"] if release["in_service"]] == ["two"]
    assert plain.run(APP_DEPLOY, tag="one")["changed"]
    assert plain.run(APP_INFO, include=["releases"])["apps"][0]["previous_release"] is not None


@pytest.mark.parametrize("fill", VALUES, ids=["neither", "list", "scan", "both"])
def test_another_controller_knows_an_index_too(
    plain: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: dict[str, str]
) -> None:
    """Its records are empty; the registry tells what the index holds."""
    plain.sandbox.profile("plain", **fill)
    digest = push_index(plain, tmp_path, "one")
    assert plain.run(APP_RELEASE, tag="one", digest=digest)["changed"]
    assert plain.run(APP_DEPLOY, tag="one", digest=digest)["changed"]
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "elsewhere"))
    assert not plain.run(APP_DEPLOY, tag="one", digest=digest)["changed"]
    unnamed = plain.run(APP_DEPLOY, tag="one")
    assert not unnamed["changed"] and unnamed["deployment"]["digest"] == digest
    assert plain.run(APP_DEPLOY, tag="v2")["changed"], "another image is another one"
    assert plain.in_service == plain.digests["v2"]


def test_an_index_is_known_in_the_list_of_all_applications(
    plain: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The registry is asked about the application at hand, also where the task names none."""
    plain.sandbox.profile("plain", **VALUES[2])
    digest = push_index(plain, tmp_path, "one")
    assert plain.run(APP_RELEASE, tag="one", digest=digest)["changed"]
    assert plain.run(APP_DEPLOY, tag="one", digest=digest)["changed"]
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "elsewhere"))
    releases = plain.run(APP_INFO, slug=None, include=["releases"])["apps"][0]["releases"]
    assert [release["digest"] for release in releases if release["tag"] == "one"] == [digest]


def test_an_index_that_does_not_start_is_rolled_back(plain: Platform, tmp_path: Path) -> None:
    """To the index before."""
    plain.sandbox.profile("plain", **VALUES[3])
    digest = push_index(plain, tmp_path, "one")
    assert plain.run(APP_RELEASE, tag="one", digest=digest)["changed"]
    assert plain.run(APP_DEPLOY, tag="one", digest=digest)["changed"]
    failed = plain.run(APP_DEPLOY, tag="broken", rollback=True)
    assert failed["failed"] and failed["rolled_back"] and digest in failed["rollback"], failed
    assert not plain.run(APP_DEPLOY, tag="one", digest=digest)["changed"]


@pytest.mark.parametrize("fill", VALUES, ids=["neither", "list", "scan", "both"])
def test_an_index_that_was_deployed_meanwhile_is_left_alone(
    plain: Platform, tmp_path: Path, fill: dict[str, str]
) -> None:
    """The registry tells that the image which the platform shows is in none of the indexes at hand."""
    plain.sandbox.profile("plain", **fill)
    tags = ("one", "two", "hotfix")
    for tag in tags:
        assert plain.run(APP_RELEASE, tag=tag, digest=push_index(plain, tmp_path, tag))["changed"]
    assert plain.run(APP_DEPLOY, tag="one")["changed"]

    def answer(number: int) -> int:
        if number == 2:
            plain.sandbox.api("POST", "/api/apps/shop/deploy", {"tag": "hotfix"})
        return 500

    with responding(answer) as workload:
        check = {"url": workload.url, "timeout": 3, "interval": 0.1}
        result = plain.run(APP_DEPLOY, tag="two", health_check=check, rollback=True)
    assert f"{plain.in_service} was put in service meanwhile" in result["msg"]
    deploys = plain.sandbox.journal(DEPLOY)
    assert [line["body"]["tag"] for line in deploys] == list(tags)


@pytest.mark.parametrize("fill", VALUES, ids=["neither", "list", "scan", "both"])
def test_an_index_that_cannot_be_looked_into_is_rolled_back(
    plain: Platform, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fill: dict[str, str]
) -> None:
    """What the platform shows may be its image, so it is not taken for a version of somebody else."""
    plain.sandbox.profile("plain", **fill, **{"refusal.start_failed": "422"})
    digest = push_index(plain, tmp_path, "one")
    assert plain.run(APP_RELEASE, tag="one", digest=digest)["changed"]
    plain.sandbox.operator(f"services/{plain.app['id']}", start_fails=True)
    monkeypatch.setattr(running, "images_in", lambda *_of: None)
    failed = plain.run(APP_DEPLOY, tag="one", rollback=True)
    assert failed["failed"] and "meanwhile" not in failed["msg"]
    tags = [line["body"]["tag"] for line in plain.sandbox.journal(DEPLOY)]
    assert tags == ["one", "v1"]


@pytest.mark.parametrize("seed", [24, 27, 31, 36])
def test_a_life_on_platforms_of_all_kinds(plain: Platform, tmp_path: Path, seed: int) -> None:
    """Each task changes something once, whatever the specification leaves open is filled with."""
    plain.sandbox.profile(f"random:{seed}", **{"list.lag": "at once"})
    outcomes = []
    for tag in ("one", "two"):
        digest = push_index(plain, tmp_path, tag)
        for resource, wish in (
            (APP_RELEASE, {"tag": tag, "digest": digest}),
            (ENVIRONMENT, {"variables": {"VERSION": tag, "TEXT": "${VAR:-x}"}}),
            (APP_DEPLOY, {"tag": tag, "digest": digest}),
        ):
            results = [plain.run(resource, **wish) for _again in range(2)]
            assert [result.get("msg") for result in results if result.get("failed")] == []
            outcomes.append([result["changed"] for result in results])
    assert outcomes == [[True, False]] * 6
    assert len(plain.writes()) == 6, "one declaration, one environment and one deploy for each"
    failed = plain.run(APP_DEPLOY, tag="broken", rollback=True)
    assert failed["failed"] and failed["rolled_back"] and digest in failed["rollback"]
    assert not plain.run(APP_DEPLOY, tag="two", digest=digest)["changed"]


def image(letter: str) -> str:
    """Return a digest that no release has."""
    return f"sha256:{letter * 64}"


@pytest.mark.parametrize(
    ("index", "found"),
    [("d", "d"), ("c", "c"), ("b", "5"), (None, "5")],
    ids=["last", "previous", "older", "none"],
)
def test_an_image_of_a_long_history_is_looked_for_in_its_end(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, index: str | None, found: str
) -> None:
    """In the last two, between which others may have rolled back: each look takes calls to the registry."""
    looked: list[str] = []

    def images_in(_task: object, _slug: str, digest: str) -> frozenset[str]:
        looked.append(digest)
        return frozenset([image("5")] if index and digest == image(index) else [])

    monkeypatch.setattr(running, "images_in", images_in)
    task = plain.task(APP_DEPLOY, tag="v1")
    app = require_app(task)
    for letter in "abcd":
        AppRecords.of(task, app.id).record_deploy(image(letter))
    shown = running.with_digest(app, image("5"))
    assert digest_in_service(running.as_declared(task, shown)) == image(found)
    assert set(looked) <= {image(letter) for letter in "5cd"} and len(looked) == len(set(looked))
