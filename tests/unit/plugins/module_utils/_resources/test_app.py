# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications: created once, whatever becomes of the call, and what another run creates meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    TokenRejected,
    UnexpectedAnswer,
)
from ansible_collections.hosted.services.plugins.module_utils._resources import app
from ansible_collections.hosted.services.plugins.module_utils._resources.app import APP
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import waiting
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from hosted_sandbox.gaps import POINTS
from unit.plugins.apps import Platform, plain, platform, server

__all__ = ["plain", "platform", "server"]
CREATE = "apps.create"


def test_an_application_is_created_once(platform: Platform) -> None:
    wish: dict[str, Any] = {"slug": "blog", "host": "Paris 1", "project": "default", "max_monthly": "4"}
    created = platform.run(APP, **wish)
    assert platform.uses_only_application_routes()
    again = platform.run(APP, **wish)
    assert [created["changed"], again["changed"]] == [True, False]
    assert again["app"] == created["app"]
    assert created["app"]["digest"] is None and created["app"]["image_ref"] is None
    assert len(platform.writes()) == 1
    asked = {line["template"] for line in platform.sandbox.journal()}
    assert not any(path.startswith("/api/resources") for path in asked)


def test_what_was_quoted_is_what_is_created(plain: Platform) -> None:
    """Left open, the platform would choose node and size again, and bill what it then finds."""
    assert plain.run(APP, slug="blog", max_monthly="4")["changed"]
    [quote] = [line for line in plain.sandbox.journal() if line["route"] == "apps.quote"]
    [create] = [line for line in plain.sandbox.journal() if line["route"] == CREATE]
    assert quote["body"] == {"hostId": None, "dimensions": None}
    priced = {name: quote["answer"][name] for name in ("hostId", "dimensions")}
    assert priced == {name: create["body"][name] for name in priced} and all(priced.values())


def test_a_slug_of_another_account_is_told(platform: Platform) -> None:
    """Whatever the status of the refusal is."""
    theirs = {"Authorization": "Bearer sandbox-other-token"}
    assert platform.sandbox.api("POST", "/api/apps", {"slug": "theirs"}, headers=theirs).ok
    result = platform.run(APP, slug="theirs")
    assert result["failed"] and not result["changed"]
    assert "'theirs'" in result["msg"] and "another" in result["msg"] and "slug" in result["msg"]


@pytest.mark.parametrize("status", POINTS["refusal.status"].values)
def test_a_slug_of_an_application_that_is_being_deleted_is_told(plain: Platform, status: str) -> None:
    """It is neither taken for one that is there, nor for one of another account."""
    plain.sandbox.profile("plain", **{"delay": "a second late", "refusal.status": status})
    plain.sandbox.delays(delete=600)
    assert plain.sandbox.api("DELETE", f"/api/resources/{plain.app['id']}").ok
    plain.sandbox.clock(advance=1)  # until the list of applications shows it
    result = plain.run(APP)
    assert result["failed"] and not result["changed"]
    assert (
        "is still being deleted" in result["msg"]
        and "then run this again" in result["msg"]
        and "account" not in result["msg"]
    )


@pytest.mark.parametrize("kind", ["reset", "truncated", "html"])
def test_a_lost_answer_creates_no_second_one(plain: Platform, kind: str) -> None:
    """The application that appeared is adopted, and the call is never sent again."""
    options = {} if kind == "truncated" else {"when": "after"}
    plain.sandbox.fault(CREATE, kind, **options)
    result = plain.run(APP, slug="blog")
    assert result["changed"] and result["app"]["slug"] == "blog"
    assert len(plain.writes(CREATE)) == 1


