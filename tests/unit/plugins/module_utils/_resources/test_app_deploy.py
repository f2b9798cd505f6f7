# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deploys on a server: what runs decides, what is not healthy goes back, and images are pushed whole."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources import app_deploy
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import rollout
from hosted_sandbox.registry.images import build_image
from integration.proxy_server import ProxyServer, running
from unit.plugins.apps import Platform, plain, platform, server
from unit.plugins.responder import responding

__all__ = ["plain", "platform", "server"]
DEPLOY = "apps.deploy"


def tags_deployed(plain: Platform) -> list[str]:
    return [line["body"]["tag"] for line in plain.sandbox.journal(DEPLOY)]


def befall(plain: Platform, *faults: str) -> None:
    """Let one deploy after the other meet a fault, such as ``409``, ``504 done`` if the platform carries it
    out all the same, or ``423 on`` for all that follow.
    """
    for nth, fault in enumerate(faults, 1):
        kind, *how = fault.split()
        given = {"status": int(kind)} if kind.isdigit() else {}
        when = {"when": "after"} if "done" in how else {}
        count = {"count": None} if "on" in how else {}
        plain.sandbox.fault(DEPLOY, "status" if given else kind, nth=nth, **given, **when, **count)


@pytest.mark.parametrize(
    ("faults", "outcome", "deployed"),
    [
        (["500"], "done", "v2 v2"),
        (["504"], "done", "v2 v2"),
        (["502 done"], "done", "v2 v2"),
        (["reset"], "done", "v2 v2"),
        (["reset done"], "shown", "v2"),
        (["truncated"], "shown", "v2"),
        (["html done"], "shown", "v2"),
        (["504 done", "423", "423", "423"], "done", "v2 v2 v2 v2 v2"),
        (["504", "409 on"], "open", "v2 v2"),
        (["504 done", "409 on"], "open", "v2 v2"),
        (["504 done", "423", "504 done"], "open", "v2 v2 v2"),
        (["502 done", "504 done"], "open", "v2 v2"),
        (["524 done", "524 done"], "open", "v2 v2"),
        (["reset", "reset"], "open", "v2 v2"),
        (["504 done", "500 done"], "rolled back", "v2 v2 v1"),
        (["reset", "403"], "rolled back", "v2 v2 v1"),
        (["403"], "rolled back", "v2"),
        (["404"], "rolled back", "v2"),
        (["401 on"], "failed", "v2"),
    ],
)
def test_after_a_fault_what_runs_decides(
    plain: Platform, faults: list[str], outcome: str, deployed: str
) -> None:
    """And the call is made twice at most. Nothing is rolled back over what the platform may still be at.

    The next run deploys again what was not seen to run.
    """
    befall(plain, *faults)
    result = plain.run(APP_DEPLOY, tag="v2", rollback=True)
    if result.get("failed"):
        told = "rolled back" if result.get("rolled_back") else "failed"
        told = "open" if result.get("unconfirmed") else told
    else:
        told = "shown" if "warnings" in result else "done"
    assert told == outcome, result.get("msg")
    assert tags_deployed(plain) == deployed.split()
    plain.sandbox.clear_faults()
    tag = "v1" if outcome in ("failed", "rolled back") else "v2"
    assert plain.run(APP_DEPLOY, tag=tag)["changed"] is (outcome in ("open", "shown"))
    assert plain.in_service == plain.digests[tag]


@pytest.mark.parametrize(("status", "known"), [("409", False), ("422", True)])
def test_a_retry_may_say_that_the_version_does_not_start(plain: Platform, status: str, known: bool) -> None:
    """A conflict may be one with the first attempt, so the outcome stays open and nothing is rolled back."""
    plain.sandbox.profile("plain", **{"refusal.start_failed": status})
    plain.sandbox.fault(DEPLOY, "status", status=504, when="after")
    result = plain.run(APP_DEPLOY, tag="broken", rollback=True)
    assert result["failed"] and "exited with code 1" in result["msg"]
    assert result.get("rolled_back") is (True if known else None)
    assert tags_deployed(plain) == ["broken", "broken", *(["v1"] if known else [])]


