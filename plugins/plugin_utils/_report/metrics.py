# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a report as metrics, in the format of Prometheus' textfile collector.

A figure that is unknown has no sample: an alert on its absence is right, one on zero would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from ...module_utils._api.text import printable
from .texts import check_report

Sample = tuple[Mapping[str, Any], Any]
"""Labels and a value; ``None`` if it is unknown."""
ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": " "})


def report_prometheus(report: Any) -> str:
    """Return the metrics of a report that module ``report_info`` has read.

    :raises Invalid: if it is no such report.
    """
    found = check_report(report)
    families = [*account_families(found), *service_families(found)]
    return "".join(line for each in families for line in family(*each))


def family(name: str, help: str, samples: Iterable[Sample]) -> Iterator[str]:
    """Yield the lines of a metric, without samples of what is unknown."""
    yield f"# HELP hosted_report_{name} {help}\n"
    yield f"# TYPE hosted_report_{name} gauge\n"
    for labels, value in samples:
        if value is not None:
            shown = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
            yield f"hosted_report_{name}{f'{{{shown}}}' if shown else ''} {value}\n"


def escaped(text: Any) -> str:
    """Return text for a label, in which nothing steers a terminal or ends the line."""
    return ("" if text is None else printable(str(text))).translate(ESCAPED)


def account_families(report: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Sample]]]:
    """Yield the metrics of the account: name, help and samples."""
    money, forecast = report["money"], report["money"]["forecast"] or {}
    unit = {"currency": report["currency"]}
    moment = int(datetime.fromisoformat(report["as_of"]).timestamp())
    yield "timestamp_seconds", "The moment that the report speaks of.", [({}, moment)]
    yield "unread", "How many parts of the report could not be read.", [({}, len(report["unread"]))]
    yield "month_to_date", "What the month has cost so far.", [(unit, money["month_to_date"])]
    yield "forecast", "What the month will have cost if all stays as it is.", [(unit, forecast.get("amount"))]
    platform = money["platform_forecast"]
    yield "platform_forecast", "What the platform says that the month will have cost.", [(unit, platform)]
    yield "balance", "The balance of the account.", [(unit, money["balance"])]
    yield "balance_days", "For how many days the balance lasts.", [({}, money["days_left"])]
    matters: list[Sample] = [
        ({"kind": matter["kind"], "level": matter["level"]}, len(matter["subjects"]))
        for matter in report["advice"]
    ]
    yield "matters", "How many things a matter to act on concerns.", matters
    spend: list[Sample] = [
        ({"project": each["name"], **unit}, None if each["unpriced"] else each["monthly"])
        for each in report["projects"] or ()
    ]
    yield "monthly", "The monthly rate of a project, unless a price is unknown.", spend


def service_families(report: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Sample]]]:
    """Yield the metrics of services and applications: name, help and samples."""
    services = report["services"] or ()
    named = {each["id"]: {"service": each["name"], "service_id": each["id"]} for each in services}
    status: list[Sample] = [({**named[each["id"]], "status": each["status"]}, 1) for each in services]
    yield "service_status", "The status of a service.", status
    disks: list[Sample] = [
        (named[each["id"]], each["disk"]["percent"] if each["disk"] else None) for each in services
    ]
    yield "disk_percent", "How full the disk of a service is.", disks
    rows = report["backups"]["services"]
    ages: list[Sample] = [
        (named[row["id"]], None if row["age_hours"] is None else row["age_hours"] * 3600) for row in rows
    ]
    yield "backup_age_seconds", "The age of the newest good backup of a service, in whole hours.", ages
    counts: list[Sample] = [(named[row["id"]], row["count"]) for row in rows]
    yield "backups", "How many good backups a service has.", counts
    verdicts: list[Sample] = [
        ({"application": each["slug"], "verdict": each["scan_status"]}, 1)
        for each in report["applications"] or ()
        if each["scan_status"] is not None
    ]
    yield "verdict", "The verdict on the image that an application runs.", verdicts