def test_a_call_that_got_lost_is_not_repeated(plain: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing appears on the list, so the outcome is unknown."""
    monkeypatch.setattr(waiting, "QUIET_SECONDS", 0.0)
    plain.sandbox.fault(CREATE, "reset")
    result = plain.run(APP, slug="blog")
    assert result["failed"] and "is unknown" in result["msg"]
    assert plain.writes(CREATE) == [None]


@pytest.mark.parametrize("status", ["FAILED", "AWAITING_ADMIN"])
def test_a_creation_that_ended_badly_is_told(plain: Platform, status: str) -> None:
    """Waiting ends at once."""
    plain.sandbox.operator(f"services/{plain.app['id']}", status=status, reason="no disk")
    result = plain.run(APP)
    assert result["failed"] and status in result["msg"]


def test_a_creation_under_way_is_waited_for(plain: Platform) -> None:
    """Until it is over, or for as long as the user gave it."""
    plain.sandbox.operator(f"services/{plain.app['id']}", status="PROVISIONING")
    result = plain.run(APP, wait_timeout=0.3)
    assert result["failed"] and "PROVISIONING" in result["msg"]
    assert not plain.run(APP, wait=False).get("failed")


SIZE = {"cpu_cores": 1, "ram_gb": 1, "storage_gb": 5}


OTHERWISE: list[tuple[dict[str, Any], str]] = [
    ({"project": "web"}, "is in project 'default', not 'web'"),
    ({"dimensions": {**SIZE, "ram_gb": 3}}, "GB disk, not 1 vCPU, 3 GB"),
    ({"max_monthly": "3"}, " EUR a month, over max_monthly 3.00 EUR"),
]


def test_an_application_may_stay_provisioning_until_its_first_deploy(plain: Platform) -> None:
    """It is not waited for for ever."""
    plain.sandbox.profile("plain", **{"app.first_status": "PROVISIONING"})
    result = plain.run(APP, slug="blog", wait_timeout=600)
    assert result["changed"] and result["app"]["status"] == "PROVISIONING"
    assert "warnings" not in result


@pytest.mark.parametrize("wait", [True, False])
def test_an_application_that_is_listed_late_is_not_said_to_be_missing(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, wait: bool
) -> None:
    """It is created and billed, so that is what the error says."""
    monkeypatch.setattr(app, "QUIET_SECONDS", 0.0)
    plain.sandbox.profile("plain", **{"delay": "one read late"})
    result = plain.run(APP, slug="blog", wait=wait)
    assert result["failed"] and result["changed"]
    assert result["msg"].startswith("application 'blog' was created, but the list of applications")


@pytest.mark.parametrize("wait", [True, False])
def test_an_application_that_was_made_and_cannot_be_read_is_named(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, wait: bool
) -> None:
    """It is billed, so the error begins with that."""

    read = Account.apps

    def broken(account: Account) -> Any:
        if plain.writes(CREATE):
            raise UnexpectedAnswer("the platform repeats the cursor '5'; stopped")
        return read(account)

    monkeypatch.setattr(Account, "apps", broken)
    result = plain.run(APP, slug="blog", wait=wait)
    assert result["failed"] and result["changed"]
    assert result["msg"].startswith("application 'blog' was created, but its state is unknown: the platform")


# --- What another run creates in the meantime ---------------------------------------------------------

OUTRUN = {"before its turn": [], "in the same moment": [400]}
"""When another run is faster, and what the platform then answers this one."""
BIG = {"cpuCores": 2, "ramGb": 4, "storageGb": 10}


def outrun(monkeypatch: pytest.MonkeyPatch, platform: Platform, when: str) -> None:
    """Let another run create a big `blog` after this one has planned to create a small one."""

    def create_other() -> None:
        options = {"slug": "blog", "hostId": "node-paris-1", "dimensions": BIG}
        assert platform.sandbox.api("POST", "/api/apps", options).ok
        platform.sandbox.clear_journal()

    @contextmanager
    def in_turn(*given: Any) -> Iterator[bool]:
        create_other()
        yield True

    create = Client.create_app

    def create_too_late(client: Client, *given: Any) -> None:
        create_other()
        create(client, *given)

    if when == "before its turn":
        monkeypatch.setattr(app, "one_at_a_time", in_turn)
    else:
        monkeypatch.setattr(Client, "create_app", create_too_late)


@pytest.mark.parametrize("when", OUTRUN)
@pytest.mark.parametrize("wait", [True, False])
def test_an_application_of_another_run_is_no_change_of_this_one(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, when: str, wait: bool
) -> None:
    """Nor does it cost anything that this task would have to tell."""
    outrun(monkeypatch, plain, when)
    result = plain.run(APP, slug="blog", wait=wait, token=plain.sandbox.token)
    assert plain.writes(CREATE) == OUTRUN[when]
    assert (result["changed"], result["actions"]) == (False, [])
    assert "cost" not in result and result["app"]["slug"] == "blog" and result["app"]["id"]
    assert result["diff"]["before"] == result["diff"]["after"]
    assert len(result["warnings"]) == 1
    wish = dict[str, Any](host="Paris 1", max_monthly="100", project="default")
    assert not plain.run(APP, slug="blog", token=plain.sandbox.token, **wish)["changed"]


@pytest.mark.parametrize("when", OUTRUN)
@pytest.mark.parametrize(("wish", "said"), OTHERWISE)
def test_an_application_of_another_run_is_compared_as_one_that_was_there(
    plain: Platform, monkeypatch: pytest.MonkeyPatch, when: str, wish: dict[str, Any], said: str
) -> None:
    plain.sandbox.seed({"projects": ["web"]})
    outrun(monkeypatch, plain, when)
    wish = {**wish, "max_monthly": "4"} if "max_monthly" in wish else wish
    result = plain.run(APP, slug="blog", token=plain.sandbox.token, **wish)
    assert any(said.replace("3.00", "4.00") in warning for warning in result["warnings"])
    assert plain.writes(CREATE) == OUTRUN[when]
    assert (result["changed"], result["actions"]) == (False, []) and "cost" not in result


def test_a_slug_is_not_blamed_for_a_token_that_is_rejected() -> None:
    error = TokenRejected("the token is not valid", 401)
    assert app.explain_slug_refusal(error, "acme-shop") is error
