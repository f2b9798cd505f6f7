# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sample of the fault matrix and of the random runs, and proof that it sees a slip in the retry table.

`make test-faults` and `make test-chaos` run the whole of both (docs/reliability.md).
"""

from __future__ import annotations

import random
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.routes import ROUTES, Idempotency
from ansible_collections.hosted.services.plugins.module_utils._resources import service
from ansible_collections.hosted.services.plugins.module_utils._resources.databases.dump import (
    Source,
    dump_from,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies import last_copy
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.folders import (
    CopyFolder,
    Entry,
    entry_on_disk,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.last_copy import (
    DumpContent,
    LastCopy,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import Pending
from ansible_collections.hosted.services.plugins.module_utils._sftp.local import Local
from ansible_collections.hosted.services.plugins.module_utils._sftp.remote import Remote
from faults.chaos import ChaosRun, Play
from faults.hurried import Clock
from faults.matrix import Bench, Cell
from faults.oracle import (
    BLIND,
    DOUBLE,
    FORGOTTEN,
    STATE,
    UNCOPIED,
    Problem,
    forgotten,
    makes,
    uncopied_deletions,
)
from faults.runner import Runner
from faults.scenarios import ACCOUNT, SCENARIOS, Scenario
from faults.truth import Truth
from hosted_sandbox.gaps import Profile

SEED = 1
DRAWN = 2
"""How many cells of a scenario are drawn, beside those that hurt most."""
FIRST = {each.module.removesuffix("_info"): each for each in reversed(SCENARIOS)}
SAMPLE = [each for each in SCENARIOS if each.creates or each in FIRST.values()]
"""One of each noun, and what makes something."""
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
PLANTED = {scenario.creates: scenario.name for scenario in SCENARIOS if scenario.creates}
"""The routes that must not be called twice, each with a scenario that calls it."""


def hurts_most(cell: Cell) -> bool:
    """Tell whether the answer to a call is lost that makes something."""
    return cell.fault == "reset after" and makes(*cell.route.split())


def leaves_in_the_dark(cell: Cell, bench: Bench) -> bool:
    """Tell whether nothing is heard any more from the first call on that changes something, or the next."""
    first = next((exchange.number for exchange in bench.undisturbed.exchanges if exchange.writes), 0)
    return cell.fault == "reset after, for good" and 0 < first <= cell.call <= first + 1


def sample(bench: Bench) -> list[Cell]:
    """Return some cells of a scenario, always the same ones."""
    cells = list(bench.cells())
    drawn = random.Random(f"{SEED} {bench.scenario.name}").sample(cells, DRAWN)
    return [cell for cell in cells if hurts_most(cell) or leaves_in_the_dark(cell, bench)] + drawn


def problems(bench: Bench) -> list[tuple[str, Problem]]:
    found = [bench.judge(cell) for cell in sample(bench)]
    assert found
    return [(verdict.cell, problem) for verdict in found for problem in verdict.problems]


def skip_without(scenario: Scenario) -> None:
    """Skip a test of a scenario whose programs this machine does not have."""
    if scenario.missing:
        pytest.skip(f"not installed: {scenario.missing}")


@pytest.mark.parametrize("scenario", SAMPLE, ids=lambda scenario: scenario.name)
def test_a_sample_of_the_matrix(scenario: Scenario, work: Runner) -> None:
    """Under any fault a task succeeds or tells the truth, and a clean run leads to the wished state.

    The scenarios take turns through the two profiles that are not plain.
    """
    skip_without(scenario)
    found = problems(Bench(work, scenario, Profile.NAMES[1 + SCENARIOS.index(scenario) % 2]))
    assert not found, "\n".join(f"{cell}: {problem}" for cell, problem in found)


def test_a_field_that_is_new_is_compared(work: Runner) -> None:
    """Nobody has to enter it anywhere."""
    work.begin(ACCOUNT)
    truth = Truth.of(work.sandbox)
    changed = deepcopy(truth.saved)
    changed["records"]["service"][0]["labels"] = {"team": "blue"}
    assert truth.differences(Truth(changed, truth.states)).keys() == {"service"}


@pytest.mark.parametrize("route", PLANTED)
def test_a_slip_in_the_retry_table_is_caught(
    route: str, work: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were a call that makes something marked as one to repeat, the sample above would fail."""
    bench = Bench(work, BY_NAME[PLANTED[route]])
    monkeypatch.setitem(vars(ROUTES[route]), "idempotency", Idempotency.IDEMPOTENT)
    kinds = {problem.kind for __, problem in problems(bench)}
    assert BLIND in kinds
    if route == "ORDER":
        assert DOUBLE in kinds


def test_the_shortest_pause_moves_the_clock() -> None:
    """A wait that has next to nothing left would never end otherwise."""
    clock = Clock(lambda seconds: None)
    begun = clock.now
    clock.sleep(1e-20)
    assert begun < clock.now < begun + 1e-6


def test_no_route_that_makes_something_is_left_out() -> None:
    """The oracle's own list of them, and the slips above, are the retry table's."""
    once = {
        name for name, route in ROUTES.items() if route.idempotency in (Idempotency.CREATE, Idempotency.NEVER)
    }
    assert once == set(PLANTED), "give a task under faults in cases.yml of its target `creates: ROUTE`"
    assert [name for name in once if not makes(ROUTES[name].method, ROUTES[name].path)] == []


