# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports compared with what the platform answers, and how they are read."""

from __future__ import annotations

import json
import os
import random
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from pathlib import Path
from typing import Any

import pytest

import report_account
from ansible_collections.hosted.services.plugins.module_utils._resources.report_info import REPORT_INFO
from hosted_sandbox.gaps import Profile
from hosted_sandbox.testing import NO_DELAYS, Sandbox
from report_account import AS_OF
from unit.plugins.accounts import random_account
from unit.plugins.module_utils._resources.platform import run, writes
from unit.tiers import sample

FIRST, __, LAST = os.environ.get("REPORT_ACCOUNTS", "0-11").partition("-")
ACCOUNTS = range(int(FIRST), int(LAST or FIRST) + 1)
MOMENT = AS_OF.isoformat()
VULNERABLE = {"runc": "1.0.0~rc6"}


@pytest.fixture(autouse=True)
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each test records of its own: a sandbox that was reset is another account."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))


def report_of(sandbox: Sandbox, **options: Any) -> dict[str, Any]:
    done = run(sandbox, REPORT_INFO, **{"as_of": MOMENT, **options})
    assert not done.get("failed"), done["msg"]
    found: dict[str, Any] = done["report"]
    return found


def kinds(report: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of what a report advises on, by the kind of the matter."""
    return {
        matter["kind"]: [subject["name"] for subject in matter["subjects"]] for matter in report["advice"]
    }


def busy_account(number: int) -> dict[str, Any]:
    """Return an account made at random, with backups, vulnerable releases, and enough money."""
    chance = random.Random(number)
    seed = {**random_account(number), "balance_cents": 1_000_000}
    for service in seed["services"]:
        made = [AS_OF - timedelta(hours=chance.randint(1, 800)) for __ in range(chance.randint(0, 5))]
        service["backups"] = [
            {
                "name": f"copy-{place}",
                "status": chance.choice(("COMPLETED", "COMPLETED", "FAILED")),
                "created_at": moment.isoformat(),
            }
            for place, moment in enumerate(made)
        ]
    for app in seed["apps"]:
        app.setdefault("images", []).append(
            {"tag": "next", "packages": VULNERABLE if chance.random() < 0.5 else {}}
        )
    return seed


def answer(sandbox: Sandbox, path: str) -> Any:
    response = sandbox.api("GET", path)
    assert response.ok, (path, response.text)
    found = response.json()
    return found["items"] if isinstance(found, dict) and "items" in found else found


def exact(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)


# --- The same figures as the platform's -----------------------------------------------------------------


@pytest.mark.parametrize("number", sample(ACCOUNTS, 2))
def test_figures_are_those_of_the_platform(sandbox: Sandbox, number: int) -> None:
    profile = Profile.NAMES[number % len(Profile.NAMES)]
    report_account.build(sandbox, busy_account(number), profile=profile, delays=NO_DELAYS)
    sandbox.clear_journal()
    report = report_of(sandbox)
    assert writes(sandbox) == []
    check_rates(sandbox, report)
    check_spend(sandbox, report)
    check_backups(sandbox, report)
    check_releases(sandbox, report)
    assert report_of(sandbox) == report


def check_rates(sandbox: Sandbox, report: dict[str, Any]) -> None:
    """Compare the rates, and what the month will have cost by them."""
    listed = {each["id"]: each for each in answer(sandbox, "/api/resources")}
    details = {id: answer(sandbox, f"/api/resources/{id}") for id in listed}
    told = {each["id"]: each for each in report["services"]}
    assert told.keys() == details.keys()
    for id, detail in details.items():
        assert exact(told[id]["monthly"]) == Decimal(detail["pricing"]["billedMonthlyMillicents"]) / 1000
        assert (told[id]["status"], told[id]["project_id"]) == (detail["status"], detail["projectId"])
    rate = sum((Decimal(each["pricing"]["billedMonthlyMillicents"]) for each in details.values()), Decimal(0))
    overview, money = answer(sandbox, "/api/billing/overview"), report["money"]
    assert exact(money["monthly"]) == rate / 1000
    for ours, theirs in {
        "month_to_date": "monthToDateCents",
        "platform_forecast": "projectedMonthCents",
        "balance": "balanceCents",
    }.items():
        assert exact(money[ours]) == Decimal(overview[theirs]) / 100
    hours = Decimal((datetime(2026, 12, 1, tzinfo=UTC) - AS_OF) / timedelta(hours=1))
    forecast = Decimal(overview["monthToDateCents"]) / 100 + rate / 1000 * hours / 730
    assert exact(money["forecast"]["amount"]) == forecast.quantize(Decimal("0.01"), ROUND_HALF_EVEN)


def check_spend(sandbox: Sandbox, report: dict[str, Any]) -> None:
    """Compare what the projects have cost: by day, by service and by part."""
    projects = {each["id"]: each for each in report["projects"]}
    assert projects.keys() == {each["id"] for each in answer(sandbox, "/api/projects")}
    by_day: dict[str, Decimal] = {}
    costs: list[Decimal] = []
    for id, project in projects.items():
        spend = answer(sandbox, f"/api/projects/{id}/consommation")
        assert exact(project["spend"]["amount"]) == Decimal(spend["totalCents"]) / 100
        shown = {each["id"]: each for each in project["spend"]["services"]}
        for each in spend["services"]:
            amounts = [exact(part["amount"]) for part in shown[each["id"]]["parts"]]
            assert amounts == [Decimal(part["cents"]) / 100 for part in each["parts"]]
            assert exact(shown[each["id"]]["amount"]) == Decimal(each["totalCents"]) / 100
            costs.append(Decimal(each["totalCents"]) / 100)
        for day in spend["days"]:
            by_day[day["date"]] = by_day.get(day["date"], Decimal(0)) + Decimal(day["totalCents"]) / 100
    assert {day["date"]: exact(day["amount"]) for day in report["money"]["days"]} == by_day
    assert [exact(each["amount"]) for each in report["money"]["top"]] == sorted(
        (cost for cost in costs if cost), reverse=True
    )[:5]


def check_backups(sandbox: Sandbox, report: dict[str, Any]) -> None:
    """Compare how many backups there are, and how old the newest one is."""
    for row in report["backups"]["services"]:
        copies = answer(sandbox, f"/api/resources/{row['id']}/backups")
        good = [datetime.fromisoformat(each["createdAt"]) for each in copies if each["status"] == "COMPLETED"]
        assert row["count"] == len(good)
        assert (row["newest"] is None) is (not good)
        if good:
            assert abs(datetime.fromisoformat(row["newest"]) - max(good)) < timedelta(seconds=1)


def check_releases(sandbox: Sandbox, report: dict[str, Any]) -> None:
    """Compare what runs, and the verdicts."""
    listed = {each["slug"]: each for each in answer(sandbox, "/api/apps") if each.get("slug")}
    assert {each["slug"] for each in report["applications"]} == listed.keys()
    for app in report["applications"]:
        assert app["scan_status"] == (listed[app["slug"]].get("scanStatus") or app["scan_status"])
        for release in app["releases"]:
            scan = answer(sandbox, f"/api/apps/{app['slug']}/releases/{release['tag']}/scan")
            assert release["scan_status"] == scan["scanStatus"]
            flaws = [(flaw["id"], flaw["package"]) for flaw in scan["scanVerdict"]["blocking"] or []]
            assert [(flaw["id"], flaw["package"]) for flaw in release["blocking"]] == flaws


# --- What to do next ------------------------------------------------------------------------------------


def test_a_report_says_what_to_do(sandbox: Sandbox) -> None:
    report_account.build(sandbox, report_account.shown_account(), delays=NO_DELAYS)
    drift = {"file": "shop.yml", "error": None, "differences": [{"drift": True, "line": "services.db: gone"}]}
    failed = {"file": "blog.yml", "error": "no such file", "differences": []}
    report = report_of(
        sandbox,
        known_keys=[],
        drift=[drift, failed],
        drill_report={"service": "drill", "finished": "2026-11-01T00:00:00Z", "restored": False},
    )
    assert kinds(report) == {
        "balance": ["Balance"],
        "failed": ["event-2027"],
        "awaiting_admin": ["stats"],
        "unknown_key": ["laptop"],
        "drill": ["drill"],
        "blocked_release": ["acme-web"],
        "no_backup": ["acme-admin", "acme-blog", "acme-web", "acme-worker", "factory"],
        "stale_backup": ["lobby", "search"],
        "drift": ["shop.yml"],
        "not_compared": ["blog.yml"],
        "stopped_billed": ["factory"],
    }
    levels = [matter["level"] for matter in report["advice"]]
    assert levels == sorted(levels, key=["critical", "warning", "notice"].index)
    [flaw] = [m["subjects"][0]["detail"] for m in report["advice"] if m["kind"] == "blocked_release"]
    assert flaw.startswith("v3: CVE-2024-21626 in runc 1.0.0~rc6") and "fixed in 1.1.5" in flaw


# --- Secrets --------------------------------------------------------------------------------------------


def test_no_secret_is_in_a_report(sandbox: Sandbox) -> None:
    report_account.build(sandbox, report_account.shown_account(), delays=NO_DELAYS)
    text = json.dumps(report_of(sandbox))
    connection = answer(sandbox, f"/api/resources/{database_id(sandbox)}/database/connection")
    for secret in (report_account.SECRET, sandbox.token, connection["password"], connection["url"]):
        assert secret not in text


def database_id(sandbox: Sandbox) -> str:
    return next(str(each["id"]) for each in answer(sandbox, "/api/resources") if each["name"] == "db")
