# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations on a real server: where everything is afterwards, and what was never touched.

tests/unit/data/relocate has what is planned, and what is refused before anything is done.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted, UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._resources import relocate as module
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.health import Health
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import Ordering
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import StateDirOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Relocation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import poll_for
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import (
    environment,
    files,
    ids_of,
    monthly_rate,
    plain_files,
    writes_to,
)
from unit.plugins.module_utils._resources.platform import before_each, before_first_call
from unit.plugins.module_utils._resources.relocations.platform import (
    ENVIRONMENTS,
    FILES,
    NODE,
    SEED,
    Relocate,
    commits,
    done,
    orders,
    pair,
    relocating,
    status_of,
    write_file,
)

SHOP_OF_TWO = {**SEED["apps"][0], "images": [{"tag": "v1"}, {"tag": "v2", "packages": {"curl": "8.0.0"}}]}
"""An application of two images."""


@pytest.fixture
def relocate(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Relocate:
    """Relocate with a key of the account, and records of its own."""
    return relocating(sandbox, key_file, tmp_path, monkeypatch)


def calls_to(sandbox: Sandbox, id: str) -> list[str]:
    """Return what was written to a service: signals, suspensions and the like, by the end of the path."""
    found = []
    for line in writes_to(sandbox, [id]):
        if "/files" not in line["path"]:
            found.append(str(line["path"]).rpartition("/")[2])
    return found


# --- There --------------------------------------------------------------------------------------------


def test_a_service_is_moved_at_the_price_that_was_announced(sandbox: Sandbox, relocate: Relocate) -> None:
    planned = done(relocate(check_mode=True))
    assert planned["changed"] and commits(sandbox) == []
    assert "order minecraft as service 'survival-2' for" in planned["actions"][0]
    assert planned["relocation"]["phase"] == "relocated"
    before = monthly_rate(sandbox)
    moved = done(relocate())
    assert not any("did you mean" in warning for warning in moved.get("warnings", ()))
    old, new = pair(sandbox)
    assert files(sandbox, new) == files(sandbox, old)
    assert status_of(sandbox, old)[0] == "SUSPENDED"
    assert status_of(sandbox, new) == ("ACTIVE", "running")
    assert sandbox.api("GET", f"/api/resources/{new}").json()["host"]["id"] == "node-frankfurt-1"
    assert calls_to(sandbox, old) == ["power", "suspend"]
    assert environment(sandbox, "acme-web") == {
        "GAME": "${survival-2.HOST}",
        "LOG_LEVEL": "debug",
        "SESSION_KEY": "hunter2hunter2",
    }
    assert planned["cost"]["monthly_after"] == moved["cost"]["monthly_after"]
    assert Decimal(moved["cost"]["monthly_change"]) == monthly_rate(sandbox) - before
    assert "hunter2" not in str(moved)
    sandbox.clear_journal()
    again = done(relocate())
    assert not again["changed"] and sandbox.writes() == []
    assert again["relocation"] == moved["relocation"]


def test_what_changed_after_the_first_copy_is_brought_over_while_the_old_one_is_stopped(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """The first run fails at its stop; what is written then is in the new service after the second."""
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=2)
    failed = relocate()
    assert failed["failed"]
    old, new = pair(sandbox)
    sandbox.clear_faults()
    write_file(sandbox, old, "world/level.dat", "z" * 70_001)
    done(relocate())
    assert files(sandbox, new)["/world/level.dat"] == "z" * 70_001
    assert files(sandbox, new) == files(sandbox, old)
    assert orders(sandbox) == 1


@pytest.mark.parametrize("how", ["the next run goes back", "the run itself starts it again"])
def test_a_stop_that_shows_late_is_undone(
    how: str, sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run ends at the stop of the old service, which seems to run for two seconds more."""
    sandbox.profile("plain", **{"delay": "a second late"})
    send = Client.send

    def stop_and_fail(client: Client, route: r.Route[Any], **given: Any) -> Any:
        answer = send(client, route, **given)
        if route is r.POWER and given["body"] == {"signal": "stop"} and given["id"] == pair(sandbox)[0]:
            monkeypatch.setattr(Client, "send", send)
            if how == "the next run goes back":
                raise KeyboardInterrupt
            raise UnexpectedAnswer("the response to the stop is none")
        return answer

    monkeypatch.setattr(Client, "send", stop_and_fail)
    if how == "the next run goes back":
        with pytest.raises(KeyboardInterrupt):
            relocate()
        done(relocate(state="returned"))
    else:
        assert "runs again, and nothing that refers to it was changed" in relocate()["msg"]
    sandbox.clock(advance=3)  # until the platform shows what is
    assert status_of(sandbox, pair(sandbox)[0]) == ("ACTIVE", "running")


@pytest.mark.parametrize("state", ["relocated", "returned"])
def test_what_somebody_made_after_an_order_that_was_refused_is_left_alone(
    state: str, sandbox: Sandbox, relocate: Relocate
) -> None:
    sandbox.fault("order.create", "status", status=400)
    assert relocate()["failed"]
    sandbox.clear_faults()
    own = {"name": "survival-2", "host": NODE, "files": {"precious.txt": "mine"}}
    sandbox.seed({"services": [{**SEED["services"][0], **own}]})
    __, theirs = pair(sandbox)
    found = relocate(state=state)
    assert not found.get("failed"), found["msg"]
    if state == "relocated":
        assert f"'survival-2' ({theirs}) is there already" in " ".join(found["warnings"])
        assert found["relocation"]["new_name"] == "survival-3" and orders(sandbox) == 1
    assert files(sandbox, theirs) == {"/precious.txt": "mine"}
    assert status_of(sandbox, theirs)[0] == "ACTIVE" and calls_to(sandbox, theirs) == []


def test_an_application_that_its_owner_stopped_stays_stopped(sandbox: Sandbox, relocate: Relocate) -> None:
    """There and back; it gets its environment all the same."""
    app = ids_of(sandbox, "shop")["acme-web"]
    stop(sandbox, app)
    sandbox.clear_journal()
    moved = done(relocate())
    assert "is left stopped" in " ".join(moved["warnings"])
    assert environment(sandbox, "acme-web")["GAME"] == "${survival-2.HOST}"
    done(relocate(state="returned"))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    assert [line for line in sandbox.journal() if line["path"].endswith("/deploy")] == []
    assert status_of(sandbox, app) == ("ACTIVE", "stopped") and calls_to(sandbox, app) == []


# --- What fails on the way ------------------------------------------------------------------------------


def test_an_unhealthy_service_is_not_switched_to(sandbox: Sandbox, relocate: Relocate) -> None:
    """The old one runs again, its neighbors are as they were, and the next run completes it."""
    before = environment(sandbox, "acme-web")
    check = {"url": "http://127.0.0.1:9/", "status": [200], "tcp": False, "timeout": 0.2}
    failed = relocate(health_checks=[check], wait_timeout=1.0)
    assert failed["failed"] and "runs again, and nothing that refers to it was changed" in failed["msg"]
    old, new = pair(sandbox)
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert status_of(sandbox, new) == ("ACTIVE", "stopped")
    assert environment(sandbox, "acme-web") == before
    assert done(relocate())["relocation"]["phase"] == "relocated"
    assert orders(sandbox) == 1


@pytest.mark.parametrize("ran", [True, False])
@pytest.mark.parametrize("end", ["it fails", "it is killed, and goes back"])
def test_an_application_that_stopped_while_the_old_service_was_away_runs_again(
    end: str, ran: bool, sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes down with the service that it needs. One that its owner had stopped before stays stopped."""
    app = ids_of(sandbox, "shop")["acme-web"]
    if not ran:
        stop(sandbox, app)

    def go_down(health: Health) -> None:
        if ran:
            stop(sandbox, app)
        raise Invalid("not healthy") if end == "it fails" else KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Health, "wait", go_down)
        sandbox.clear_journal()
        if end == "it fails":
            failed = relocate()
            assert "not healthy" in failed["msg"] and "runs again" in failed["msg"]
        else:
            with pytest.raises(KeyboardInterrupt):
                relocate()
            done(relocate(state="returned"))
    assert status_of(sandbox, pair(sandbox)[0]) == ("ACTIVE", "running")
    assert status_of(sandbox, app) == ("ACTIVE", "running" if ran else "stopped")
    assert calls_to(sandbox, app) == ["power", "power"] * ran  # the stop above, and a start


def test_a_service_that_was_started_again_during_the_copy_is_not_left_over(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody else has started it, and players write to it: the next run brings that over."""
    wait = Health.wait

    def start_and_wait(health: Health) -> None:
        old, _new = pair(sandbox)
        sandbox.api("POST", f"/api/resources/{old}/power", {"signal": "start"})
        poll_for(lambda: status_of(sandbox, old)[1] == "running", 5)
        write_file(sandbox, old, "newer.txt", "by players")
        wait(health)

    with monkeypatch.context() as patch:
        patch.setattr(Health, "wait", start_and_wait)
        failed = relocate()
    old, new = pair(sandbox)
    assert f"service 'survival' ({old}) was started again while it was copied" in failed["msg"]
    assert "suspend" not in calls_to(sandbox, old) and status_of(sandbox, old) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-web") == {"GAME": "${survival.HOST}"}
    done(relocate())
    assert files(sandbox, new)["/newer.txt"] == "by players" and orders(sandbox) == 1
    assert status_of(sandbox, old)[0] == "SUSPENDED"


def stop(sandbox: Sandbox, id: str) -> None:
    """Stop a container, as its owner does or as it does by itself."""
    sandbox.api("POST", f"/api/resources/{id}/power", {"signal": "stop"})
    poll_for(lambda: status_of(sandbox, id)[1] == "stopped", 5)


def test_a_deploy_that_fails_leaves_the_new_service_in_service(sandbox: Sandbox, relocate: Relocate) -> None:
    sandbox.fault("POST /api/apps/{slug}/deploy", "status", status=422, count=None)
    failed = relocate()
    assert failed["failed"] and "with state: returned to go back" in failed["msg"]
    old, new = pair(sandbox)
    assert status_of(sandbox, new) == ("ACTIVE", "running")
    assert status_of(sandbox, old)[0] == "ACTIVE"
    sandbox.clear_faults()
    done(relocate(state="returned"))
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert status_of(sandbox, new)[0] == "SUSPENDED"


def start(sandbox: Sandbox, id: str) -> None:
    """Start a container, as a timer or a person does."""
    sandbox.api("POST", f"/api/resources/{id}/power", {"signal": "start"})
    assert poll_for(lambda: status_of(sandbox, id)[1] == "running", 5)


def test_a_service_that_was_started_since_the_switch_is_not_suspended(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """What was written to it is on it alone, and the end would delete that."""
    fail_in_service(sandbox, relocate, "there")
    old, new = pair(sandbox)
    written = environment(sandbox, "acme-web")
    start(sandbox, old)
    write_file(sandbox, old, "newer.txt", "by players")
    sandbox.clear_journal()
    assert "was started since" in " ".join(done(relocate(True))["warnings"])
    failed = relocate()
    assert (
        f"service 'survival' ({old}) was started since service 'survival-2' took its place" in failed["msg"]
    )
    assert "copy_back would overwrite" in failed["msg"] and "discard_newer: true" in failed["msg"]
    assert commits(sandbox) == [] and environment(sandbox, "acme-web") == written
    assert status_of(sandbox, old) == status_of(sandbox, new) == ("ACTIVE", "running")
    assert "is not complete" in relocate(state="finished", keep_days=0, delete_backups=True)["msg"]
    assert files(sandbox, old)["/newer.txt"] == "by players"
    done(relocate(discard_newer=True))
    assert status_of(sandbox, old)[0] == "SUSPENDED" and status_of(sandbox, new) == ("ACTIVE", "running")


def move_tag(sandbox: Sandbox) -> str:
    """Declare the tag of the image that runs for another one; return the digest of the one that runs."""
    scans = [sandbox.api("GET", f"/api/apps/acme-web/releases/{tag}/scan").json() for tag in ("v1", "v2")]
    ran, other = (str(scan["digest"]) for scan in scans)
    sandbox.api("POST", "/api/apps/acme-web/releases", {"tag": "v1", "digest": other})
    sandbox.clear_journal()
    return ran


@pytest.mark.parametrize("declares", [True, False])
def test_an_image_without_a_tag_does_not_keep_the_old_service_from_coming_back(
    declares: bool, sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its application is the last thing that is seen to, and is said. Nothing is suspended until then."""
    other = {**SEED["apps"][0], "slug": "other-web"}
    relocate = relocating(sandbox, key_file, tmp_path, monkeypatch, {**SEED, "apps": [SHOP_OF_TWO, other]})
    own = {"environments": {**ENVIRONMENTS, "other-web": {"GAME": "${survival.HOST}"}}}
    done(relocate(**own))
    old, new = pair(sandbox)
    ran = move_tag(sandbox)
    checked = relocate(check_mode=True, state="returned", **own)
    assert "shows no tag of the image that application 'acme-web' runs" in " ".join(checked["warnings"])
    assert commits(sandbox) == []
    failed = relocate(state="returned", **own)
    assert failed["failed"] and "list it in without_dependents" in failed["msg"]
    assert "service 'survival' (" in failed["msg"] and "is back as it was" in failed["msg"]
    assert status_of(sandbox, old) == status_of(sandbox, new) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    assert environment(sandbox, "other-web")["GAME"] == "${survival.HOST}"
    assert deployed(sandbox) == ["other-web"]
    if declares:
        sandbox.api("POST", "/api/apps/acme-web/releases", {"tag": "was", "digest": ran})
        done(relocate(state="returned", **own))
        assert deployed(sandbox) == ["other-web", "acme-web"]
    else:
        done(relocate(state="returned", without_dependents=["acme-web"], **own))
        assert deployed(sandbox) == ["other-web"]
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert status_of(sandbox, new)[0] == "SUSPENDED"


def deployed(sandbox: Sandbox) -> list[str]:
    """Return the slugs of the applications that were deployed, in their order."""
    return [line["path"].split("/")[3] for line in sandbox.journal() if line["path"].endswith("/deploy")]


def test_nothing_is_switched_to_that_could_not_be_copied_to(sandbox: Sandbox, relocate: Relocate) -> None:
    """A run ends between its stop and its copy, and somebody suspends the new service meanwhile."""
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=3, count=None)
    assert "could not be brought back into service either" in relocate()["msg"]
    old, new = pair(sandbox)
    sandbox.clear_faults()
    write_file(sandbox, old, "world/level.dat", "later")
    sandbox.api("POST", f"/api/resources/{new}/suspend")
    assert "was suspended meanwhile" in relocate()["msg"]
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert status_of(sandbox, new)[0] == "SUSPENDED"
    sandbox.api("POST", f"/api/resources/{new}/resume")
    done(relocate(state="returned"))
    assert status_of(sandbox, old) == ("ACTIVE", "running")


def fail_in_service(sandbox: Sandbox, relocate: Relocate, way: str) -> None:
    """Let a relocation end on its way, with both services in service or the new one alone."""
    if way == "there":
        sandbox.fault("POST /api/apps/{slug}/deploy", "status", status=409)
        assert "is in service in place of" in relocate()["msg"]
    else:
        done(relocate())
        sandbox.fault("POST /api/resources/{id}/resume", "status", status=409)
        assert relocate(state="returned")["failed"]
    sandbox.clear_faults()


# --- Back again -----------------------------------------------------------------------------------------


def test_what_was_written_to_the_new_service_is_kept_there(sandbox: Sandbox, relocate: Relocate) -> None:
    done(relocate())
    old, new = pair(sandbox)
    write_file(sandbox, new, "newer.txt", "newer")
    before = monthly_rate(sandbox)
    returned = done(relocate(state="returned"))
    assert "copy_back: true copies it back instead" in " ".join(returned["warnings"])
    assert returned["relocation"]["newer"]
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert status_of(sandbox, new)[0] == "SUSPENDED"
    assert "/newer.txt" not in files(sandbox, old)
    assert Decimal(returned["cost"]["monthly_change"]) == monthly_rate(sandbox) - before
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    assert not done(relocate(state="returned"))["changed"]
    assert "went back at" in relocate(state="returned", copy_back=True)["msg"]
    assert "set overwrite: true" in relocate()["msg"]
    assert done(relocate(overwrite=True))["relocation"]["new_id"] == new
    assert "/newer.txt" not in files(sandbox, new)


# --- The end ----------------------------------------------------------------------------------------------


def test_a_deletion_begins_once_it_is_remembered(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a run that is killed in between leaves the record of a service that is not there."""
    done(relocate())
    _old, new = pair(sandbox)
    done(relocate(state="returned"))
    write = Relocation.write
    events: list[str] = []

    def slow_write(record: Relocation, *given: Any, **changes: Any) -> None:
        threading.Event().wait(0.3)
        write(record, *given, **changes)
        events.append("gone" if record.gone else "deleting")

    monkeypatch.setattr(Relocation, "write", slow_write)
    before_each(monkeypatch, r.SERVICE_DELETE, lambda ids, _body: events.append(f"delete {ids['id']}"))
    done(relocate(state="finished", keep_days=0, delete_backups=True, discard_newer=True))
    assert events == ["deleting", f"delete {new}", "gone"]


def test_a_deletion_that_was_refused_does_not_delete_what_is_in_use_again(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    done(relocate())
    old, _new = pair(sandbox)
    end = {"state": "finished", "keep_days": 0, "delete_backups": True}
    sandbox.fault("DELETE /api/resources/{id}", "status", status=403, count=None)
    assert relocate(**end)["failed"]
    sandbox.clear_faults()
    back = relocate(state="returned")
    assert "is still there, with status SUSPENDED" in back["msg"] and "resume it" in back["msg"]
    assert sandbox.api("POST", f"/api/resources/{old}/resume").ok
    sandbox.clear_journal()
    assert "somebody may use it. Nothing was deleted" in relocate(**end)["msg"]
    assert commits(sandbox) == [] and status_of(sandbox, old)[0] == "ACTIVE"
    assert sandbox.api("POST", f"/api/resources/{old}/suspend").ok
    assert "set discard_newer: true" in relocate(**end)["msg"]
    [suspension] = commits(sandbox)
    assert suspension.startswith(f"POST /api/resources/{old}/suspend ")
    assert done(relocate(**end, discard_newer=True))["relocation"]["deleted"]


# --- What somebody else orders meanwhile ---------------------------------------------


THEIRS = {"/precious.txt": "mine"}


def before_the_order(monkeypatch: pytest.MonkeyPatch, first: Callable[[], object]) -> None:
    """Let something happen between the plan and the order."""
    before_first_call(monkeypatch, Ordering, "place", first)


def while_the_source_is_listed(monkeypatch: pytest.MonkeyPatch, first: Callable[[], object]) -> None:
    """Let something happen between the choice of the name and the plan of the order."""
    before_first_call(monkeypatch, module, "check_variables", first)


def order_another(sandbox: Sandbox, host: str = NODE, **given: Any) -> None:
    """Order a service of the next number, as somebody else does."""
    own = {"name": "survival-2", "host": host, "files": {"precious.txt": "mine"}, **given}
    sandbox.seed({"services": [{**SEED["services"][0], **own}]})
    sandbox.clear_journal()


def record_of(sandbox: Sandbox, id: str) -> Relocation:
    """Return what is remembered of the relocation of a service."""
    return Relocation.of(StateDirOptions(base_url=sandbox.base_url, token="x"), id)


@pytest.mark.parametrize("moment", [while_the_source_is_listed, before_the_order])
@pytest.mark.parametrize("host", [NODE, "node-paris-1"])
def test_a_service_that_somebody_orders_meanwhile_is_left_alone(
    sandbox: Sandbox,
    relocate: Relocate,
    monkeypatch: pytest.MonkeyPatch,
    host: str,
    moment: Callable[..., None],
) -> None:
    """Also by the way back. The next run takes the next number."""
    moment(monkeypatch, lambda: order_another(sandbox, host))
    found = relocate()
    old, theirs = pair(sandbox)
    before = status_of(sandbox, theirs)
    said = f"service 'survival-2' ({theirs}) appeared meanwhile, and this relocation did not order it"
    assert found.get("failed") and said in found["msg"]
    assert record_of(sandbox, old).new_id is None
    assert [each for each in sandbox.writes() if theirs in each] == []
    if moment is before_the_order:
        done(relocate(state="returned"))
    again = done(relocate())
    assert again["relocation"]["new_name"] == "survival-3"
    assert plain_files(sandbox, theirs) == THEIRS and status_of(sandbox, theirs) == before
    new = ids_of(sandbox, "shop")["survival-3"]
    assert plain_files(sandbox, new) == {f"/{name}": text for name, text in FILES.items()}


@pytest.mark.parametrize("narrowed", [{}, {"project": "shop"}])
def test_an_old_service_that_is_resumed_before_its_turn_is_not_deleted(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch, narrowed: dict[str, Any]
) -> None:
    """Another run may hold the lock for minutes, and what was read before that is not how it is."""
    done(relocate(keep_days=0))
    old, _new = pair(sandbox)
    resume = f"/api/resources/{old}/resume"
    before_first_call(monkeypatch, Relocation, "take_turns", lambda: sandbox.api("POST", resume))
    found = relocate(state="finished", **narrowed)
    assert found.get("failed") and "somebody may use it" in found["msg"]
    assert sandbox.api("GET", f"/api/resources/{old}").json()["status"] == "ACTIVE"


def test_what_an_order_of_a_killed_run_made_late_is_the_new_service(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not ordered again."""

    def lost(_ids: dict[str, str], _body: Any) -> None:
        raise Interrupted("killed")

    with monkeypatch.context() as patch:
        before_each(patch, r.ORDER, lost)
        assert relocate().get("failed")
    before_the_order(monkeypatch, lambda: order_another(sandbox))
    found = done(relocate())
    _old, new = pair(sandbox)
    assert found["relocation"]["new_id"] == new and orders(sandbox) == 0
    assert plain_files(sandbox, new) == {f"/{name}": text for name, text in FILES.items()}
