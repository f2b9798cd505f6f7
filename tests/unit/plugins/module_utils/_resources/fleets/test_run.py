# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A fleet: what it is asked for, its batches and health, what it remembers, and the run itself."""

from __future__ import annotations

import itertools
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.models import ProjectGraph, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets import run as run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.health import Health
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.members import (
    FLEETS,
    Begun,
    FleetOptions,
    Memory,
    Modules,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.run import (
    FleetRun,
    NotBegun,
    batch_sizes,
    plan_batches,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.many_services import (
    SomeFailed,
    order_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import runner
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Step,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    one_at_a_time,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Invalid,
    WaitEnded,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.time_zones import current_time
from unit.plugins.fakes import FakeClient

IDS = list("abcdefghij")
References = dict[str, set[str]]
SELECTED = st.lists(st.sampled_from(IDS), unique=True, max_size=10)
SIZES = st.lists(st.integers(1, 9), min_size=1, max_size=3)
REFERENCES = st.dictionaries(st.sampled_from(IDS), st.sets(st.sampled_from(IDS), max_size=3))


@given(
    SELECTED, REFERENCES, st.lists(st.integers(1, 9), min_size=1, max_size=3), st.booleans(), st.booleans()
)
def test_batches_of_random_fleets(
    fleet: list[str], references: References, sizes: list[int], canary: bool, stops: bool
) -> None:
    needs = {id: set(others) for id, others in order_of(fleet, references).needs.items()}
    turned = {id: {other for other in needs if id in needs[other]} for id in needs}
    before = turned if stops else needs
    batches = plan_batches(fleet, before, batch_sizes(sizes, canary))
    assert sorted(itertools.chain(*batches)) == sorted(fleet)
    for batch, most in zip(batches, batch_sizes(sizes, canary), strict=False):
        assert 1 <= len(batch) <= most
    turn = {id: number for number, batch in enumerate(batches) for id in batch}
    for id in fleet:
        assert all(turn[other] < turn[id] for other in before.get(id, ()) if other in turn)
    if canary and batches:
        assert len(batches[0]) == 1


def test_a_container_that_stops_again_ends_the_wait() -> None:
    """Once it was seen so twice, as metrics may lag."""
    client = FakeClient()
    client.add_service("svc", state="stopped")
    options = FleetOptions(name="a", state="started", wait_timeout=1.0)
    lagging = Health(Task(cast(Any, client), options), cast(Any, client.service("svc")), ())
    for state in ("stopped", "starting", "stopped", "running", "stopped"):
        client.states["svc"] = state
        lagging.is_healthy(lagging.problem())
    with pytest.raises(WaitEnded, match="stopped again after it was started"):
        lagging.is_healthy(lagging.problem())


URL = "https://api.example.com"
Edges = list[tuple[str, str]]


class Power:
    """A module that plans one signal for each service whose state is another, in place of module service."""

    def __init__(self, client: FakeClient, broken: set[str] | None = None) -> None:
        self.client, self.broken = client, broken or set()

    def read_options(self, arguments: Any) -> dict[str, Any]:
        """Hand the arguments on."""
        return dict(arguments)

    def plan(self, task: Task[Any]) -> Plan:
        """Plan a start, a stop or a restart; what else there is to set is set already."""
        id, state = task.options["id"], task.options["state"]
        signal = {"started": "start", "stopped": "stop", "restarted": "restart"}.get(state)
        as_asked = (state, self.client.states[id]) in (("started", "running"), ("stopped", "stopped"))
        if signal is None or as_asked:
            return Plan({})

        def send() -> None:
            if id in self.broken:
                raise Invalid(f"{id} is broken")
            self.client.power(id, signal)

        return Plan({}, [Step(f"{signal} {id}", send)])


class Account(FakeClient):
    """An account whose services have names like their ids, and refer to each other."""

    def __init__(self, *ids: str) -> None:
        super().__init__()
        self.edges: Edges = []
        for id in ids:
            self.add_service(id, id)

    def project_graph(self, id: str) -> ProjectGraph:
        edges = [{"from_": one, "to": other} for one, other in self.edges]
        return ProjectGraph.model_validate({"id": id, "edges": edges})

    @property
    def signals(self) -> list[tuple[str, str]]:
        """The signals that were sent, in their order."""
        return [(call[1], call[2]) for call in self.calls if call[0] == "power"]


def new_run(folder: Path, client: FakeClient, state: str, *broken: str, **given: Any) -> FleetRun:
    """Return a run on all services of the default project, or on what else is given."""
    place = {} if "services" in given else {"project": "default"}
    fixed = {"name": "shop", "state_dir": str(folder), "base_url": URL, "healthy_for": 0.0, "max_parallel": 1}
    options = FleetOptions(**{**fixed, **place, "batch_size": ["1"], "state": state, **given})
    module = cast(Any, Power(client, set(broken)))
    return FleetRun(Task(cast(Any, client), options), Modules(module, module))


def planned(run: FleetRun) -> Plan:
    run.select()
    run.decide()
    return run.as_plan()


def go(run: FleetRun) -> Plan:
    """Carry the plan out, and give the lock back as the end of a task does."""
    plan = planned(run)
    with run.task.closing:
        runner.apply_plan(plan, run.task)
    return plan


def outcomes(plan: Plan) -> dict[str, str]:
    return {one["service"]: one["outcome"] for one in plan.result}


def memory_in(folder: Path) -> Memory:
    return Memory(FLEETS.of(URL, "shop", str(folder)))


# --- The plan ---------------------------------------------------------------------------------------


def test_a_stop_is_remembered_before_anything_is_sent(tmp_path: Path) -> None:
    """What ran, and what did not; a second stop has nothing to do nor to remember."""
    client, seen = Account("a", "b"), list[Any]()
    client.states["b"] = "stopped"
    client.before["power"] = lambda: seen.append(memory_in(tmp_path).record)
    plan = go(new_run(tmp_path, client, "stopped"))
    assert client.signals == [("a", "stop")] and outcomes(plan) == {"a": "changed", "b": "unchanged"}
    assert seen[0].ran == {"a": True, "b": False} and [each.ran for each in seen[0].begun.values()] == [True]
    after = memory_in(tmp_path).record
    assert after.ran == {"a": True, "b": False} and after.what is None and not after.begun
    again = new_run(tmp_path, client, "stopped")
    assert list(planned(again).steps) == [] and not again.has_to_remember()


def test_a_stop_that_fails_forgets_what_it_did_not_begin(tmp_path: Path) -> None:
    """It still runs, so whoever stops it later does so for a reason of their own."""
    client = Account("a", "b", "c")
    with pytest.raises(SomeFailed, match="Not begun: service 'b'"):
        go(new_run(tmp_path, client, "stopped", "a"))
    record = memory_in(tmp_path).record
    assert record.ran == {"a": True, "b": None, "c": None} and record.begun.keys() == {"a"}
    client.states["c"] = "stopped"
    go(new_run(tmp_path, client, "stopped"))
    go(new_run(tmp_path, client, "started"))
    assert client.states == {"a": "running", "b": "running", "c": "stopped"}


def test_what_ran_is_brought_back(tmp_path: Path) -> None:
    """In the order of the references, and noted so that it is not done again."""
    client = Account("a", "b")
    client.edges = [("a", "b")]
    go(new_run(tmp_path, client, "stopped"))
    go(new_run(tmp_path, client, "started"))
    assert client.signals == [("a", "stop"), ("b", "stop"), ("b", "start"), ("a", "start")]
    assert memory_in(tmp_path).record.ran == {"a": None, "b": None}


def test_a_restart_within_the_bound_is_over(tmp_path: Path) -> None:
    """The next one is a new restart of all services, not the rest of this one."""
    client = Account("a", "b", "c")
    for _week in range(3):
        client.calls.clear()
        plan = go(new_run(tmp_path, client, "restarted", "b", max_failures="1"))
        assert client.signals == [("a", "restart"), ("c", "restart")]
        assert outcomes(plan) == {"a": "changed", "b": "failed", "c": "changed"}
        assert memory_in(tmp_path).record.what is None


def test_a_service_that_a_restart_left_down_is_started_by_the_next_one(tmp_path: Path) -> None:
    """It did not stop by itself, so it is not left alone as one that does not run."""
    client = Account("a", "b")
    fail = client.power

    def power(id: str, signal: str) -> None:
        fail(id, signal)
        if id == "b" and signal == "restart":
            client.states[id] = "stopped"
            raise Invalid("b did not come up")

    client.power = power  # type: ignore[method-assign]
    plan = go(new_run(tmp_path, client, "restarted", max_failures="1"))
    assert outcomes(plan) == {"a": "changed", "b": "failed"}
    client.calls.clear()
    plan = go(new_run(tmp_path, client, "restarted", max_failures="1"))
    assert client.signals == [("a", "restart"), ("b", "start")]
    assert outcomes(plan) == {"a": "changed", "b": "changed"}
    assert memory_in(tmp_path).record.what is None


def test_two_runs_do_not_work_on_a_fleet_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither at the same moment, nor with a plan from before the other."""
    monkeypatch.setattr(run_module, "LOCK_SECONDS", 0.0)
    first, second = (new_run(tmp_path, Account("a"), "restarted") for _turn in range(2))
    with one_at_a_time(f"fleet:{first.memory.file.path}", "busy"), pytest.raises(Invalid, match="working on"):
        first.first_step().run()
    with first.task.closing:
        first.first_step().run()
    assert memory_in(tmp_path).record.what == first.task.options.what
    with second.task.closing, pytest.raises(Invalid, match="another run has worked on fleet 'shop' since"):
        second.first_step().run()


# --- The turn of a service --------------------------------------------------------------------------


def test_a_service_is_looked_at_again_in_its_turn(tmp_path: Path) -> None:
    """Somebody stopped it meanwhile, so it is left alone; and none begins beyond the bound."""
    client = Account("a", "b")
    run = new_run(tmp_path, client, "restarted")
    planned(run)
    client.states["a"] = "stopped"
    assert list(run.begin(run.members["a"])) == []
    assert run.members["a"].verdict == (False, "it does not run")
    assert run.members["a"].job.result["state"] == "stopped"
    run.members["b"].job.error = Invalid("broken")
    with pytest.raises(NotBegun, match="1 failed, and max_failures allows 0"):
        run.begin(run.members["a"])


class Dozing(Account):
    """An account whose service somebody suspends right after it was read, once it dozes."""

    dozes = False

    def service(self, id: str) -> Service | None:
        found = super().service(id)
        if self.dozes:
            self.service_records[id]["status"] = "SUSPENDED"
        return found


def cut_off(client: Account, folder: Path, state: str, **given: Any) -> FleetRun:
    """Return a run by the real modules, where an earlier one ran the service, began it and was cut off."""
    run = new_run(folder, client, state, **given)
    run.modules = Modules(SERVICE, SERVICE)
    record = run.memory.record
    record.note_stop("a", True)
    record.begin(run.task.options.what, False)
    record.begun["a"] = Begun(current_time() - timedelta(seconds=60), ran=True)
    run.memory.write()
    planned(run)
    return run


@pytest.mark.parametrize(
    ("state", "given"), [("started", {}), ("restarted", {}), ("updated", {"command": "x"})]
)
def test_what_is_suspended_in_its_turn_is_not_resumed(
    tmp_path: Path, state: str, given: dict[str, Any]
) -> None:
    """Whoever suspended it wants to save its price, so it is left alone, and still has to be brought back."""
    client = Dozing("a")
    client.states["a"] = "stopped"
    run = cut_off(client, tmp_path, state, **given)
    client.dozes = True
    member = run.members["a"]
    for step in run.begin(member):
        step.run()
    assert client.calls == [] and memory_in(tmp_path).record.ran == {"a": True}
    assert member.verdict == (False, "it is suspended") and member.job.result["status"] == "SUSPENDED"
