# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans for backups and sleep: what is refused where, and what the roles get."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import (
    Document,
    parse_document,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.rendering import Answer
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

SHOP: dict[str, Any] = {
    "project": "shop",
    "services": {
        "db": {"name": "Main database", "product": "postgresql"},
        "world": {"id": "svc_1", "product": "minecraft"},
        "fixed": {"state": "started"},
    },
    "applications": {"web": {"slug": "acme-web"}},
}


def plans(section: str, plan: dict[str, Any], key: str = "nightly") -> Any:
    """Return the plans of a section that has one."""
    return read_contents(Document({**SHOP, section: {key: plan}}, "")).plans[section]


def problems(text: str, folder: str = "") -> list[str]:
    """Return what is wrong with a shop that has more sections, without the places of its own lines."""
    shop = "project: shop\nservices:\n  db: {product: postgresql}\n  game: {state: started}\n"
    document = parse_document(shop + text, "shop.yml", lambda unread: Answer("hush"))
    document.folder = folder
    with pytest.raises(Invalid) as failure:
        read_contents(document)
    found: list[str] = failure.value.details["problems"]
    return found


def test_a_plan_is_returned_as_its_role_takes_it() -> None:
    written = {"services": ["db", "world", "web"], "may_skip": ["web"], "at": "02:00", "keep": {"daily": 7}}
    written["offsite"] = {"dest": "/srv/copies"}
    assert plans("backups", written) == [
        {
            "name": "nightly",
            "project": "shop",
            "services": ["Main database", "svc_1", "acme-web"],
            "may_skip": ["acme-web"],
            "at": "02:00",
            "keep": {"daily": 7},
            "offsite": {"dest": "/srv/copies"},
        }
    ]


def test_without_services_it_is_for_the_whole_project() -> None:
    [plan] = plans("backups", {"name": "all", "keep": {"within": "14d"}})
    assert plan == {"name": "all", "project": "shop", "keep": {"within": "14d"}}


def test_a_plan_for_sleep_too() -> None:
    written = {
        "services": ["world", "db"],
        "awake": [{"days": ["mon"], "from": "08:00", "to": "20:00"}],
        "exceptions": [{"date": "2026-12-24", "awake": []}],
        "start_after": {"world": ["db"]},
        "time_zone": "Europe/Paris",
        "max_monthly": 12.5,
        "not_while_busy": {"cpu_percent": 5},
    }
    [plan] = plans("sleep", written, key="nights")
    assert plan == {
        **written,
        "name": "nights",
        "project": "shop",
        "services": ["svc_1", "Main database"],
        "start_after": {"svc_1": ["Main database"]},
        "max_monthly": "12.5",
    }


def test_sections_that_are_not_written_are_left_alone() -> None:
    assert read_contents(Document(SHOP, "")).plans == {}
    assert read_contents(Document({**SHOP, "backups": {}}, "")).plans == {"backups": []}


@pytest.mark.parametrize(
    ("plan", "path", "said"),
    [
        ("{keep: {daily: 1}, services: [dbs]}", "backups.nightly.services.0", "did you mean 'db'?"),
        ("{keep: {daily: 1}, may_skip: [game, x]}", "backups.nightly.may_skip.1", "of this file"),
        ("{keep: {daily: 1}, services: []}", "backups.nightly.services", "it is empty; give it"),
        ("{keep: {daily: 1}, services: ['']}", "backups.nightly.services.0", "it is empty; give it"),
        ("{keep: {dayly: 1}}", "backups.nightly.keep.dayly", "did you mean 'daily'?"),
        ("{keep: {daily: 0}}", "backups.nightly.keep", "would keep nothing. Set one of last, hourly"),
        ("{keep: {daily: -1}}", "backups.nightly.keep.daily", "it is -1; it must be 0 or more"),
        ("{keep: {max_delete: -1, last: 1}}", "backups.nightly.keep.max_delete", "0 or more"),
        ("{keep: {within: soon}}", "backups.nightly.keep", "'soon' is not a duration"),
        ("{keep: {last: 1, time_zone: Mars}}", "backups.nightly.keep.time_zone", "is not known here"),
        ("{keep: {last: 1}, at: '25:00'}", "backups.nightly.at", "write a time from 00:00 to 23:59"),
        ("{keep: {last: 1}, every: day}", "backups.nightly.every", "must be 'hourly', 'daily'"),
        ("{keep: {last: 1}, max_age: x}", "backups.nightly.max_age", "'x' is not a duration"),
        ("{keep: {last: 1}, offsite: {dest: a}}", "backups.nightly.offsite.dest", "an absolute path"),
        ("{keep: {last: 1}, name: A}", "backups.nightly.name", "of lowercase letters"),
        ("{keep: {last: 1}, before: [x]}", "backups.nightly.before", "there is no such key"),
        ("{keep: {last: 1}, max_parallel: 0}", "backups.nightly.max_parallel", "1 or more"),
        ("{keep: {last: 1}, wait_timeout: -1}", "backups.nightly.wait_timeout", "0 or more"),
        ("{keep: {last: 1}, name: !vault x}", "backups.nightly.name", "a plan is shown"),
        ("{services: [db]}", "backups.nightly.keep", "it is missing; write it"),
    ],
)
def test_a_plan_for_backups_is_refused_where_it_is_wrong(plan: str, path: str, said: str) -> None:
    [found] = problems(f"backups:\n  nightly: {plan}\n")
    assert re.match(rf"shop\.yml:6:\d+: {re.escape(path)}: ", found)
    assert said in found