@pytest.mark.parametrize("rollback", [True, False])
@pytest.mark.parametrize("status", ["409", "422"])
def test_nothing_is_rolled_back_over_a_version_that_was_deployed_meanwhile(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, status: str, rollback: bool
) -> None:
    """By another run, before this one learns that its own version does not start."""
    plain.sandbox.profile("plain", **{"refusal.start_failed": status})
    hotfix = plain.digests["blocked"]
    plain.sandbox.operator("scans/shop", digest=hotfix, lift="ok")
    send = Client.send

    def deploy(client: Client, route: Any, **given: Any) -> Any:
        try:
            return send(client, route, **given)
        finally:
            if route is r.APP_DEPLOY and given["body"] == {"tag": "broken"}:
                assert not plain.run(APP_DEPLOY, tag="blocked").get("failed")

    monkeypatch.setattr(Client, "send", deploy)
    result = plain.run(APP_DEPLOY, tag="broken", rollback=rollback)
    assert plain.in_service == hotfix and "v1" not in tags_deployed(plain)
    assert result["failed"] and f"{hotfix} was put in service meanwhile" in result["msg"]
    assert ("so nothing was rolled back" in result["msg"]) is rollback
    assert result.get("rolled_back") is (False if rollback else None)
    assert not plain.run(APP_DEPLOY, tag="blocked")["changed"], "it runs, and nothing is noted against it"


UNDONE = {"deploy.failed": "the previous version runs again"}


@pytest.mark.parametrize(
    "values", [{}, {"refusal.start_failed": "409"}, {"delay": "a second late"}], ids=["502", "409", "late"]
)
def test_a_failed_deploy_that_the_platform_undoes_has_restarted_it(
    plain: Platform, values: dict[str, str]
) -> None:
    """What is in service is what was, and users were cut off all the same (Applications, rule 5)."""
    plain.sandbox.clock(advance=60)
    plain.sandbox.profile("plain", **UNDONE, **values)
    result = plain.run(APP_DEPLOY, tag="broken", token=plain.sandbox.token)
    assert result["failed"] and result["changed"] and plain.in_service == plain.digests["v1"]
    assert f"{plain.digests['v1']} is shown as in service, as before, but it was restarted" in result["msg"]


def test_a_deploy_that_was_not_seen_to_succeed_is_made_again(platform: Platform) -> None:
    """The list shows the image as the one in service all the same. Check mode says so, with the reason."""
    platform.sandbox.operator(f"services/{platform.app['id']}", start_fails=True)
    failed = platform.run(APP_DEPLOY, tag="v2")
    assert failed["failed"]
    platform.sandbox.operator(f"services/{platform.app['id']}", start_fails=False)
    sent = len(platform.writes())
    planned = platform.run(APP_DEPLOY, check_mode=True, tag="v2")
    assert planned["changed"] and len(platform.writes()) == sent
    again = platform.run(APP_DEPLOY, tag="v2")
    assert again["changed"] and again["actions"] == planned["actions"] and not again.get("failed")
    if platform.sandbox.control("GET", "/profile")["values"]["deploy.failed"] == "the new version, stopped":
        assert "was not seen to succeed" in again["diff"]["before"]
        assert "was not seen to succeed" in again["actions"][0]
    assert platform.writes()[sent:] in ([200], [201], [202], [204])
    assert platform.record["container"]["state"] in ("running", "starting")
    assert not platform.run(APP_DEPLOY, tag="v2")["changed"]


