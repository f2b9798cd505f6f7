# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures as metrics: every line in the format of Prometheus, and none for what is unknown."""

from __future__ import annotations

import re

from ansible_collections.hosted.services.plugins.module_utils._resources.reports.reading import Facts, Unread
from ansible_collections.hosted.services.plugins.plugin_utils._report.metrics import report_prometheus
from unit.plugins.reports import account, hostile_report, report_on

LABEL = r'[a-z_]+="([^"\\\n]|\\["\\n])*"'
LINE = re.compile(
    rf"hosted_report_[a-z_]+(\{{({LABEL},?)+\}})? -?[0-9]+(\.[0-9]+)?|# (HELP|TYPE) hosted_report_.+"
)


def samples(text: str) -> dict[str, str]:
    """Return the values by name and labels."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: value for name, __, value in (line.rpartition(" ") for line in lines)}


def test_figures_are_samples() -> None:
    found = samples(report_prometheus(report_on(account(["db", "web"]))))
    assert found["hosted_report_timestamp_seconds"] == "1795080600"
    assert found['hosted_report_forecast{currency="EUR"}'] == "13.10"
    assert found['hosted_report_balance{currency="EUR"}'] == "500.00"
    assert found['hosted_report_monthly{project="team 0",currency="EUR"}'] == "2.001"
    assert found['hosted_report_service_status{service="db",service_id="s0000",status="ACTIVE"}'] == "1"
    assert found['hosted_report_disk_percent{service="web",service_id="s0001"}'] == "10"
    assert found['hosted_report_backup_age_seconds{service="db",service_id="s0000"}'] == str(86400)
    assert found['hosted_report_matters{kind="balance",level="warning"}'] == "1"
    assert found["hosted_report_unread"] == "0"


def test_what_is_unknown_has_no_sample() -> None:
    facts = Facts(apps=[], unread=[Unread("services", None, None, "refused")])
    assert samples(report_prometheus(report_on(facts))) == {
        "hosted_report_timestamp_seconds": "1795080600",
        "hosted_report_unread": "1",
    }
    facts = account(["db"])
    facts.details.clear()
    assert "hosted_report_monthly{" not in report_prometheus(report_on(facts))


def test_every_line_is_well_formed_whatever_names_hold() -> None:
    text = report_prometheus(hostile_report())
    assert [line for line in text.removesuffix("\n").split("\n") if not LINE.fullmatch(line)] == []
    text.encode()
