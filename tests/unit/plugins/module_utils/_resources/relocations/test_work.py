# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that a relocation is made of: what is done when one fails, and what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import Data
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.health import ProbeOptions
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations import (
    work as work_module,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.ways import (
    plan_back,
    plan_there,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.work import (
    rescued,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Expansion,
    Plan,
    Step,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import Phase
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, carry_out
from unit.plugins.module_utils._resources.relocations.in_memory import DIGEST, OTHER, Case, case, web
from unit.plugins.module_utils._resources.relocations.platform import (
    done,
    pair,
    relocating,
    status_of,
)


def fail() -> None:
    """Fail."""
    raise Invalid("no")


def test_a_step_that_fails_is_rescued_once_wherever_it_is() -> None:
    seen: list[HostedError] = []
    steps = rescued([Step("one", lambda: None), Expansion("more", lambda: [Step("two", fail)])], seen.append)
    assert steps[0].run() is None
    [inner] = steps[1].run()
    with pytest.raises(Invalid, match="no"):
        inner.run()
    assert [error.message for error in seen] == ["no"]


def test_an_old_service_that_cannot_be_started_again_is_said(
    sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the way back is a task of its own, and nothing of it is lost."""
    relocate = relocating(sandbox, key_file, tmp_path, monkeypatch)
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=3, count=None)
    failed = relocate()
    assert "could not be brought back into service either" in failed["msg"]
    old, new = pair(sandbox)
    sandbox.clear_faults()
    done(relocate(state="returned"))
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert status_of(sandbox, new)[0] == "SUSPENDED"


# --- Part by part ---------------------------------------------------------------------------------------


def test_files_are_compared_and_copied_as_the_task_says(tmp_path: Path) -> None:
    """Read without a stop only while the old service is in service."""
    own: dict[str, Any] = {"private_key_file": "/key", "checksum": True}
    found = case(tmp_path, Phase.ORDERED, **own)
    copy = {
        **own,
        "source_id": "old",
        "source_name": "survival",
        "service": "new",
        "project_id": "prj_default",
        "delete": True,
        "in_use": True,
    }
    found.work.plan_copy(found.work.old, "new")
    found.work.record.phase = Phase.STOPPED
    found.work.plan_copy(found.work.old, "new")
    assert found.noted.planned == [("files", copy), ("files", {**copy, "in_use": False})]
    found = case(tmp_path, Phase.STOPPED, **own, known_hosts="/known")
    found.work.plan_copy(found.work.old, None)
    assert found.noted.planned == [
        ("files", {**copy, "service": None, "in_use": False, "known_hosts": "/known"})
    ]


@pytest.mark.parametrize(
    ("given", "public"), [({}, False), ({"public": True}, True), ({"public": False}, False)]
)
def test_a_database_is_reached_as_it_will_be(
    given: dict[str, Any], public: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is not ordered yet is not waited for."""
    awaited: list[str] = []
    monkeypatch.setattr(work_module, "await_database", lambda task, id: awaited.append(id))
    found = case(tmp_path, Phase.ORDERED, Data.DATABASE, **given)
    for target in (None, "new"):
        found.work.plan_copy(found.work.old, target)
    copy = {"source_id": "old", "project_id": "prj_default", "public": public}
    assert found.noted.planned == [
        ("database", {**copy, "service": None}),
        ("database", {**copy, "service": "new"}),
    ]
    assert awaited == ["new"]


@pytest.mark.parametrize("id", [None, "old"])
def test_nothing_else_is_taken_for_the_new_service(id: str | None, tmp_path: Path) -> None:
    found = case(tmp_path, Phase.ORDERED, facts={"new_id": id})
    with pytest.raises(Invalid, match=r"which service the relocation of service 'survival' .* is not known"):
        found.work.bring(None, "it", "stopped").run()
    assert found.noted.planned == []


def test_references_lead_to_the_alias_of_the_new_service(tmp_path: Path) -> None:
    found = case(tmp_path, Phase.SWITCHED)
    found.account.aliases["new"] = "mc-7"
    done_steps(found.work.dependent_steps(None, "service 'survival-2'")[:1])
    [written] = found.noted.of("environment")
    assert written["variables"] == {"GAME": "${mc-7.HOST}"}
    assert written["secret_variables"] == {"KEY": "hunter2"}


def test_without_an_alias_no_environment_is_written(tmp_path: Path) -> None:
    found = case(tmp_path, Phase.SWITCHED)
    del found.account.aliases["new"]
    with pytest.raises(Invalid, match=r"service new has no alias .* that application 'acme-web' could refer"):
        done_steps(found.work.dependent_steps(None, "service 'survival-2'"))
    assert found.noted.calls == []


def test_what_was_stopped_and_runs_the_release_already_is_started(tmp_path: Path) -> None:
    """An application that nobody stopped for the copy is left as it is."""
    found = case(tmp_path, Phase.SWITCHED)
    found.noted.rounds["app_deploy"] = 0
    done_steps(found.work.dependent_steps("old", "it")[1:])
    assert found.noted.calls == []
    found.work.record.running = ["app_1"]
    done_steps(found.work.dependent_steps("old", "it")[1:])
    assert found.noted.steps == ["switched: service app_1 started"]


def test_what_is_deployed_again_is_the_image_that_runs_by_then(tmp_path: Path) -> None:
    """Copies take hours: another version may have been deployed, or its tag declared for another image."""
    found = case(tmp_path, Phase.SWITCHED)
    steps = found.work.dependent_steps("old", "it")
    found.account.declared = {"v1": DIGEST, "v2": OTHER}
    found.account.applications = [web(found.account).app.model_copy(update={"image_ref": f"r/w@{OTHER}"})]
    found.account.tag = "v2"
    done_steps(steps)
    [deployed] = found.noted.of("app_deploy")
    assert (deployed["tag"], deployed["digest"]) == ("v2", OTHER)


@pytest.mark.parametrize("phase", [Phase.ORDERED, Phase.STOPPED, Phase.SWITCHED, Phase.RETURNING])
def test_an_application_that_stopped_later_is_deployed(phase: Phase, tmp_path: Path) -> None:
    """For the copy, or because the service to which it refers was away."""
    found = case(tmp_path, phase, facts={"running": ["app_1"]})
    found.account.states["app_1"] = "stopped"
    steps = found.work.dependent_steps("old", "it")
    assert steps[1].summary == "deploy application 'acme-web' again"
    done_steps(steps)
    assert len(found.noted.of("app_deploy")) == 1


def test_what_stopped_while_the_service_was_away_is_remembered_beyond_a_rescue(tmp_path: Path) -> None:
    """Until it runs again, also over a run that is killed: its owner did not stop it."""
    found = case(tmp_path, Phase.STOPPED, facts={"running": ["app_1"]})
    found.account.states["app_1"] = "stopped"
    refuse_to_run(found)
    found.work.rescue(Invalid("full"))
    assert (found.content.phase, found.content.running) == (Phase.ORDERED, ["app_1"])
    done_steps(list(plan_there(found.work).steps)[:1])
    assert found.content.running == ["app_1"]
    found.account.states["app_1"] = "running"
    done_steps(list(plan_there(found.work).steps)[:1])
    assert found.content.running == []


def test_a_run_that_was_killed_while_the_old_service_was_away_keeps_what_ran_before(tmp_path: Path) -> None:
    """And what an earlier run stopped, which has not run since."""
    facts = {"running": ["app_1", "app_2"]}
    found = case(tmp_path, Phase.STOPPED, running=False, facts=facts)
    found.account.states["app_1"] = "stopped"
    done_steps(list(plan_there(found.work).steps)[:1])
    assert found.content.running == ["app_1", "app_2"]


def test_an_application_that_refers_no_more_is_left_to_its_owner(tmp_path: Path) -> None:
    facts = {"running": ["app_1"], "switched_at": "2026-11-01T00:00:00Z"}
    found = case(tmp_path, Phase.RELOCATED, dependents=(), facts=facts, state="returned")
    found.account.states["app_1"] = "stopped"
    found.carry_out(plan_back(found.work))
    assert not [step for step in found.noted.steps if "app_1" in step]


def test_a_rescue_succeeds_though_applications_cannot_be_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = case(tmp_path, Phase.STOPPED, facts={"ran": False, "running": ["app_1"]})

    def refuse(ids: Sequence[str]) -> Any:
        raise HostedError("not now")

    monkeypatch.setattr(found.account, "metrics", refuse)
    error = Invalid("full")
    found.work.rescue(error)
    assert "is as it was" in error.message
    assert (found.content.phase, found.content.running) == (Phase.ORDERED, ["app_1"])


def test_what_an_earlier_run_stopped_is_started_though_it_is_left_alone_by_now(tmp_path: Path) -> None:
    """Such as one that could not be deployed. Not if it is gone, or if somebody suspended it since."""
    found = case(tmp_path, Phase.SWITCHED, dependents=(), facts={"running": ["app_1", "app_2", "app_3"]})
    app = web(found.account).app
    apps = {"app_1": app, "app_2": app.model_copy(update={"id": "app_2", "status": "SUSPENDED"})}
    found.work.origin = replace(found.work.origin, apps=apps)
    done_steps(found.work.unpause_others())
    assert found.noted.steps == ["switched: service app_1 started"]
    assert [each["resume"] for each in found.noted.of("service")] == [False]
    found.work.dependents = [web(found.account)]
    assert found.work.unpause_others() == []


def refuse_to_run(found: Case) -> None:
    """Let no application be started."""

    def refuse(module: str, options: Any) -> None:
        if options.get("id") == "app_1" and options.get("state") == "started":
            raise Invalid("it stopped again")

    found.noted.failing = refuse


def test_what_cannot_run_without_the_old_service_does_not_keep_it_from_being_suspended(
    tmp_path: Path,
) -> None:
    """It is started once everything else is done, and said if it cannot be."""
    facts = {"running": ["app_1"]}
    found = case(tmp_path, Phase.SWITCHED, dependents=(), facts=facts)
    found.carry_out(plan_there(found.work))
    assert found.noted.steps == ["switched: service old suspended", "switched: service app_1 started"]
    found = case(tmp_path / "other", Phase.SWITCHED, dependents=(), facts=facts)
    refuse_to_run(found)
    found.carry_out(plan_there(found.work))
    assert found.noted.steps == ["switched: service old suspended"]
    assert (found.content.phase, found.content.running) == (Phase.RELOCATED, [])
    assert found.work.task.warnings == [
        "application 'acme-web', which stopped during the relocation, could not be started again: it stopped "
        "again. Start it with hosted.services.service once what it needs is there"
    ]


def test_a_run_that_is_killed_before_its_last_start_leaves_that_to_the_next_one(tmp_path: Path) -> None:
    found = case(tmp_path, Phase.SWITCHED, dependents=())
    found.work.record.write(running=["app_1"])

    def kill(module: str, options: Any) -> None:
        if options.get("id") == "app_1":
            raise KeyboardInterrupt

    found.noted.failing = kill
    with pytest.raises(KeyboardInterrupt):
        found.carry_out(plan_there(found.work))
    assert (found.content.phase, found.content.running) == (Phase.SWITCHED, ["app_1"])


@pytest.mark.parametrize("phase", [Phase.ORDERED, Phase.RETURNING])
def test_what_cannot_be_started_does_not_keep_the_old_service_from_coming_back(
    phase: Phase, tmp_path: Path
) -> None:
    found = case(tmp_path, phase, dependents=(), facts={"running": ["app_1"]}, state="returned")
    refuse_to_run(found)
    found.carry_out(plan_back(found.work))
    assert found.noted.steps[-1] == "returning: service new suspended"
    assert found.content.phase == Phase.RETURNED
    assert "application 'acme-web', which stopped" in " ".join(found.work.task.warnings)


def test_a_rescue_succeeds_though_an_application_cannot_be_started(tmp_path: Path) -> None:
    """The old service runs again, and the next run goes on with the application."""
    found = case(tmp_path, Phase.STOPPED, facts={"running": ["app_1"]})
    found.account.states["app_1"] = "stopped"
    refuse_to_run(found)
    error = Invalid("full")
    found.work.rescue(error)
    assert "runs again" in error.message
    assert (found.content.phase, found.content.running) == (Phase.ORDERED, ["app_1"])
    assert "application 'acme-web', which stopped" in " ".join(found.work.task.warnings)


def test_what_was_never_deployed_is_not_stopped(tmp_path: Path) -> None:
    found = case(tmp_path, data=Data.DATABASE)
    found.work.dependents = [web(found.account, deployed=False)]
    assert found.work.pause_steps() == []


def test_a_service_that_stops_again_is_not_healthy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Clock(monkeypatch)
    found = case(tmp_path, Phase.STOPPED, wait_timeout=60.0)
    done_steps([found.work.healthy_step()])
    found.account.states["new"] = "stopped"
    with pytest.raises(HostedError, match=r"'survival-2' .* stopped again after it was started"):
        done_steps([found.work.healthy_step()])


def test_the_checks_of_the_task_are_made(tmp_path: Path) -> None:
    found = case(tmp_path, Phase.STOPPED, health_checks=[ProbeOptions(tcp=True)])
    with pytest.raises(HostedError, match="it has no address"):
        done_steps([found.work.healthy_step()])


@pytest.mark.parametrize(("ran", "said"), [(True, "runs again"), (False, "is as it was")])
def test_what_is_rescued_is_said(ran: bool, said: str, tmp_path: Path) -> None:
    """A new service that cannot be stopped is no reason to say less."""
    found = case(tmp_path, Phase.STOPPED, facts={"ran": ran, "running": ["app_1"]})
    found.account.states["app_1"] = "stopped"

    def refuse_new(module: str, options: Any) -> None:
        if options["id"] == "new":
            raise Invalid("not now")

    found.noted.failing = refuse_new
    error = Invalid("full")
    found.work.rescue(error)
    assert error.message.startswith(f"full. service 'survival' (old) {said}, and nothing that refers to it")
    assert "service 'survival-2' is billed and not in use" in error.message
    assert found.noted.steps == [
        *["stopped: service old started"] * ran,
        "stopped: service app_1 started",
    ]
    assert (found.content.phase, found.content.running) == (Phase.ORDERED, [])


def done_steps(steps: Sequence[Step]) -> None:
    """Carry out some steps."""
    carry_out(Plan(result=None, steps=steps))