def test_uptime_tells_that_a_refused_deploy_has_touched_nothing(plain: Platform) -> None:
    """Whatever the reason is. A token that does not show it leaves that open."""
    plain.sandbox.clock(advance=60)
    plain.sandbox.fault(DEPLOY, "status", status=409)
    seen = plain.run(APP_DEPLOY, tag="v2", rollback=True, token=plain.sandbox.token)
    assert seen["failed"] and not seen["changed"] and seen["rolled_back"] and tags_deployed(plain) == ["v2"]
    assert not plain.run(APP_DEPLOY, tag="v1")["changed"]
    plain.sandbox.clear_faults()
    plain.sandbox.fault(DEPLOY, "status", status=409)
    unseen = plain.run(APP_DEPLOY, tag="v2", rollback=True)
    assert unseen["failed"] and unseen["rolled_back"] and tags_deployed(plain) == ["v2", "v2", "v1"]


@contextmanager
def shown_on_success(plain: Platform, tag: str = "broken", reads: int = 1_000) -> Iterator[str]:
    """Yield the address of a platform that goes on to list v1 while a version does not start.

    ``reads`` is how many times; after that, the list is no longer late.
    """
    left = reads

    def change(content: bytes) -> bytes:
        nonlocal left
        new, old = (f"@{plain.digests[name]}".encode() for name in (tag, "v1"))
        if new not in content or left <= 0:
            return content
        left -= 1
        return content.replace(new, old)

    with running(ProxyServer(plain.sandbox, change=change)) as server:
        yield server.url


def where_starts_fail(plain: Platform, status: str, full: bool) -> dict[str, Any]:
    """Let starts be refused with a status; return the options of a token that shows uptimes, or of none."""
    plain.sandbox.profile("plain", **{"refusal.start_failed": status})
    plain.sandbox.clock(advance=60)
    return {"token": plain.sandbox.token} if full else {}


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("status", ["409", "422"])
def test_an_application_that_may_be_down_is_deployed_by_the_next_run(
    plain: Platform, status: str, full: bool
) -> None:
    given = where_starts_fail(plain, status, full)
    with shown_on_success(plain) as url:
        failed = plain.run(APP_DEPLOY, tag="broken", base_url=url, **given)
        assert failed["failed"] and "The next run deploys it again, or another version" in failed["msg"]
        assert f"{plain.digests['v1']} is in service" not in failed["msg"]
        again = plain.run(APP_DEPLOY, tag="v1", base_url=url, **given)
    assert again["changed"] and not again.get("failed")
    assert plain.record["container"]["state"] == "running" and plain.in_service == plain.digests["v1"]


def test_what_is_brought_back_is_an_image_that_ran(plain: Platform) -> None:
    """Not the one in service, when that did not come up."""
    assert plain.run(APP_DEPLOY, tag="broken")["failed"]
    plain.sandbox.fault(DEPLOY, "status", status=500, count=2)
    result = plain.run(APP_DEPLOY, tag="v2", rollback=True)
    assert result["rolled_back"] and plain.digests["v1"] in result["rollback"]
    assert plain.in_service == plain.digests["v1"]


@pytest.mark.parametrize(("tag", "refused"), [("v2", False), ("blocked", True)])
def test_a_controller_that_keeps_no_files_deploys(
    plain: Platform, tmp_path: Path, tag: str, refused: bool
) -> None:
    """With a word on what the next run cannot know. What was refused has no record to take back."""
    (tmp_path / "file").touch()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ANSIBLE_HOME", str(tmp_path / "file"))
        result = plain.run(APP_DEPLOY, tag=tag)
    assert bool(result.get("failed")) is refused and result["changed"] is not refused
    assert ("CVE-2024-21626" in result.get("msg", "")) is refused
    assert "not known to the next one" in result["warnings"][0]


def test_the_image_before_comes_back_although_its_tag_moved(plain: Platform) -> None:
    """It is declared under a tag of its own then."""
    plain.run(APP_RELEASE, tag="v1", digest=plain.digests["broken"])
    result = plain.run(APP_DEPLOY, tag="v1", rollback=True)
    assert result["failed"] and result["rolled_back"]
    assert f"rollback-{plain.digests['v1'][7:19]}" in result["rollback"]
    assert plain.in_service == plain.digests["v1"]