@pytest.mark.parametrize("profile", ["plain", "terse"])
@pytest.mark.parametrize("seed", range(1, 4))
def test_a_sample_of_the_random_runs(seed: int, profile: str, work: Runner) -> None:
    """A play with a fault at every fifth call leaves nothing behind that a clean run does not put right."""
    work.begin(ACCOUNT, profile)
    outcome = ChaosRun(work, Truth.of(work.sandbox), seed, profile).run()
    assert outcome.problems == []
    assert outcome.tasks > 0


def test_a_change_that_is_noted_and_never_brought_into_effect_is_caught(
    work: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each run would be unchanged, and the container would go on with the old environment."""
    work.begin(ACCOUNT)
    environment = {"slug": "shop", "variables": {"MODE": "1"}, "state_dir": "{folder}/state"}
    play = [Play("app_deploy", {"slug": "shop", "tag": "v2"}), Play("environment", environment)]
    run = ChaosRun(work, Truth.of(work.sandbox), 1)
    run.play, run.faults = play, [{} for __ in play]
    own = run.disturbed

    def disturbed() -> None:
        own()
        monkeypatch.setattr(Pending, "outstanding", lambda own: ())

    monkeypatch.setattr(run, "disturbed", disturbed)
    [(kind, text)] = run.run().problems
    assert kind == STATE and "MODE" in text


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/api/apps/shop/environment", {"environment": {"MODE": "new"}}),
        ("PUT", "/api/resources/{id_mc}/deploy", {"command": "java -Xmx1g"}),
    ],
)
def test_a_change_that_is_not_in_effect_and_noted_nowhere_is_caught(
    work: Runner, method: str, path: str, body: dict[str, object]
) -> None:
    work.begin(ACCOUNT)
    assert list(forgotten(Truth.of(work.sandbox), work.folder)) == []
    assert work.sandbox.api(method, path.format(**work.facts), body).ok
    after = Truth.of(work.sandbox)
    [problem] = forgotten(after, work.folder)
    assert problem.kind == FORGOTTEN
    [service] = after.unapplied()
    (work.folder / "pending").mkdir()
    (work.folder / "pending" / "1.json").write_text(service["id"])
    assert list(forgotten(after, work.folder)) == []


DUMPED = "service: delete a database with a last copy"
COPIED = ("service: delete with a last copy", "service: delete with backups and a last copy")


def uncopied(bench: Bench) -> list[Problem]:
    """Return what the oracle finds in a run that nothing disturbs."""
    bench.restore()
    return list(uncopied_deletions(bench.run()))


def check_caught(
    bench: Bench, damages: dict[str, list[tuple[Any, str, Any]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the oracle sees each of these damages to the collection, and nothing without them."""
    for damage, changes in damages.items():
        with monkeypatch.context() as patch:
            for owner, attribute, value in changes:
                patch.setattr(owner, attribute, value)
            kinds = {problem.kind for problem in uncopied(bench)}
        assert kinds == {UNCOPIED}, damage
    assert uncopied(bench) == []


@pytest.mark.parametrize("name", COPIED)
def test_a_deletion_without_a_whole_copy_is_caught(
    name: str, work: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were nothing copied, a copy not verified, or given its name too early, the matrix would fail."""
    bench = Bench(work, BY_NAME[name])
    assert len(bench.undisturbed.deletions) == 1
    assert uncopied(bench) == []
    pull = Remote.pull

    async def spoil(own: Remote, target: Local, path: str, *rest: Any) -> None:
        await pull(own, target, path, *rest)
        file = Path(target.at(path))  # of another size, it would not pass for copied
        file.write_bytes(b"?" * file.stat().st_size)

    damages: dict[str, list[tuple[Any, str, Any]]] = {
        "nothing is copied": [(service, "plan_kept", lambda task, view: None)],
        "a wrong byte and no comparison": [
            (Remote, "pull", spoil),
            (LastCopy, "_verify", lambda own, folder: None),
        ],
        "no name": [(CopyFolder, "place", lambda own, partial, made_at: partial)],
    }
    check_caught(bench, damages, monkeypatch)


def test_the_deletion_of_a_database_without_a_whole_dump_is_caught(
    work: Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The copy is restored when the deletion is asked for, and has to hold the rows that there are then."""
    skip_without(BY_NAME[DUMPED])
    bench = Bench(work, BY_NAME[DUMPED])
    [deletion] = bench.undisturbed.deletions
    assert len(deletion.copies) == 1 and deletion.doubt == ""

    def half(folder: Path, source: Source) -> Path:
        path = dump_from(folder, source)
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
        return path

    def unread(own: DumpContent, folder: str) -> list[Entry]:
        return [replace(entry_on_disk(folder, own.source.engine.file), mode=None)]

    def changed(own: DumpContent, folder: str) -> list[Entry]:
        assert work.database is not None
        work.database.sql("INSERT INTO orders VALUES (-1, 'in between');", work.database.database)
        return unread(own, folder)

    damages: dict[str, list[tuple[Any, str, Any]]] = {
        "nothing is dumped": [(service, "plan_kept", lambda task, view: None)],
        "half a dump that nobody reads": [(last_copy, "dump_from", half), (DumpContent, "verify", unread)],
        "a change that no second dump finds": [(DumpContent, "verify", changed)],
        "no name": [(CopyFolder, "place", lambda own, partial, made_at: partial)],
    }
    check_caught(bench, damages, monkeypatch)
