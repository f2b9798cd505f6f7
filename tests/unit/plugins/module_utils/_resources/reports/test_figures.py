# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How the figures are put together, with null for all that is unknown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import (
    BillingOverview,
    Metrics,
    Project,
    ProjectGraph,
    Service,
    ServiceSummary,
    Settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.figures import (
    costs_most,
    figures_of,
    highest_rate,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.measures import Measures
from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import Facts, Unread
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import Span

AS_OF = datetime(2026, 11, 19, 9, 30, tzinfo=UTC)
RATES = ("1.00", "12.50", "12.50")


def listed(id: str, **fields: Any) -> ServiceSummary:
    """Return a service in its list form."""
    size = {"storageGb": 10}
    given = {"id": id, "name": id, "family": "APP", "status": "ACTIVE", "dimensions": size, **fields}
    return ServiceSummary.model_validate(given)


def full(id: str, **fields: Any) -> Service:
    """Return a service in its full form."""
    given = {"id": id, "name": id, "family": "APP", "status": "ACTIVE", "projectId": "p", **fields}
    return Service.model_validate(given)


def figures(facts: Facts, **measures: Any) -> dict[str, Any]:
    """Return the figures of a report."""
    return figures_of(facts, Measures(AS_OF, Span(hours=26, text="26h"), **measures))


def account() -> Facts:
    """Return a project with two services, one of which refers to the other."""
    facts = Facts(projects=[Project(id="p", name="shop")], services=[listed("db"), listed("web")], apps=[])
    facts.details = {
        "db": full("db", pricing={"billedMonthlyMillicents": 12440, "monthlyMillicents": 12440}),
        "web": full("web"),
    }
    nodes = [{"id": "db", "alias": "db-1"}, {"id": "web"}]
    edges = [
        {"from": "web", "to": "db", "through": ["URL", "DSN"]},
        {"from": None, "to": "db"},
        {"from": "web"},
    ]
    facts.graphs["p"] = ProjectGraph.model_validate({"nodes": nodes, "edges": edges})
    return facts


def test_references_come_from_the_graph() -> None:
    found = figures(account())
    [project] = found["projects"]
    assert project["references"] == [{"from_id": "web", "to_id": "db", "through": ["DSN", "URL"]}]
    assert (project["service_ids"], project["monthly"], project["unpriced"]) == (["db", "web"], "12.44", 1)
    assert found["answers"]["referred_to"] == {"id": "db", "by_ids": ["web"], "others": 0}
    assert found["services"][0]["alias"] == "db-1"


def test_a_graph_that_cannot_be_read_leaves_references_unknown() -> None:
    facts = account()
    facts.graphs.clear()
    found = figures(facts)
    assert found["projects"][0]["references"] is None and found["answers"]["referred_to"] is None


def test_a_disk_is_measured_against_its_size() -> None:
    facts = account()
    facts.metrics["db"] = Metrics(state="running", storage_bytes=8_100_000_000)
    db, web = figures(facts)["services"]
    assert db["disk"] == {"used_bytes": 8_100_000_000, "size_gb": 10, "percent": 81}
    assert (web["state"], web["disk"], web["monthly"]) == (None, None, None)


def test_the_highest_rate_stands_in_where_no_spend_is_known() -> None:
    top = figures(account())["answers"]["costs_most"]
    assert (top["name"], top["amount"], top["monthly"]) == ("db", None, "12.44")


@pytest.mark.parametrize(
    ("amounts", "tied"), [(["2.00", "2.00", "1.00"], ["b"]), (["2.00", "1.00", "1.00"], []), (["2.00"], [])]
)
def test_what_has_cost_as_much_as_the_first_is_named(amounts: list[str], tied: list[str]) -> None:
    top = [{"name": name, "amount": amount} for name, amount in zip("abc", amounts, strict=False)]
    assert costs_most(top) == {**top[0], "tied_names": tied}


def test_what_has_the_same_rate_is_named_where_no_spend_is_known() -> None:
    services = [{"id": name, "name": name, "monthly": rate} for name, rate in zip("abc", RATES, strict=True)]
    top = highest_rate(services)
    assert top is not None and (top["name"], top["tied_names"]) == ("b", ["c"])


def test_a_service_that_cannot_be_read_is_in_the_project_whose_graph_shows_it() -> None:
    facts = account()
    del facts.details["db"]
    found = figures(facts)
    assert found["services"][0]["project_id"] == "p"
    assert found["money"]["unpriced"] == ["db", "web"] and found["projects"][0]["unpriced"] == 2


def test_services_that_cannot_be_read_are_null_and_the_rest_is_told() -> None:
    facts = account()
    facts.services = None
    found = figures(facts)
    assert found["services"] is None and found["advice"] == [] and found["answers"]["month"] is None
    assert [project["name"] for project in found["projects"]] == ["shop"]


def test_the_answer_for_the_month_is_its_forecast() -> None:
    facts = account()
    facts.overview = BillingOverview(month_to_date_cents=1200)
    found = figures(facts)
    assert found["money"]["forecast"]["amount"] is not None
    assert found["answers"]["month"] == found["money"]["forecast"]["amount"]


@pytest.mark.parametrize(("project", "shown"), [(None, "12.00"), ("shop", None)])
def test_the_forecast_of_the_account_is_not_that_of_one_project(
    project: str | None, shown: str | None
) -> None:
    facts = account()
    facts.overview = BillingOverview(projected_month_cents=1200)
    assert figures(facts, project=project)["money"]["platform_forecast"] == shown


@pytest.mark.parametrize(
    ("settings", "alias"), [({}, None), ({"network": {"isPublic": False, "alias": "web-1"}}, "web-1")]
)
def test_an_alias_that_no_graph_shows_comes_from_the_settings(
    settings: dict[str, Any], alias: str | None
) -> None:
    facts = account()
    facts.settings["web"] = Settings.model_validate(settings)
    assert figures(facts)["services"][1]["alias"] == alias


def test_unread_parts_of_platform_and_controller_are_named() -> None:
    facts = account()
    facts.unread.append(Unread("settings", "db", "db", "no answer"))
    found = figures(facts, unread=[{"part": "reports", "name": "x.json", "reason": "not readable"}])
    assert [(each["part"], each["name"], each["reason"]) for each in found["unread"]] == [
        ("settings", "db", "no answer"),
        ("reports", "x.json", "not readable"),
    ]


def test_reports_of_roles_are_kept_as_far_as_they_make_sense() -> None:
    reports = [{"plan": "nightly", "ok": False, "problems": ["disk full"], "finished": 5}, {}]
    found = figures(
        account(), backup_reports=reports, drill={"service": "d", "finished": "2026-11-17T00:00:00Z"}
    )
    assert found["backups"]["plans"] == [
        {"plan": "nightly", "finished": None, "ok": False, "problems": ["disk full"]},
        {"plan": "None", "finished": None, "ok": False, "problems": []},
    ]
    assert found["backups"]["drill"] == {
        "service": "d", "finished": "2026-11-17T00:00:00Z", "restored": False, "age_days": 2,
    }  # fmt: skip