def test_a_rollback_whose_response_was_lost_was_not_seen_to_run(plain: Platform) -> None:
    plain.sandbox.fault(DEPLOY, "reset", nth=3, when="after")
    result = plain.run(APP_DEPLOY, tag="broken", rollback=True)
    assert result["failed"] and plain.in_service == plain.digests["v1"]
    assert "Rolled back" not in result["rollback"] and "is in service again" in result["rollback"]
    assert "whether it runs is not known" in result["rollback"] and result["rolled_back"]
    planned = plain.run(APP_DEPLOY, check_mode=True, tag="v1")
    assert "was not seen to succeed" in planned["actions"][0]


@pytest.mark.parametrize("count", [1, 2])
def test_an_image_that_was_shown_all_the_time_proves_no_rollback(plain: Platform, count: int) -> None:
    """So it is deployed once more if the response was lost, and that decides."""
    plain.sandbox.fault(DEPLOY, "reset", nth=3, count=count, when="after")
    with shown_on_success(plain) as url:
        result = plain.run(APP_DEPLOY, tag="broken", rollback=True, base_url=url)
    assert result["failed"] and tags_deployed(plain) == ["broken", "broken", "v1", "v1"]
    assert result["rolled_back"] is (count == 1)


@pytest.mark.parametrize("lost", [{"kind": "reset"}, {"kind": "status", "status": 502}])
def test_a_lost_answer_that_nothing_can_be_read_after_leaves_the_outcome_open(
    plain: Platform, lost: dict[str, Any]
) -> None:
    """The error of the read alone would not say that there may be another release in service."""
    reads_before = 2
    plain.sandbox.fault(DEPLOY, when="after", **lost)
    plain.sandbox.fault("GET /api/apps", "status", status=401, nth=reads_before + 1, count=None)
    result = plain.run(APP_DEPLOY, tag="v2")
    assert result["failed"] and "whether release 'v2' was deployed is unknown" in result["msg"]
    assert "GET /api/apps" in result["msg"] and len(result["unconfirmed"]) == 1
    plain.sandbox.clear_faults()
    assert len(plain.writes(DEPLOY)) == 1 and plain.in_service == plain.digests["v2"]
    assert [plain.run(APP_DEPLOY, tag="v2")["changed"] for __ in range(2)] == [True, False]


@contextmanager
def hotfix_before_the_verdict(plain: Platform) -> Iterator[list[dict[str, Any]]]:
    """Let another run deploy v2 while a task waits for the verdict on `broken`, which comes after that."""
    hotfixes: list[dict[str, Any]] = []

    def other_run() -> None:
        hotfixes.append(plain.run(APP_DEPLOY, tag="v2"))
        plain.sandbox.operator("scans/shop", digest=plain.digests["broken"], status="PASSED")

    plain.sandbox.operator("scans/shop", digest=plain.digests["broken"], status="PENDING")
    timer = threading.Timer(0.5, other_run)
    timer.start()
    try:
        yield hotfixes
    finally:
        timer.join()