@pytest.mark.parametrize(
    ("plan", "path", "said"),
    [
        ("awake: [{from: '25:00'}]", "awake.0", "from is '25:00'"),
        ("awake: [{to: 20:00}]", "awake.0.to", "put it in quotes"),
        ("awake: [{days: []}]", "awake.0.days", "it is empty"),
        ("awake: [{days: [monday]}]", "awake.0.days.0", "it must be 'mon'"),
        ("exceptions: [{date: 24.12., awake: []}]", "exceptions.0", "write a date such as"),
        ("exceptions: [{date: 2026-12-24, awake: [{from: x}]}]", "exceptions.0.awake.0", "from is 'x'"),
        ("exceptions: [{date: 2026-12-24, awake: []}, {date: 2026-12-24, awake: []}]", "", "two exceptions"),
        ("time_zone: Mars\n    awake: []", "time_zone", "is not known here"),
        ("resume: false", "", "does not say when its services are awake"),
        ("calendar: days.ics", "", "cannot be read"),
        ("awake: []\n    start_after: {db: [x]}", "start_after.db.0", "'x' is no service"),
        ("awake: []\n    start_after: {x: [db]}", "start_after.x", "'x' is no service"),
        ("awake: []\n    start_after: {game: [db]}", "start_after.game", "'game' is no service of the plan"),
        ("awake: []\n    budget: a lot", "budget", "budget"),
        ("awake: []\n    max_monthly: a lot", "max_monthly", "amount"),
        ("awake: []\n    forecast_days: 0", "", "forecast_days is 0"),
        ("awake: []\n    not_while_busy: {minutes: 5}", "", "does not say what is busy"),
    ],
)
def test_a_plan_for_sleep_is_refused_where_it_is_wrong(
    plan: str, path: str, said: str, tmp_path: Path
) -> None:
    [found] = problems(f"sleep:\n  nights:\n    services: [db]\n    {plan}\n", str(tmp_path))
    where = ".".join(filter(None, ("sleep.nights", path)))
    assert f": {where}: " in found
    assert said in found
    assert found.startswith("shop.yml:")


def test_a_calendar_of_the_task_needs_a_whole_path() -> None:
    with pytest.raises(Invalid, match=r"sleep.nights.calendar: it must be an absolute path"):
        plans("sleep", {"services": ["db"], "calendar": "days.ics"}, key="nights")


@pytest.mark.parametrize("services", ["services: [db, game]\n    ", ""])
def test_a_state_and_a_plan_for_sleep_contradict_each_other(services: str) -> None:
    [found] = problems(f"sleep:\n  nights:\n    {services}awake: []\n")
    assert found == (
        "shop.yml:4:10: services.game.state: the plan shop.yml:6:3: sleep.nights decides whether it runs; "
        "remove one of them"
    )


def test_two_plans_of_one_name() -> None:
    [found] = problems("backups:\n  a: {keep: {last: 1}}\n  b: {name: a, keep: {last: 1}}\n")
    assert "shop.yml:7:3: backups.b: it has the name 'a' of shop.yml:6:3: backups.a" in found
