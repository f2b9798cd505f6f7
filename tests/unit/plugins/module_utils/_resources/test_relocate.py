# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relocations on a real server: where everything is afterwards, and what was never touched."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._api.models import ServiceSummary
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.health import Health
from ansible_collections.hosted.services.plugins.module_utils._resources.relocate import (
    check_forward,
    free_name,
    is_name_free,
    plan_kept,
    start_over,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.options import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import (
    MAX_SERVICE_NAME,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.waiting import poll_for
from ansible_collections.hosted.services.plugins.module_utils._resources.sleep_plan import SLEEP_PLAN
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import (
    environment,
    files,
    ids_of,
    monthly_rate,
    writes_to,
)
from unit.plugins.module_utils._resources.platform import run
from unit.plugins.module_utils._resources.relocations.in_memory import case
from unit.plugins.module_utils._resources.relocations.platform import (
    ENVIRONMENTS,
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


def fail_after_order(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an order be carried out, and no service be read from then on."""
    order = Client.order

    def order_and_fail(client: Client, body: dict[str, Any]) -> Any:
        answer = order(client, body)
        for route in ("GET /api/resources", "GET /api/resources/{id}"):
            sandbox.fault(route, "status", status=503, count=None)
        return answer

    monkeypatch.setattr(Client, "order", order_and_fail)


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


def test_a_service_that_did_not_run_does_not_run_elsewhere(sandbox: Sandbox, relocate: Relocate) -> None:
    sandbox.api("POST", f"/api/resources/{ids_of(sandbox, 'shop')['survival']}/power", {"signal": "stop"})
    done(relocate(dimensions={"storage_gb": 10}))
    old, new = pair(sandbox)
    assert status_of(sandbox, new) == ("ACTIVE", "stopped")
    assert sandbox.api("GET", f"/api/resources/{new}").json()["dimensions"]["storageGb"] == 10
    assert files(sandbox, new) == files(sandbox, old)


def test_the_date_alone_can_be_changed_afterwards(relocate: Relocate) -> None:
    first = done(relocate(keep_days=1))["relocation"]["delete_after"]
    later = done(relocate(keep_days=30))
    assert later["changed"] and later["relocation"]["delete_after"] > first
    assert not done(relocate(keep_days=30))["changed"]


def test_nothing_is_done_if_the_service_is_there_already(sandbox: Sandbox, relocate: Relocate) -> None:
    assert not done(relocate(host="node-paris-1", product="minecraft"))["changed"]
    assert commits(sandbox) == []


def test_a_platform_that_fails_right_after_the_order_hides_no_service(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail_after_order(sandbox, monkeypatch)
    failed = relocate(retries=0)
    sandbox.clear_faults()
    old, new = pair(sandbox)
    assert failed["failed"] and failed["changed"] and new in str(failed)
    again = done(relocate())
    assert orders(sandbox) == 1 and again["relocation"]["new_id"] == new
    assert status_of(sandbox, old)[0] == "SUSPENDED" and status_of(sandbox, new) == ("ACTIVE", "running")


@pytest.mark.parametrize("how", ["the next run goes back", "the run itself starts it again"])
def test_a_stop_that_shows_late_is_undone(
    how: str, sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run ends at the stop of the old service, which seems to run for two seconds more."""
    sandbox.profile("plain", **{"delay": "a second late"})
    power = Client.power

    def stop_and_fail(client: Client, id: str, signal: str) -> Any:
        answer = power(client, id, signal)
        if signal == "stop" and id == pair(sandbox)[0]:
            monkeypatch.setattr(Client, "power", power)
            if how == "the next run goes back":
                raise KeyboardInterrupt
            raise UnexpectedAnswer("the response to the stop is none")
        return answer

    monkeypatch.setattr(Client, "power", stop_and_fail)
    if how == "the next run goes back":
        with pytest.raises(KeyboardInterrupt):
            relocate()
        done(relocate(state="returned"))
    else:
        assert "runs again, and nothing that refers to it was changed" in relocate()["msg"]
    sandbox.clock(advance=3)  # until the platform shows what is
    assert status_of(sandbox, pair(sandbox)[0]) == ("ACTIVE", "running")


def test_another_name_for_what_is_ordered_already_is_told_not_to_be_used(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=2)
    assert relocate()["failed"]
    sandbox.clear_faults()
    moved = done(relocate(name="arena"))
    assert moved["relocation"]["new_name"] == "survival-2" and orders(sandbox) == 1
    assert "name 'arena' is not used" in " ".join(moved["warnings"])


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
    else:
        assert "stays as it is" in " ".join(found["warnings"])
    assert files(sandbox, theirs) == {"/precious.txt": "mine"}
    assert status_of(sandbox, theirs)[0] == "ACTIVE" and calls_to(sandbox, theirs) == []


def test_a_new_service_whose_record_was_lost_is_told_of_or_adopted(
    sandbox: Sandbox, relocate: Relocate, tmp_path: Path
) -> None:
    """Another controller knows nothing of the order."""
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=2)
    assert relocate()["failed"]
    sandbox.clear_faults()
    __, new = pair(sandbox)
    shutil.rmtree(next(tmp_path.rglob("relocations")))
    planned = done(relocate(check_mode=True))
    assert f"'survival-2' ({new}) is there already" in " ".join(planned["warnings"])
    assert "as service 'survival-3'" in " ".join(planned["actions"])
    adopted = done(relocate(existing="adopt"))
    assert not any("is there already" in warning for warning in adopted.get("warnings", ()))
    assert adopted["relocation"]["new_id"] == new and orders(sandbox) == 1


def test_another_service_of_the_name_is_not_taken_for_one_that_was_deleted(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """Somebody deleted what was ordered, and has put something of their own in its place."""
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=2)
    assert relocate()["failed"]
    __, new = pair(sandbox)
    sandbox.clear_faults()
    sandbox.operator(f"services/{new}", status="DELETED")
    sandbox.seed({"services": [{**SEED["services"][0], "name": "survival-2", "host": NODE}]})
    sandbox.clear_journal()
    refused = relocate()
    assert refused["failed"] and "survival-2" in refused["msg"] and "existing: adopt" in refused["msg"]
    assert commits(sandbox) == []


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"host": None, "dimensions": {"storage_gb": 10}}, "host 'node-frankfurt-1', not 'node-paris-1'"),
        ({"dimensions": {"storage_gb": 10}}, "storage_gb 20, not 10"),
        ({"max_monthly": "1"}, "over max_monthly 1.00 EUR"),
    ],
)
def test_what_an_earlier_task_ordered_is_not_taken_for_what_this_one_asks_for(
    given: dict[str, Any], says: str, sandbox: Sandbox, relocate: Relocate
) -> None:
    """The first relocation failed, and left its new service."""
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=2)
    assert relocate()["failed"]
    sandbox.clear_faults()
    sandbox.clear_journal()
    for check_mode in (True, False):
        refused = relocate(check_mode=check_mode, **given)
        assert refused["failed"] and not refused["changed"] and says in refused["msg"]
    assert commits(sandbox) == []
    assert done(relocate())["changed"] and orders(sandbox) == 1


