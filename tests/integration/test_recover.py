# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recoveries as users make them: from the copies of role `backups`, by a playbook, as a drill that is killed.

RECOVERY_KILLS is after how many of a run's requests a drill is killed, as `3,11`, as a range `1-40`, or as
`random:1000` for so many places that nobody chose.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.killing import kill_play_after, kill_points
from integration.test_blueprint_killed import register_key
from unit.plugins.module_utils._resources.clones.platform import files, ids_of, writes_to
from unit.plugins.module_utils._resources.recoveries.platform import shelve

SIZE = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
GAMES = [f"game-{number}" for number in range(1, 7)]
CACHES = ["cache-1", "cache-2"]
SLUGS = ["acme-api", "acme-web"]
BLUEPRINT: dict[str, Any] = {
    "project": "shop",
    "defaults": {"services": {"host": "node-paris-1", "dimensions": SIZE}},
    "services": {
        **{name: {"product": "minecraft", "state": "started"} for name in GAMES},
        **{name: {"product": "valkey"} for name in CACHES},
    },
    "applications": {
        "api": {"slug": "acme-api", "image": {"tag": "v1"}},
        "web": {"slug": "acme-web", "image": {"tag": "v1"}, "environment": {"API": "${api.URL}"}},
    },
}
"""A project of ten services, of which four have no content of their own."""
SHOP: dict[str, Any] = {
    "balance_cents": 1_000_000,
    "projects": ["old", "shop"],
    "services": [
        *(
            {"name": name, "product": "minecraft", "project": "shop", "files": {"live.txt": name}}
            for name in GAMES
        ),
        *({"name": name, "product": "valkey", "project": "shop"} for name in CACHES),
    ],
    "apps": [
        {"slug": slug, "project": "shop", "images": [{"tag": "v1"}], "deployed": "v1"} for slug in SLUGS
    ],
}
WITHOUT = (*CACHES, "api", "web")
LIMIT = "200"
IN_FLIGHT = 0.01
"""How many seconds a request takes, so that a kill often meets some."""
REQUESTS = 779
"""How many a whole drill makes."""
IN_A_ROW = 4
"""How many drills are killed before one runs to its end."""


def drill_play(folder: Path, key: str, without: Sequence[str] = WITHOUT, **given: Any) -> str:
    """Return a play with the drill."""
    role = {
        "role": "hosted.services.recovery_drill",
        "recovery_drill_src": "shop.yml",
        "recovery_drill_copies": "copies",
        "recovery_drill_project": "shop-drill",
        "recovery_drill_without_data": [*without],
        "recovery_drill_max_monthly": LIMIT,
        "recovery_drill_private_key_file": key,
        "recovery_drill_secrets_dir": str(folder),
        "recovery_drill_report": "drill.json",
        "recovery_drill_wait_timeout": 60,
        **given,
    }
    return yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "roles": [role]}])


def prepare(ansible: Ansible, sandbox: Sandbox) -> tuple[dict[str, str], str]:
    """Let there be the project that lives, and its copies; return its ids, and the key of the account."""
    sandbox.seed(SHOP)
    key = register_key(sandbox, ansible.folder)
    (ansible.folder / "shop.yml").write_text(yaml.safe_dump(BLUEPRINT))
    for number, name in enumerate(GAMES):
        shelve(ansible.folder / "copies", f"svc_{number}", {"a/b.txt": name * 1000}, name=name)
    sandbox.clear_journal()
    return ids_of(sandbox, "shop"), key


def services_of_drills(sandbox: Sandbox) -> list[dict[str, Any]]:
    """Return what the platform has billed for drills, deleted services included."""
    return [each for each in sandbox.ledger()["billed"] if each["name"].endswith("-drill")]


def spent(sandbox: Sandbox) -> Decimal:
    """Return what all drills have cost together."""
    return sum((Decimal(each["cents"]) / 100 for each in services_of_drills(sandbox)), Decimal(0))


def running(sandbox: Sandbox) -> dict[str, Decimal]:
    """Return the services of drills that are there, by id, with what each costs a month."""
    there = {each["id"] for each in sandbox.api("GET", "/api/resources").json()["items"]}
    return {
        each["service_id"]: Decimal(each["monthly_millicents"]) / 1000
        for each in services_of_drills(sandbox)
        if each["service_id"] in there
    }


def check_nothing_is_left(sandbox: Sandbox, live: dict[str, str]) -> None:
    """Check that nothing but the project that lives is there, as it was."""
    check_live_alone(sandbox, live)
    assert {name: files(sandbox, live[name]) for name in GAMES} == {
        name: {"/live.txt": name} for name in GAMES
    }


def check_live_alone(sandbox: Sandbox, live: dict[str, str]) -> None:
    """Check that nothing but the project that lives is there, which nobody wrote to."""
    names = {each["name"] for each in sandbox.api("GET", "/api/resources").json()["items"]}
    assert names == set(live)
    assert [each["name"] for each in sandbox.api("GET", "/api/projects").json()] == ["default", "old", "shop"]
    assert ids_of(sandbox, "shop") == live
    assert writes_to(sandbox, live) == []


# --- A drill --------------------------------------------------------------------------------------------