@pytest.mark.night
@pytest.mark.real_time
@pytest.mark.parametrize("where", ["before the deploy", "at the deploy"])
def test_a_hotfix_that_was_deployed_during_the_wait_for_the_verdict_comes_back(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Not what was in service before the wait: the hotfix is the last good version by then."""
    plain.sandbox.delays(scan_wait=0)
    if where == "at the deploy":
        monkeypatch.setattr(app_deploy, "await_verdict", lambda task, report, *rest: report)
    with hotfix_before_the_verdict(plain) as hotfixes:
        result = plain.run(APP_DEPLOY, tag="broken", rollback=True, wait_timeout=60)
    assert [hotfix["changed"] and not hotfix.get("failed") for hotfix in hotfixes] == [True]
    assert result["failed"] and result["rolled_back"]
    assert plain.digests["v2"] in result["rollback"] and plain.digests["v1"] not in result["msg"]
    assert plain.in_service == plain.digests["v2"] and "v1" not in tags_deployed(plain)
    assert not plain.run(APP_DEPLOY, tag="v2")["changed"], "it is known to run"


QUICK = {"timeout": 0.3, "interval": 0.1}


def test_a_release_is_healthy_once_it_responds(plain: Platform) -> None:
    """Check mode requests nothing; each run does, also one that changes nothing."""
    with responding(lambda number: 200 if number > 2 else 503) as workload:
        check = {"url": workload.url, "timeout": 10, "interval": 0.1}
        planned = plain.run(APP_DEPLOY, check_mode=True, tag="v2", health_check=check)
        assert workload.requests == []
        deployed = plain.run(APP_DEPLOY, tag="v2", health_check=check)
        assert len(workload.requests) == 3
        assert not any("Authorization" in headers for _path, headers in workload.requests)
        again = plain.run(APP_DEPLOY, tag="v2", health_check=check)
        assert len(workload.requests) == 4
    assert [deployed["changed"], again["changed"]] == [True, False]
    assert deployed["actions"] == planned["actions"] and len(deployed["actions"]) == 1
    assert plain.in_service == plain.digests["v2"]


def test_without_rollback_it_stays_and_stays_red(plain: Platform) -> None:
    """A later run deploys it again, and does not take it for a good one to roll back to."""
    with responding(lambda number: 500) as workload:
        check = {"url": workload.url, **QUICK}
        first = plain.run(APP_DEPLOY, tag="v2", health_check=check)
        later = plain.run(APP_DEPLOY, tag="v2", health_check=check, rollback=True)
    assert first["failed"] and first["changed"] and "It stays in service" in first["msg"]
    assert "not seen to succeed" in later["actions"][0]
    assert later["failed"] and later["rolled_back"] and plain.in_service == plain.digests["v1"]


def test_a_release_that_was_in_service_is_never_rolled_back(plain: Platform) -> None:
    with responding(lambda number: 200 if number == 1 else 500) as workload:
        check = {"url": workload.url, **QUICK}
        plain.run(APP_DEPLOY, tag="v2", health_check=check)
        later = plain.run(APP_DEPLOY, tag="v2", health_check=check, rollback=True)
    assert later["failed"] and not later["changed"] and "It stays in service" in later["msg"]
    assert plain.in_service == plain.digests["v2"] and len(plain.writes()) == 1


def test_a_version_whose_check_was_cut_off_is_not_a_good_one(
    plain: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody saw it respond, so the next version that does not start is not rolled back to it."""

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(rollout, "await_healthy", killed)
        plain.run(APP_DEPLOY, tag="v2", health_check={"url": "http://localhost:1", **QUICK})
    assert plain.in_service == plain.digests["v2"]
    failed = plain.run(APP_DEPLOY, tag="broken", rollback=True)
    assert failed["rolled_back"] and plain.in_service == plain.digests["v1"]


@pytest.mark.parametrize("rollback", [True, False])
def test_a_version_that_was_deployed_meanwhile_is_left_alone(plain: Platform, rollback: bool) -> None:
    """A hotfix of another run, while the first one still waits for its own version to respond."""
    hotfix = plain.digests["blocked"]
    plain.sandbox.operator("scans/shop", digest=hotfix, lift="ok")
    others: list[dict[str, Any]] = []

    def answer(number: int) -> int:
        if number == 2:
            others.append(plain.run(APP_DEPLOY, tag="blocked"))
        return 500

    with responding(answer) as workload:
        check = {"url": workload.url, "timeout": 3, "interval": 0.1}
        result = plain.run(APP_DEPLOY, tag="v2", health_check=check, rollback=rollback)
    assert [other["changed"] and not other.get("failed") for other in others] == [True]
    assert plain.in_service == hotfix and len(plain.writes("apps.deploy")) == 2
    assert result["failed"] and f"{hotfix} was put in service meanwhile" in result["msg"]
    assert "It stays in service" not in result["msg"] and "Rolled back" not in result["msg"]
    assert ("so nothing was rolled back" in result["msg"]) is rollback
    assert result.get("rolled_back") is (False if rollback else None)
    again = plain.run(APP_DEPLOY, tag="blocked")
    assert not again["changed"], "nothing is noted against the version of the other run"


def build(path: Path, content: str = "1", **made_of: Any) -> str:
    """Build an image with a layer of packages below one of its own."""
    made_of.setdefault("packages", [("zlib", "1:1.3")])
    return build_image(path, {"app/server": content.encode()}, **made_of)


def registry_holds(plain: Platform, digest: str) -> bool:
    return not plain.run(APP_RELEASE, tag="probe", digest=digest).get("failed")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9])