def test_a_service_that_was_relocated_elsewhere_is_not_said_to_be_where_it_is_wanted(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    done(relocate())
    sandbox.clear_journal()
    for given in ({"host": "node-paris-1"}, {"dimensions": {"cpu_cores": 4}}):
        refused = relocate(**given)
        assert refused["failed"] and "survival-2" in refused["msg"] and "took its place" in refused["msg"]
    assert commits(sandbox) == [] and not done(relocate())["changed"]


# --- Refused before anything is ordered ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"new_project": "old"}, "hosted.services.service with new_project"),
        ({"wait": False}, "wait cannot be false"),
        ({"service": "acme-web", "environments": None, "secret_environments": None}, "is an application"),
        (
            {"service": "disk", "project": "shop", "environments": None, "secret_environments": None},
            "without_data: true",
        ),
        ({"host": None}, "nothing says what is to be different"),
        ({"name": "survival"}, "Give another name, or none"),
        ({"name": "db"}, "existing: adopt takes it for the new one"),
        ({"environments": {"acme-web": {"A": "b"}}}, "application 'acme-web' lacks GAME"),
        ({"environments": None, "secret_environments": None}, "application 'acme-web' lacks GAME"),
        ({"environments": {**ENVIRONMENTS, "other": {}}}, "environments names 'other'"),
        ({"environments": {"acme-web": "x"}}, "'acme-web' must have a dictionary"),
        ({"max_monthly": "0.01"}, "max_monthly"),
        ({"budget": "1"}, "budget"),
        ({"keep_days": -1}, "keep_days is -1; it must be 0 to 3650"),
        ({"copy_back": True}, "copy_back goes with state: returned alone"),
        ({"health_checks": [{}]}, "either url or tcp"),
        ({"private_key_file": "/dev/null"}, "is not a private key"),
        ({"service": "nowhere"}, "there is no service of id or name 'nowhere'"),
    ],
)
def test_what_cannot_be_moved_is_refused(
    given: dict[str, Any], message: str, sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    for check_mode in (True, False):
        refused = relocate(check_mode=check_mode, **given)
        assert refused["failed"] and message in refused["msg"], refused.get("msg")
    assert commits(sandbox) == []


def test_a_suspended_service_is_refused(sandbox: Sandbox, relocate: Relocate) -> None:
    sandbox.api("POST", f"/api/resources/{ids_of(sandbox, 'shop')['survival']}/suspend")
    sandbox.clear_journal()
    assert "only an ACTIVE one can be relocated" in relocate()["msg"]
    assert commits(sandbox) == []


def test_applications_can_be_left_alone(sandbox: Sandbox, relocate: Relocate) -> None:
    done(relocate(environments=None, secret_environments=None, without_dependents=["acme-web"]))
    assert environment(sandbox, "acme-web") == {"GAME": "${survival.HOST}"}


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


def test_an_application_that_its_owner_stops_before_the_switch_stays_stopped(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """Between a run that failed and the next one, when the old service runs as ever."""
    fail_before_switch(relocate)
    app = ids_of(sandbox, "shop")["acme-web"]
    stop(sandbox, app)
    sandbox.clear_journal()
    moved = done(relocate())
    assert "is left stopped" in " ".join(moved["warnings"])
    assert environment(sandbox, "acme-web")["GAME"] == "${survival-2.HOST}"
    assert deployed(sandbox) == [] and calls_to(sandbox, app) == []
    assert status_of(sandbox, app) == ("ACTIVE", "stopped")


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


def test_a_service_that_was_started_since_the_switch_can_come_back(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    fail_in_service(sandbox, relocate, "there")
    old, new = pair(sandbox)
    start(sandbox, old)
    write_file(sandbox, old, "newer.txt", "by players")
    assert relocate()["failed"]
    done(relocate(state="returned"))
    assert files(sandbox, old)["/newer.txt"] == "by players"
    assert status_of(sandbox, old) == ("ACTIVE", "running") and status_of(sandbox, new)[0] == "SUSPENDED"


def test_an_image_that_its_tag_names_only_since_is_not_deployed(
    sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tag such as latest, declared while the service is copied, names what nobody wants to run yet."""
    relocate = relocating(sandbox, key_file, tmp_path, monkeypatch, {**SEED, "apps": [SHOP_OF_TWO]})
    scans = [sandbox.api("GET", f"/api/apps/acme-web/releases/{tag}/scan").json() for tag in ("v1", "v2")]
    ran, other = (scan["digest"] for scan in scans)
    wait = Health.wait

    def declare_and_wait(health: Health) -> None:
        sandbox.api("POST", "/api/apps/acme-web/releases", {"tag": "v1", "digest": other})
        wait(health)

    monkeypatch.setattr(Health, "wait", declare_and_wait)
    sandbox.clear_journal()
    failed = relocate()
    assert "shows no tag of the image" in failed["msg"] and "with state: returned to go back" in failed["msg"]
    assert [line for line in sandbox.journal() if line["path"].endswith("/deploy")] == []
    sandbox.api("POST", "/api/apps/acme-web/releases", {"tag": "was", "digest": ran})
    done(relocate())
    [app] = sandbox.api("GET", "/api/apps").json()["items"]
    assert app["imageRef"].endswith(ran)
    assert environment(sandbox, "acme-web")["GAME"] == "${survival-2.HOST}"


def move_tag(sandbox: Sandbox) -> str:
    """Declare the tag of the image that runs for another one; return the digest of the one that runs."""
    scans = [sandbox.api("GET", f"/api/apps/acme-web/releases/{tag}/scan").json() for tag in ("v1", "v2")]
    ran, other = (str(scan["digest"]) for scan in scans)
    sandbox.api("POST", "/api/apps/acme-web/releases", {"tag": "v1", "digest": other})
    sandbox.clear_journal()
    return ran


def deployed_tags(sandbox: Sandbox) -> list[str]:
    """Return the tags that were deployed."""
    return [line["body"]["tag"] for line in sandbox.journal() if line["path"].endswith("/deploy")]


def test_an_image_that_another_tag_names_is_deployed_by_that(
    sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the error says."""
    relocate = relocating(sandbox, key_file, tmp_path, monkeypatch, {**SEED, "apps": [SHOP_OF_TWO]})
    ran = move_tag(sandbox)
    refused = relocate()
    assert f"shows no tag of the image that application 'acme-web' runs, {ran}" in refused["msg"]
    assert f"Declare {ran} with hosted.services.app_release under a tag of its own" in refused["msg"]
    assert commits(sandbox) == []
    sandbox.api("POST", "/api/apps/acme-web/releases", {"tag": "was", "digest": ran})
    done(relocate())
    assert deployed_tags(sandbox) == ["was"]
    [app] = sandbox.api("GET", "/api/apps").json()["items"]
    assert app["imageRef"].endswith(ran)


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


def test_a_new_service_that_does_not_run_any_more_is_not_taken_for_being_in_service(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    sandbox.fault("POST /api/apps/{slug}/deploy", "status", status=422, count=None)
    assert relocate()["failed"]
    old, new = pair(sandbox)
    sandbox.clear_faults()
    sandbox.api("POST", f"/api/resources/{new}/power", {"signal": "stop"})
    assert "does not run, so service 'survival'" in relocate()["msg"]
    assert status_of(sandbox, old)[0] == "ACTIVE"
    sandbox.api("POST", f"/api/resources/{new}/power", {"signal": "start"})
    done(relocate())


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


def test_a_new_service_that_is_gone_is_not_taken_for_being_in_service(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    sandbox.fault("POST /api/apps/{slug}/deploy", "status", status=422, count=None)
    assert relocate()["failed"]
    old, new = pair(sandbox)
    sandbox.clear_faults()
    sandbox.api("DELETE", f"/api/resources/{new}")
    assert "was deleted" in relocate()["msg"]
    done(relocate(state="returned"))
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"


def test_what_something_still_refers_to_is_not_deleted(sandbox: Sandbox, relocate: Relocate) -> None:
    """Somebody led an application back to it. One that the task leaves alone is no reason to keep it."""
    done(relocate())
    old, new = pair(sandbox)
    app = ids_of(sandbox, "shop")["acme-web"]
    sandbox.api("PUT", "/api/apps/acme-web/environment", {"environment": {"GAME": "${survival.HOST}"}})
    assert environment(sandbox, "acme-web")["GAME"] == "${survival.HOST}"
    end = {"state": "finished", "keep_days": 0, "delete_backups": True}
    for check_mode in (True, False):
        refused = relocate(check_mode=check_mode, **end)
        assert (
            refused["failed"] and f"is still referred to by acme-web ({app}) through GAME" in refused["msg"]
        )
    sandbox.fault("GET /api/projects/{id}/graphe", "status", status=404)
    assert "So whether anything refers to service 'survival'" in relocate(**end)["msg"]
    sandbox.clear_faults()
    assert status_of(sandbox, old)[0] == "SUSPENDED"
    done(relocate(**end, without_dependents=["acme-web"]))
    assert "survival" not in ids_of(sandbox, "shop") and status_of(sandbox, new)[0] == "ACTIVE"


def test_a_record_that_is_damaged_stops_everything(
    sandbox: Sandbox, relocate: Relocate, tmp_path: Path
) -> None:
    done(relocate())
    [record] = (tmp_path / "relocations").glob("*.json")
    record.write_text("[1, 2")
    for state in ("relocated", "returned", "finished"):
        assert "is damaged" in relocate(state=state)["msg"]


def pause(sandbox: Sandbox, app: str) -> Relocation:
    """Let an application stop while a relocation is on its way, and its record know it."""
    stop(sandbox, app)
    old, _new = pair(sandbox)
    record = Relocation.of(RelocateOptions(service=old, base_url=sandbox.base_url), old)
    record.write(paused=[app])
    sandbox.clear_journal()
    return record


def test_an_application_that_cannot_run_without_the_old_service_does_not_hold_up_its_suspension(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """It was listed to be left alone after its deploy failed."""
    fail_in_service(sandbox, relocate, "there")
    old, new = pair(sandbox)
    app = ids_of(sandbox, "shop")["acme-web"]
    pause(sandbox, app)
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, count=None)
    moved = done(relocate(without_dependents=["acme-web"], environments=None, secret_environments=None))
    assert moved["relocation"]["phase"] == "relocated"
    assert status_of(sandbox, old)[0] == "SUSPENDED" and status_of(sandbox, new) == ("ACTIVE", "running")
    assert "application 'acme-web', which stopped during the relocation" in " ".join(moved["warnings"])
    assert (calls_to(sandbox, old), calls_to(sandbox, app)) == (["suspend"], ["power"])


def test_a_way_back_leaves_alone_what_was_suspended_since_it_stopped(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """Such as for the night, by a plan. Resumed, it would cost the full rate."""
    fail_before_switch(relocate)
    app = ids_of(sandbox, "shop")["acme-web"]
    assert pause(sandbox, app).phase is Phase.ORDERED
    sandbox.api("POST", f"/api/resources/{app}/suspend")
    sandbox.clear_journal()
    done(relocate(state="returned"))
    assert calls_to(sandbox, app) == [] and status_of(sandbox, app)[0] == "SUSPENDED"
    assert status_of(sandbox, pair(sandbox)[1])[0] == "SUSPENDED"


@pytest.mark.parametrize("state", ["relocated", "returned"])
def test_a_run_that_is_killed_before_its_last_note_leaves_nothing_to_a_sleep_plan(
    state: str, sandbox: Sandbox, relocate: Relocate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One service is suspended by then. Nobody may resume or delete it until that is noted as well."""
    if state == "returned":
        done(relocate())
    write = Relocation.write

    def fail_at_the_end(record: Relocation, phase: Phase | None = None, **changes: Any) -> None:
        if phase == state:
            raise Invalid("killed")
        write(record, phase, **changes)

    with monkeypatch.context() as patch:
        patch.setattr(Relocation, "write", fail_at_the_end)
        assert "killed" in relocate(state=state)["msg"]
    old, new = pair(sandbox)
    left, kept = (old, new) if state == "relocated" else (new, old)
    assert status_of(sandbox, left)[0] == "SUSPENDED" and status_of(sandbox, kept) == ("ACTIVE", "running")
    sandbox.clear_journal()
    plan: dict[str, Any] = {"name": "days", "services": [old, new], "state_dir": str(tmp_path / "plans")}
    slept = done(run(sandbox, SLEEP_PLAN, **plan, awake=[{}]))
    assert "the relocation of service 'survival' is not complete" in " ".join(slept["warnings"])
    assert "is not complete" in relocate(state="finished", keep_days=0)["msg"]
    assert commits(sandbox) == []
    assert done(relocate(state=state))["relocation"]["phase"] == state


def fail_before_switch(relocate: Relocate) -> None:
    """Let a relocation fail because the new service is not healthy, so that nothing refers to it."""
    check = {"url": "http://127.0.0.1:9/", "status": [200], "tcp": False, "timeout": 0.2}
    assert relocate(health_checks=[check], wait_timeout=1.0)["failed"]


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


@pytest.mark.parametrize("way", ["there", "back"])
def test_a_sleep_plan_resumes_what_may_be_in_use_while_a_relocation_is_on_its_way(
    way: str, sandbox: Sandbox, relocate: Relocate, tmp_path: Path
) -> None:
    """And nothing else: not what was not brought back, which holds what was there before the relocation."""
    fail_in_service(sandbox, relocate, way)
    old, new = pair(sandbox)
    before = [status_of(sandbox, id)[0] for id in (old, new)]
    assert before == ["ACTIVE" if way == "there" else "SUSPENDED", "ACTIVE"]
    plan: dict[str, Any] = {"name": "days", "services": [old, new], "state_dir": str(tmp_path / "plans")}
    slept = done(run(sandbox, SLEEP_PLAN, **plan, awake=[]))
    assert [status_of(sandbox, id)[0] for id in (old, new)] == ["SUSPENDED", "SUSPENDED"]
    assert "left over" not in " ".join(slept.get("warnings", []))
    done(run(sandbox, SLEEP_PLAN, **plan, awake=[{}]))
    assert [status_of(sandbox, id)[0] for id in (old, new)] == before


# --- Back again -----------------------------------------------------------------------------------------


def test_a_service_that_moved_on_is_not_gone_back_from(sandbox: Sandbox, relocate: Relocate) -> None:
    """Two services would be in service, and the application would refer to the first one."""
    done(relocate())
    old, new = pair(sandbox)
    again = {"service": new, "host": "node-paris-1"}
    refused = relocate(**again)  # whose environments still name the first one
    assert "does not refer to service 'survival-2'" in refused["msg"]
    environments = {"acme-web": {**ENVIRONMENTS["acme-web"], "GAME": "${survival-2.HOST}"}}
    done(relocate(**again, environments=environments))
    sandbox.clear_journal()
    assert "was relocated to 'survival-3' since" in relocate(state="returned")["msg"]
    assert commits(sandbox) == []
    assert status_of(sandbox, old)[0] == "SUSPENDED"


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


def test_what_was_written_to_the_new_service_is_copied_back_on_request(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    done(relocate())
    old, new = pair(sandbox)
    write_file(sandbox, new, "newer.txt", "newer")
    done(relocate(state="returned", copy_back=True, service=new))
    assert files(sandbox, old)["/newer.txt"] == "newer"
    assert files(sandbox, old) == files(sandbox, new)
    assert done(relocate())["relocation"]["phase"] == "relocated"
    assert orders(sandbox) == 1


@pytest.mark.parametrize("where", ["switched", "relocated", "suspended again"])
def test_what_the_old_service_got_since_the_switch_is_not_overwritten(
    sandbox: Sandbox, relocate: Relocate, where: str
) -> None:
    """Somebody used it before the way back."""
    if where == "switched":
        fail_in_service(sandbox, relocate, "there")
    else:
        done(relocate())
    old, new = pair(sandbox)
    write_file(sandbox, new, "newer.txt", "newer")
    if where != "switched":
        sandbox.clock(advance=5)
        sandbox.api("POST", f"/api/resources/{old}/resume")
    start(sandbox, old)
    write_file(sandbox, old, "mine.txt", "mine")
    if where == "suspended again":
        sandbox.api("POST", f"/api/resources/{old}/suspend")
    sandbox.clear_journal()
    for check_mode in (True, False):
        failed = relocate(check_mode, state="returned", copy_back=True)
        assert "was in use since service 'survival-2' took its place" in failed["msg"]
        assert "set overwrite: true, or leave out copy_back" in failed["msg"]
    assert commits(sandbox) == []
    done(relocate(state="returned", copy_back=True, overwrite=True))
    assert "/mine.txt" not in files(sandbox, old) and files(sandbox, old)["/newer.txt"] == "newer"


def test_what_a_service_got_since_it_went_back_is_not_overwritten(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """Nor after a run that failed between its start and its end."""
    done(relocate())
    old, new = pair(sandbox)
    write_file(sandbox, new, "newer.txt", "newer")
    sandbox.fault("POST /api/resources/{id}/suspend", "status", status=409)
    assert relocate(state="returned")["failed"]
    sandbox.clear_faults()
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    write_file(sandbox, old, "since.txt", "since")
    sandbox.clear_journal()
    refused = relocate(state="returned", copy_back=True)
    assert "has been in service since" in refused["msg"] and commits(sandbox) == []
    done(relocate(state="returned"))
    assert files(sandbox, old)["/since.txt"] == "since"


def test_a_way_back_that_was_begun_is_completed_first(sandbox: Sandbox, relocate: Relocate) -> None:
    done(relocate())
    write_file(sandbox, pair(sandbox)[1], "newer.txt", "newer")
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=2)
    failed = relocate(state="returned", copy_back=True)
    assert failed["failed"]
    sandbox.clear_faults()
    assert "Set copy_back: true to complete it" in relocate(state="returned")["msg"]
    assert "Complete it with state: returned first" in relocate()["msg"]
    done(relocate(state="returned", copy_back=True))
    old, new = pair(sandbox)
    assert files(sandbox, old) == files(sandbox, new)


def test_without_a_relocation_there_is_nothing_to_go_back_from(sandbox: Sandbox, relocate: Relocate) -> None:
    assert "what to go back from is not known" in relocate(state="returned")["msg"]
    assert "Nothing was deleted" in relocate(state="finished")["msg"]
    assert commits(sandbox) == []


# --- The end ----------------------------------------------------------------------------------------------


def test_the_old_service_is_deleted_only_by_a_task_after_its_date(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    done(relocate())
    old, new = pair(sandbox)
    sandbox.clear_journal()
    assert "is kept until" in relocate(state="finished", delete_backups=True)["msg"]
    assert commits(sandbox) == []
    planned = done(relocate(check_mode=True, state="finished", keep_days=0, delete_backups=True))
    assert planned["changed"] and commits(sandbox) == []
    finished = done(relocate(state="finished", keep_days=0, delete_backups=True))
    assert finished["relocation"]["deleted"] and Decimal(finished["cost"]["monthly_change"]) < 0
    assert [line["path"] for line in sandbox.journal() if line["method"] == "DELETE"] == [
        f"/api/resources/{old}"
    ]
    assert "survival" not in ids_of(sandbox, "shop")
    assert not done(relocate(state="finished"))["changed"]
    assert not done(relocate())["changed"]
    assert "there is no way back" in relocate(state="returned")["msg"]
    assert status_of(sandbox, new) == ("ACTIVE", "running")


@pytest.mark.parametrize("which", ["old", "new"])
def test_nothing_is_deleted_while_somebody_may_need_it(
    which: str, sandbox: Sandbox, relocate: Relocate
) -> None:
    done(relocate())
    old, new = pair(sandbox)
    if which == "old":
        sandbox.api("POST", f"/api/resources/{old}/resume")
    else:
        sandbox.api("POST", f"/api/resources/{new}/suspend")
    sandbox.clear_journal()
    refused = relocate(state="finished", keep_days=0, delete_backups=True)
    assert refused["failed"] and "Nothing was deleted" in refused["msg"]
    assert commits(sandbox) == []


def test_what_was_used_since_and_is_suspended_again_is_not_deleted(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    """It looks as it was left, and holds what was written to it in between."""
    done(relocate())
    old, new = pair(sandbox)
    sandbox.api("POST", f"/api/resources/{old}/resume")
    write_file(sandbox, old, "world/level.dat", "written meanwhile")
    sandbox.api("POST", f"/api/resources/{old}/suspend")
    assert status_of(sandbox, old)[0] == "SUSPENDED"
    sandbox.clear_journal()
    end = {"state": "finished", "keep_days": 0, "delete_backups": True}
    for check_mode in (True, False):
        assert "somebody used it in between" in relocate(check_mode, **end)["msg"]
    assert commits(sandbox) == [] and status_of(sandbox, new)[0] == "ACTIVE"
    done(relocate(**end, discard_newer=True))
    [deletion] = commits(sandbox)
    assert deletion.startswith(f"DELETE /api/resources/{old} ")


def test_after_the_way_back_the_new_one_is_deleted_and_another_can_be_ordered(
    sandbox: Sandbox, relocate: Relocate
) -> None:
    done(relocate())
    _old, new = pair(sandbox)
    done(relocate(state="returned"))
    sandbox.clear_journal()
    end = {"state": "finished", "keep_days": 0, "delete_backups": True}
    assert "set discard_newer: true; to keep it, copy it elsewhere first" in relocate(**end)["msg"]
    assert commits(sandbox) == []
    done(relocate(**end, discard_newer=True))
    assert set(ids_of(sandbox, "shop")) == {each["name"] for each in SEED["services"]} | {"acme-web"}
    assert not done(relocate(state="returned"))["changed"]
    done(relocate())
    assert pair(sandbox)[1] != new


def test_a_deletion_begins_once_it_is_remembered(
    sandbox: Sandbox, relocate: Relocate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a run that is killed in between leaves the record of a service that is not there."""
    done(relocate())
    _old, new = pair(sandbox)
    done(relocate(state="returned"))
    write, delete = Relocation.write, Client.delete_service
    events: list[str] = []

    def slow_write(record: Relocation, *given: Any, **changes: Any) -> None:
        threading.Event().wait(0.3)
        write(record, *given, **changes)
        events.append("gone" if record.content.gone else "deleting")

    def noted_delete(client: Client, id: str) -> None:
        events.append(f"delete {id}")
        delete(client, id)

    monkeypatch.setattr(Relocation, "write", slow_write)
    monkeypatch.setattr(Client, "delete_service", noted_delete)
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


# --- How it is named ----------------------------------------------------------------------------------------


def named(*names: str) -> list[ServiceSummary]:
    """Return services of an account."""
    return [ServiceSummary(id=name, name=name, family="GAME", status="ACTIVE") for name in names]


@pytest.mark.parametrize(
    ("name", "taken", "free"),
    [
        ("survival", [], "survival-2"),
        ("survival", ["survival-2", "survival-4"], "survival-3"),
        ("survival", ["SURVIVAL-2"], "survival-2"),
        ("survival-2", ["survival-2"], "survival-3"),
        ("survival-9", [], "survival-10"),
        ("a-b", [], "a-b-2"),
        ("x" * MAX_SERVICE_NAME, [], "x" * (MAX_SERVICE_NAME - 2) + "-2"),
    ],
)
def test_the_new_service_gets_the_next_number_that_is_free(name: str, taken: list[str], free: str) -> None:
    assert free_name(name, named(*taken)) == free


@pytest.mark.parametrize(
    ("name", "facts", "created", "free"),
    [
        ("arena", {"new_id": "new"}, None, False),
        (None, {"sent": None}, None, True),
        (None, {}, "2026-11-20T04:00:00Z", False),
        ("survival-2", {}, "2026-11-20T04:00:00Z", False),
        ("arena", {}, "2026-11-20T03:00:01Z", False),
        ("arena", {}, "2026-11-20T04:00:00Z", True),
    ],
)
def test_a_new_service_keeps_the_name_that_it_may_have_been_ordered_by(
    name: str | None, facts: dict[str, Any], created: str | None, free: bool, tmp_path: Path
) -> None:
    found = case(tmp_path, Phase.ORDERED, facts={"new_id": None, "sent": "2026-11-20T03:00:00Z", **facts})
    found.account.service_records["new"]["createdAt"] = created
    task = replace(found.work.task, options=replace(found.work.task.options, name=name))
    assert is_name_free(task, found.work.record) is free


def test_a_relocation_begins_anew_only_once_what_it_made_is_deleted(tmp_path: Path) -> None:
    record = case(tmp_path, Phase.FINISHED, facts={"deleting": "new"}).work.record
    with pytest.raises(Invalid, match=r"'survival-2' .new. is about to be deleted\. Nothing was done"):
        start_over(record)
    record.content.gone = True
    start_over(record)
    assert (record.phase, record.content.old_id, record.content.new_id) == (Phase.NONE, "old", None)
    assert record.content.platform, "by which it is found again"


@pytest.mark.parametrize("days", [None, 7])
def test_a_relocation_that_is_complete_stays_as_it_is(days: int | None, tmp_path: Path) -> None:
    found = case(tmp_path, Phase.RELOCATED, keep_days=days)
    assert plan_kept(found.work.task, found.work.record).steps == ()


def test_a_date_that_is_changed_is_kept(tmp_path: Path) -> None:
    """Unless the old service is being deleted."""
    found = case(tmp_path, Phase.RELOCATED, keep_days=9)
    plan = plan_kept(found.work.task, found.work.record)
    assert plan.actions == ["keep service 'survival' for 9 days in place of 7"]
    assert (plan.before, plan.after) == ({"keep_days": 7}, {"keep_days": 9})
    assert found.carry_out(plan)["phase"] == "relocated" and found.content.keep_days == 9
    found = case(tmp_path, Phase.RELOCATED, facts={"deleting": "old"}, keep_days=9)
    assert plan_kept(found.work.task, found.work.record).steps == ()


@pytest.mark.parametrize(
    ("phase", "newer", "overwrite", "refused"),
    [
        (Phase.RETURNING, False, True, "Complete it with state: returned first"),
        (Phase.RETURNED, True, False, "set overwrite: true; to keep it, copy it elsewhere first"),
        (Phase.RETURNED, True, True, None),
        (Phase.RETURNED, False, False, None),
        (Phase.SWITCHED, True, False, None),
    ],
)
def test_what_would_lose_something_is_refused(
    phase: Phase, newer: bool, overwrite: bool, refused: str | None, tmp_path: Path
) -> None:
    facts = {"newer": newer, "since": "2020-01-01T00:00:00Z"}
    found = case(tmp_path, phase, facts=facts, overwrite=overwrite)
    found.account.add("new", "survival-2", "SUSPENDED" if phase is Phase.RETURNED else "ACTIVE")
    if refused is None:
        check_forward(found.work.task, found.work.record)
        return
    with pytest.raises(Invalid, match=refused):
        check_forward(found.work.task, found.work.record)
