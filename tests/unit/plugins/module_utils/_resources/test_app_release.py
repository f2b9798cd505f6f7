# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Releases: declared by digest, waited for, judged."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConnectionFailed,
    ServerFailure,
    error_for_status,
    leaves_open,
)
from ansible_collections.hosted.services.plugins.module_utils._api.registry import Repository
from ansible_collections.hosted.services.plugins.module_utils._resources import app_release
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import (
    release_list,
    releases,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import (
    repository as app_repository,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.image_copy import (
    ImageCopy,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import waiting
from hosted_sandbox.gaps import POINTS
from integration.proxy_server import ProxyServer, running
from unit.plugins.apps import Platform, plain, platform, push_again, server

__all__ = ["plain", "platform", "server"]
DECLARE = "releases.declare"
NOT_PUSHED = f"sha256:{'0' * 64}"


def test_the_digest_decides(platform: Platform) -> None:
    """Declared once, unchanged for the same image, declared again for another one."""
    wish: dict[str, Any] = {"tag": "new", "digest": platform.digests["v1"]}
    planned = platform.run(APP_RELEASE, check_mode=True, **wish)
    assert planned["changed"] and platform.writes() == []
    declared = platform.run(APP_RELEASE, **wish)
    again = platform.run(APP_RELEASE, **wish)
    assert [declared["changed"], again["changed"]] == [True, False]
    assert declared["actions"] == [f"declare release 'new' of application 'shop' as {wish['digest']}"]
    assert declared["release"]["scan_status"] == "PASSED" and declared["diff"]["before"] == ""
    moved = platform.run(APP_RELEASE, tag="new", digest=platform.digests["v2"])
    assert moved["changed"] and moved["release"]["warnings"][0]["fix_version"] == "1:1.2.11.dfsg-4.1"
    assert platform.digests["v1"] in moved["diff"]["before"]
    assert platform.digests["v2"] in moved["diff"]["after"]
    assert not platform.run(APP_RELEASE, tag="new", digest=platform.digests["v2"])["changed"]
    assert len(platform.writes()) == 2
    assert platform.uses_only_application_routes()


def test_what_is_blocked_is_declared_and_told(platform: Platform) -> None:
    """As data and as a sentence; the next run says the same and writes nothing."""
    wish: dict[str, Any] = {"tag": "new", "digest": platform.digests["blocked"]}
    first, second = platform.run(APP_RELEASE, **wish), platform.run(APP_RELEASE, **wish)
    for result in (first, second):
        assert result["failed"]
        assert "CVE-2024-21626 in runc 1.0.0~rc6" in result["msg"]
        assert "fixed in 1.1.5+ds1-1+deb12u1" in result["msg"]
        assert result["blocking"][0]["reason"] == "isolation"
        assert result["release"]["scan_status"] == "BLOCKED"
    assert [first["changed"], second["changed"]] == [True, False]
    assert not platform.run(APP_RELEASE, fail_on=[], **wish).get("failed")


@pytest.mark.parametrize(
    ("tag", "fail_on", "fails"),
    [
        ("v1", ["blocked", "warned", "failed", "critical", "high", "medium", "low"], False),
        ("v2", ["blocked", "failed", "high"], False),
        ("v2", ["warned"], True),
        ("v2", ["critical"], True),
        ("blocked", ["warned", "critical"], False),
        ("blocked", ["high"], True),
    ],
)
def test_the_user_has_limits_of_his_own(plain: Platform, tag: str, fail_on: list[str], fails: bool) -> None:
    """Verdicts and severities."""
    result = plain.run(APP_RELEASE, tag=tag, digest=plain.digests[tag], fail_on=fail_on)
    assert bool(result.get("failed")) is fails
    assert not result["changed"] and result["release"]["tag"] == tag


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ({"digest": "sha256:abc"}, "is not a digest"),
        ({"digest": "v1"}, "is not a digest"),
        ({"digest": f"sha256:{'A' * 64}"}, "is not a digest"),
        ({"tag": "a b"}, "'a b'"),
        ({"tag": ""}, "''"),
        ({"tag": "x" * 129}, "128"),
        ({"slug": "Shop"}, "lowercase"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(
    plain: Platform, wish: dict[str, Any], said: str
) -> None:
    """In check mode too."""
    given = {"tag": "new", "digest": plain.digests["v1"], **wish}
    assert said in plain.run(APP_RELEASE, check_mode=True, **given)["msg"]
    assert said in plain.run(APP_RELEASE, **given)["msg"]
    assert plain.writes() == []


def test_an_application_that_is_missing_may_still_come(plain: Platform) -> None:
    """For check mode, by an earlier task of the play; for real it is an error, with the near miss."""
    wish: dict[str, Any] = {"slug": "sshop", "tag": "new", "digest": NOT_PUSHED}
    result = plain.run(APP_RELEASE, **wish)
    assert result["failed"] and "did you mean 'shop'?" in result["msg"]
    planned = plain.run(APP_RELEASE, check_mode=True, **wish)
    assert planned["changed"] and planned["release"]["digest"] == NOT_PUSHED
    assert planned["warnings"] == [
        f"{result['msg']} That is right only if the play makes it before this task"
    ]
    assert plain.writes() == []


def test_an_image_that_was_not_pushed_is_told(platform: Platform) -> None:
    """With what to do, before anything is sent; check mode says the same, as far as it can know."""
    wish: dict[str, Any] = {"tag": "new", "digest": NOT_PUSHED}
    result = platform.run(APP_RELEASE, **wish)
    assert result["failed"] and not result["changed"]
    assert "was not declared" in result["msg"] and "app_image" in result["msg"]
    planned = platform.run(APP_RELEASE, check_mode=True, **wish)
    assert planned["changed"] and planned["warnings"][0].startswith(result["msg"])
    assert platform.run(APP_RELEASE, check_mode=True, pushed=True, **wish)["msg"] == result["msg"]
    assert platform.writes() == []
    assert platform.uses_only_application_routes()


def test_a_new_application_is_refused_if_its_image_should_be_there_and_is_not(platform: Platform) -> None:
    """It would be ordered for nothing: check mode, which a delivery begins with, tells it before."""
    wish: dict[str, Any] = {"slug": "sshop", "tag": "new", "digest": NOT_PUSHED, "pushed": True}
    planned = platform.run(APP_RELEASE, check_mode=True, **wish)
    assert planned["failed"] and f"/sshop holds no image {NOT_PUSHED}" in planned["msg"]
    assert "There is no application 'sshop' yet either" in planned["msg"]
    assert platform.writes() == []


@pytest.mark.parametrize(("status", "refused"), [(401, True), (403, True), (500, False)])
def test_a_registry_that_denies_an_unknown_repository_has_no_image_in_it(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, status: int, refused: bool
) -> None:
    """It need not say 404. One that is out of order tells nothing, and the check is left to the platform."""

    def deny(self: Repository, reference: str) -> str | None:
        raise ServerFailure("denied") if leaves_open(status) else error_for_status("denied", status)

    monkeypatch.setattr(Repository, "digest_of", deny)
    wish: dict[str, Any] = {"tag": "new", "digest": plain.digests["v1"], "pushed": True}
    assert bool(plain.run(APP_RELEASE, check_mode=True, slug="sshop", **wish).get("failed")) is refused
    assert plain.run(APP_RELEASE, check_mode=True, **wish)["changed"]  # here it says nothing


def test_a_registry_that_cannot_be_asked_keeps_nobody_from_declaring(
    plain: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The platform checks the digest then, and its refusal says as much."""

    def unreachable(task: Any, slug: str) -> Any:
        raise ConnectionFailed("the registry cannot be reached")

    monkeypatch.setattr(app_repository, "open_repository", unreachable)
    assert plain.run(APP_RELEASE, tag="new", digest=plain.digests["v1"])["changed"]
    result = plain.run(APP_RELEASE, tag="other", digest=NOT_PUSHED)
    assert result["failed"] and not result["changed"]
    assert "was not declared" in result["msg"] and "app_image" in result["msg"]
    assert len(plain.writes(DECLARE)) == 2


def test_a_tag_that_may_not_move_is_told(plain: Platform) -> None:
    """With what it names; a new tag has nothing to do with that."""
    plain.sandbox.fault(DECLARE, "status", status=409, count=None)
    moved = plain.run(APP_RELEASE, tag="v2", digest=plain.digests["v1"])
    assert moved["failed"] and f"names {plain.digests['v2']} now" in moved["msg"]
    assert "declare a new one" in moved["msg"] and not moved["changed"]
    assert "declare a new one" not in plain.run(APP_RELEASE, tag="v3", digest=plain.digests["v1"])["msg"]


def scan(platform: Platform, tag: str, status: str) -> None:
    platform.sandbox.operator("scans/shop", digest=platform.digests[tag], status=status)


def test_a_verdict_that_does_not_come_ends_the_wait(platform: Platform) -> None:
    """In time, although the platform holds back its answer; nothing is declared twice."""
    scan(platform, "v2", "PENDING")
    result = platform.run(APP_RELEASE, tag="new", digest=platform.digests["v2"], wait_timeout=1)
    assert result["failed"] and result["changed"] and "wait_timeout" in result["msg"]
    assert len(platform.writes(DECLARE)) == 1


@pytest.mark.parametrize("told", [True, False], ids=["list with digests", "list of tags"])
@pytest.mark.parametrize("check_mode", [True, False], ids=["check", "run"])
def test_a_verdict_that_nobody_waits_for_is_not_waited_for(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, told: bool, check_mode: bool
) -> None:
    """The platform holds back the scan; the list of releases may tell the digest, or not."""
    scan(plain, "v2", "PENDING")
    monkeypatch.setattr(releases, "QUICK_SCAN_SECONDS", 0.3)
    if not told:
        monkeypatch.setattr(release_list, "DIGEST_PATHS", ())
    result = plain.run(APP_RELEASE, check_mode, tag="v2", digest=plain.digests["v2"], wait=False)
    assert bool(result.get("failed")) is not told
    assert not result["changed"]
    assert (
        "Leave wait at true" in result["msg"] if not told else result["release"]["scan_status"] == "PENDING"
    )


@pytest.mark.parametrize("kind", ["reset", "truncated"])
def test_a_lost_answer_is_looked_into(plain: Platform, kind: str) -> None:
    """And the declaration is not sent again."""
    plain.sandbox.fault(DECLARE, kind, **({"when": "after"} if kind == "reset" else {}))
    result = plain.run(APP_RELEASE, tag="new", digest=plain.digests["v1"])
    assert result["changed"] and not result.get("failed")
    assert len(plain.writes(DECLARE)) == 1


def test_a_lost_call_is_told(plain: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was declared, and whether it will be nobody knows."""
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.0)
    plain.sandbox.fault(DECLARE, "reset")
    result = plain.run(APP_RELEASE, tag="new", digest=plain.digests["v1"])
    assert result["failed"] and "is unknown" in result["msg"]


@pytest.mark.parametrize("shape", POINTS["list.shape"].values)
def test_a_pushed_tag_that_was_not_declared_is_no_release(plain: Platform, shape: str) -> None:
    """A platform may know the scan of one all the same; the list of releases tells."""
    plain.sandbox.profile("plain", **{"scan.undeclared": "yes", "list.shape": shape})
    push_again(plain, "pushed", plain.digests["v1"])
    assert plain.digest_of("pushed") == plain.digests["v1"]
    wish: dict[str, Any] = {"tag": "pushed", "digest": plain.digests["v1"]}
    assert plain.run(APP_RELEASE, **wish)["changed"]
    assert not plain.run(APP_RELEASE, **wish)["changed"]
    assert len(plain.writes(DECLARE)) == 1


@pytest.mark.parametrize("kind", ["reset", "no_answer"])
def test_what_was_recorded_is_in_doubt_after_a_lost_declaration(plain: Platform, kind: str) -> None:
    """The platform may have moved the tag, so the way back is declared as well."""
    plain.sandbox.profile("plain", **{"release.fields": "tag only"})
    pushed: list[str] = []
    with scan_of_what_was_pushed(plain, pushed) as url:

        def release(image: str) -> dict[str, Any]:
            pushed.append(image)
            push_again(plain, "v1", plain.digests[image])
            return plain.run(APP_RELEASE, tag="v1", digest=plain.digests[image], base_url=url, timeout=2)

        assert release("v2")["changed"]
        plain.sandbox.fault(DECLARE, kind, **({"when": "after"} if kind == "reset" else {}))
        lost = release("v1")
        assert lost["failed"] and "is not known" in lost["msg"] and "Run this again" in lost["msg"]
        assert release("v2")["changed"]
        assert not release("v2")["changed"]
    plain.sandbox.profile("plain")
    assert listed(plain, "v1") == [plain.digests["v2"]] and len(plain.writes(DECLARE)) == 3


@contextmanager
def scan_of_what_was_pushed(plain: Platform, pushed: Sequence[str] = ("v2",)) -> Iterator[str]:
    """Yield the address of a platform whose scan of tag v1 is that of the image that was pushed last."""

    def change(content: bytes) -> bytes:
        if b'"scanVerdict"' not in content or json.loads(content)["tag"] != "v1":
            return content
        return re.sub(rb"sha256:[0-9a-f]{64}", plain.digests[pushed[-1]].encode(), content)

    with running(ProxyServer(plain.sandbox, change=change)) as server:
        yield server.url


def listed(plain: Platform, tag: str) -> list[str]:
    """Return the digests of a tag in the list of releases."""
    items = plain.sandbox.api("GET", "/api/apps/shop/releases").json()["items"]
    return [item["digest"] for item in items if item["tag"] == tag]


def test_a_tag_that_was_moved_in_the_registry_is_declared(plain: Platform) -> None:
    """The scan is that of the image that was pushed under the tag; the list says which one is declared."""
    wish: dict[str, Any] = {"tag": "v1", "digest": plain.digests["v2"]}
    with scan_of_what_was_pushed(plain) as url:
        planned = plain.run(APP_RELEASE, check_mode=True, base_url=url, **wish)
        assert planned["changed"] and plain.writes(DECLARE) == []
        first = plain.run(APP_RELEASE, base_url=url, **wish)
        assert first["changed"] and first["actions"] == planned["actions"], first.get("msg")
        assert first["actions"][0].endswith(f"in place of {plain.digests['v1']}")
        assert listed(plain, "v1") == [plain.digests["v2"]]
        assert not plain.run(APP_RELEASE, base_url=url, **wish)["changed"]
    assert len(plain.writes(DECLARE)) == 1


def test_a_tag_that_was_moved_in_the_registry_is_declared_where_the_list_does_not_tell(
    plain: Platform,
) -> None:
    """The scan is that of the image that was pushed under the tag, and no list says what is declared."""
    plain.sandbox.profile("plain", **{"release.fields": "tag only"})
    push_again(plain, "v1", plain.digests["v2"])
    wish: dict[str, Any] = {"tag": "v1", "digest": plain.digests["v2"]}
    with scan_of_what_was_pushed(plain) as url:
        assert [plain.run(APP_RELEASE, base_url=url, **wish)["changed"] for _run in range(2)] == [True, False]
    plain.sandbox.profile("plain")
    assert listed(plain, "v1") == [plain.digests["v2"]] and len(plain.writes(DECLARE)) == 1


def test_a_tag_that_is_listed_with_both_images_is_declared(plain: Platform) -> None:
    """Which of them was declared last, the list does not tell; nor does the scan of what was pushed."""
    plain.sandbox.profile("plain", **{"release.moved": "keeps both"})
    for tag in ("v2", "v1"):
        declared = plain.sandbox.api(
            "POST", "/api/apps/shop/releases", {"tag": "v1", "digest": plain.digests[tag]}
        )
        assert declared.ok
    push_again(plain, "v1", plain.digests["v2"])
    plain.sandbox.clear_journal()
    wish: dict[str, Any] = {"tag": "v1", "digest": plain.digests["v2"]}
    with scan_of_what_was_pushed(plain) as url:
        assert [plain.run(APP_RELEASE, base_url=url, **wish)["changed"] for _run in range(2)] == [True, False]
    assert [line["body"] for line in plain.sandbox.journal(DECLARE)] == [wish]


def test_a_scan_of_another_image_than_the_registry_names_is_that_of_the_release(plain: Platform) -> None:
    """So nothing has to be declared to find out."""
    plain.sandbox.profile("plain", **{"release.fields": "tag only"})
    push_again(plain, "v1", plain.digests["v2"])
    assert not plain.run(APP_RELEASE, tag="v1", digest=plain.digests["v1"])["changed"]
    assert plain.writes(DECLARE) == []


def test_the_list_tells_whether_a_lost_declaration_was_made(
    plain: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not the scan, which shows the image all the same."""
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.0)
    plain.sandbox.fault(DECLARE, "reset")
    with scan_of_what_was_pushed(plain) as url:
        result = plain.run(APP_RELEASE, tag="v1", digest=plain.digests["v2"], base_url=url)
    assert result["failed"] and "is unknown" in result["msg"]
    assert listed(plain, "v1") == [plain.digests["v1"]]


def test_a_tag_that_may_not_move_is_told_whatever_the_scan_shows(plain: Platform) -> None:
    plain.sandbox.fault(DECLARE, "status", status=409)
    with scan_of_what_was_pushed(plain) as url:
        result = plain.run(APP_RELEASE, tag="v1", digest=plain.digests["v2"], base_url=url)
    assert result["failed"] and f"names {plain.digests['v1']} now" in result["msg"]


def test_a_tag_that_is_listed_with_earlier_images_is_declared_once(plain: Platform) -> None:
    """A platform may keep what was declared under the tag before, in whatever order."""
    plain.sandbox.profile("plain", **{"release.moved": "keeps both"})
    for digest in ("v2", "broken"):
        wish: dict[str, Any] = {"tag": "v1", "digest": plain.digests[digest]}
        assert [plain.run(APP_RELEASE, **wish)["changed"] for _run in range(2)] == [True, False]
    assert len(plain.writes(DECLARE)) == 2


LATE = {"list.lag": "after one read"}


def test_a_release_that_is_listed_late_is_declared_once(plain: Platform) -> None:
    """The task that declares waits for the list, so the next one neither doubts it nor declares it again."""
    plain.sandbox.profile("plain", **LATE, **{"scan.undeclared": "yes"})
    push_again(plain, "new", plain.digests["v2"])
    wish: dict[str, Any] = {"tag": "new", "digest": plain.digests["v2"]}
    first, second = (plain.run(APP_RELEASE, **wish) for _run in range(2))
    assert first["changed"] and not second["changed"] and "warnings" not in {**first, **second}
    assert len(plain.writes(DECLARE)) == 1


def test_a_tag_that_is_listed_late_as_moved_is_declared_once(plain: Platform) -> None:
    """Until then the list shows the image before."""
    plain.sandbox.profile("plain", **LATE)
    wish: dict[str, Any] = {"tag": "v1", "digest": plain.digests["v2"]}
    assert [plain.run(APP_RELEASE, **wish)["changed"] for _run in range(2)] == [True, False]
    assert len(plain.writes(DECLARE)) == 1
    assert plain.run(APP_DEPLOY, tag="v1")["changed"] and plain.in_service == plain.digests["v2"]


def test_what_was_declared_is_recorded_for_as_long_as_the_list_lacks_it(
    plain: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next run on this controller does not declare it again. The task says that others may."""
    monkeypatch.setattr(app_release, "poll_for", lambda seen, *seconds: seen())
    plain.sandbox.profile("plain", **LATE)
    push_again(plain, "new", plain.digests["v2"])
    wish: dict[str, Any] = {"tag": "new", "digest": plain.digests["v2"]}
    first, second = (plain.run(APP_RELEASE, **wish) for _run in range(2))
    assert first["changed"] and "does not show it so" in first["warnings"][0]
    assert not second["changed"]
    deployed = plain.run(APP_DEPLOY, tag="new")
    assert deployed["changed"] and plain.in_service == plain.digests["v2"]
    assert len(plain.writes(DECLARE)) == 1