def test_an_archive_that_is_cut_short_is_refused(plain: Platform, tmp_path: Path, share: float) -> None:
    """Wherever it was cut, before anything is sent."""
    path = tmp_path / "one.tar"
    digest = build(path, content=os.urandom(500_000).hex())
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    result = plain.run(APP_IMAGE, path=str(path))
    assert result["failed"] and "cut short" in result["msg"]
    assert not registry_holds(plain, digest)


def test_a_layer_that_was_changed_is_refused(plain: Platform, tmp_path: Path) -> None:
    """Its digest tells."""
    digest = build(tmp_path / "layout")
    largest = max((tmp_path / "layout" / "blobs" / "sha256").iterdir(), key=lambda path: path.stat().st_size)
    content = bytearray(largest.read_bytes())
    content[-1] ^= 1
    largest.write_bytes(content)
    result = plain.run(APP_IMAGE, path=str(tmp_path / "layout"))
    assert result["failed"] and "damaged" in result["msg"]
    largest.unlink()
    assert "lacks blobs/" in plain.run(APP_IMAGE, path=str(tmp_path / "layout"))["msg"]
    assert not registry_holds(plain, digest)


def test_a_manifest_with_a_wrong_size_is_refused(plain: Platform, tmp_path: Path) -> None:
    """Also where the registry has the part: it may not compare the size, and no node could pull the image."""
    layout = tmp_path / "layout"
    build(layout)
    assert plain.run(APP_IMAGE, path=str(layout))["changed"]
    index = json.loads((layout / "index.json").read_text())
    [entry] = index["manifests"]
    manifest = json.loads((layout / "blobs" / entry["digest"].replace(":", "/")).read_text())
    manifest["layers"][0]["size"] += 1
    content = json.dumps(manifest).encode()
    digits = hashlib.sha256(content).hexdigest()
    (layout / "blobs" / "sha256" / digits).write_bytes(content)
    entry.update(digest=f"sha256:{digits}", size=len(content))
    (layout / "index.json").write_text(json.dumps(index))
    result = plain.run(APP_IMAGE, path=str(layout))
    assert result["failed"] and "should have" in result["msg"]
    assert not registry_holds(plain, entry["digest"])


def test_an_application_that_is_missing_may_still_come(plain: Platform, tmp_path: Path) -> None:
    """Check mode looks at the image on disk all the same, and not into a repository that is not there."""
    digest = build(tmp_path / "one.tar")
    planned = plain.run(APP_IMAGE, check_mode=True, slug="blog", path=str(tmp_path / "one.tar"))
    assert planned["changed"] and planned["image"]["digest"] == digest
    assert "3 of 3 parts" in planned["actions"][0]
    (tmp_path / "one.tar").write_bytes((tmp_path / "one.tar").read_bytes()[:2000])
    cut = plain.run(APP_IMAGE, check_mode=True, slug="blog", path=str(tmp_path / "one.tar"))
    assert cut["failed"] and "cut short" in cut["msg"]