def test_a_drill_tells_what_came_back_and_leaves_nothing(ansible: Ansible, sandbox: Sandbox) -> None:
    live, key = prepare(ansible, sandbox)
    sandbox.delays(sftp=1)
    done = ansible.playbook(drill_play(ansible.folder, key)).succeed()
    told = json.loads((ansible.folder / "drill.json").read_text())
    assert told["restored"] and told["problems"] == [] and not told["left_over"]
    assert {each["name"] for each in told["services"]} == {f"{name}-drill" for name in GAMES}
    assert all(each["verified"] == {"files": 1, "bytes": 6000} for each in told["services"])
    assert told["rpo_seconds"] > 0 and told["rto_seconds"] > 0
    assert f"for {told['monthly']} {told['currency']} a month, at most {LIMIT}" in " ".join(
        done.stdout.split()
    )
    assert {each["name"] for each in services_of_drills(sandbox)} <= {f"{name}-drill" for name in [*live]}
    check_nothing_is_left(sandbox, live)
    assert spent(sandbox) <= Decimal(told["monthly"])


def failed(ansible: Ansible, play: str) -> dict[str, Any]:
    """Run a drill that has to fail; return what it reports."""
    assert ansible.playbook(play).rc
    told: dict[str, Any] = json.loads((ansible.folder / "drill.json").read_text())
    assert not told["restored"]
    return told


@pytest.mark.night
def test_drills_that_fail_tell_why_and_leave_nothing(ansible: Ansible, sandbox: Sandbox) -> None:
    """A copy is missing, so no order goes out; an order fails; a copy holds nothing; answers are wrong.

    One that cannot begin is reported as well: else the report would be that of the drill before. The playbook
    `report` reads what it tells.
    """
    live, key = prepare(ansible, sandbox)
    play = drill_play(ansible.folder, key)
    told = failed(ansible, drill_play(ansible.folder, key, WITHOUT[1:]))
    assert "there is no copy of service 'cache-1'" in told["problems"][0]
    assert [each for each in sandbox.writes() if "quote" not in each] == []
    sandbox.fault("order.create", "status", nth=4, status=400)
    assert failed(ansible, play)["problems"]
    sandbox.clear_faults()
    check_nothing_is_left(sandbox, live)
    [file] = (ansible.folder / "copies" / "svc_2").glob("nightly-*/a/b.txt")
    held = file.read_text()
    file.unlink()
    [problem] = failed(ansible, play)["problems"]
    assert problem.startswith("game-3-drill: its copy nightly-") and "holds no file" in problem
    file.write_text(held)
    blueprint = {**BLUEPRINT, "services": {**BLUEPRINT["services"], "db": {"product": "postgresql"}}}
    (ansible.folder / "shop.yml").write_text(yaml.safe_dump(blueprint))
    queries = [
        {"service": "db", "sql": "SELECT 1", "expect": 1},
        {"service": "db", "sql": "SELECT 2", "expect": "two"},
        {"service": "db", "sql": "SELECT 3 WHERE 1 = 2"},
    ]
    play = drill_play(ansible.folder, key, [*WITHOUT, "db"], recovery_drill_queries=queries)
    told = failed(ansible, play)
    assert told["problems"] == [
        "db: SELECT 2 returns 2, not two",
        "db: SELECT 3 WHERE 1 = 2 returns no row",
    ]
    assert not told["left_over"]
    check_nothing_is_left(sandbox, live)
    assert spent(sandbox) <= Decimal(LIMIT)
    shown = {"drill_report": told}
    report = ansible.tasks(f"- name: Report\n  hosted.services.report_info: {json.dumps(shown)}\n").succeed()
    assert report["Report"].result["report"]["backups"]["drill"]["restored"] is False
    kill_play_after(ansible, sandbox, 420, play)
    sandbox.fault("*", "status", status=403, count=None)
    told = failed(ansible, play)
    assert told["left_over"] and "Delete what an earlier drill has left" in told["problems"][0]


def chains() -> Iterator[tuple[int, ...]]:
    """Yield after how many requests each of a few drills in a row is killed."""
    wanted = os.environ.get("RECOVERY_KILLS", "230,640")
    how, _colon, count = wanted.partition(":")
    if how == "random":
        chance = random.Random(int(os.environ.get("RECOVERY_SEED", "1")))
        points = [chance.randint(1, REQUESTS) for _each in range(int(count))]
    else:
        points = [*kill_points("RECOVERY_KILLS", wanted)]
    yield from (tuple(points[at : at + IN_A_ROW]) for at in range(0, len(points), IN_A_ROW))


@pytest.mark.night
@pytest.mark.parametrize("chain", [*chains()], ids=lambda chain: "-".join(map(str, chain)))
def test_drills_that_are_killed(chain: tuple[int, ...], ansible: Ansible, sandbox: Sandbox) -> None:
    """The next one deletes what is left before it orders anything. After a whole one, nothing is left."""
    live, key = prepare(ansible, sandbox)
    play = drill_play(ansible.folder, key)
    most = Decimal(0)
    for point in chain:
        before = running(sandbox)
        sandbox.clear_journal()
        sandbox.fault("*", "latency", latency=IN_FLIGHT, count=None)
        kill_play_after(ansible, sandbox, point, play)
        sandbox.clear_faults()
        after = running(sandbox)
        most = max(most, sum(after.values(), Decimal(0)))
        if set(after) - set(before):
            assert not set(after) & set(before)
        assert writes_to(sandbox, live) == []
    sandbox.clock(advance=2)  # until what was ordered last can be read
    ansible.playbook(play).succeed()
    told = json.loads((ansible.folder / "drill.json").read_text())
    assert told["restored"]
    assert most <= Decimal(told["monthly"])
    check_nothing_is_left(sandbox, live)
