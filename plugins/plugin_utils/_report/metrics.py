# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The figures of a report as metrics, in the format of Prometheus' textfile collector.

A figure that is unknown has no sample: an alert on its absence is right, one on zero would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...module_utils._api.text import printable
from .render import check_report

Family = tuple[str, str, Sequence[tuple[Mapping[str, Any], Any]]]
"""Its name and help, and its samples: labels and a value; ``None`` if that is unknown."""
ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": " "})


def report_prometheus(report: Any) -> str:
    """Return the metrics of a report that module ``report_info`` has read."""
    found = check_report(report)
    lines: list[str] = []
    for name, help, samples in (*account_families(found), *service_families(found)):
        lines += [f"# HELP hosted_report_{name} {help}", f"# TYPE hosted_report_{name} gauge"]
        for labels, value in samples:
            if value is not None:
                shown = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
                lines.append(f"hosted_report_{name}{f'{{{shown}}}' if shown else ''} {value}")
    return "".join(f"{line}\n" for line in lines)


def escaped(text: Any) -> str:
    """Return text for a label, in which nothing steers a terminal or ends the line."""
    return ("" if text is None else printable(str(text))).translate(ESCAPED)


def account_families(report: Mapping[str, Any]) -> Iterator[Family]:
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
    matters = [
        ({"kind": matter["kind"], "level": matter["level"]}, len(matter["subjects"]))
        for matter in report["advice"]
    ]
    yield "matters", "How many things a matter to act on concerns.", matters
    spend = [
        ({"project": each["name"], **unit}, None if each["unpriced"] else each["monthly"])
        for each in report["projects"] or ()
    ]
    yield "monthly", "The monthly rate of a project, unless a price is unknown.", spend


def service_families(report: Mapping[str, Any]) -> Iterator[Family]:
    services, rows = report["services"] or (), report["backups"]["services"]
    of = {each["id"]: {"service": each["name"], "service_id": each["id"]} for each in services}
    status = [({**of[each["id"]], "status": each["status"]}, 1) for each in services]
    yield "service_status", "The status of a service.", status
    disks = [(of[each["id"]], each["disk"] and each["disk"]["percent"]) for each in services]
    yield "disk_percent", "How full the disk of a service is.", disks
    ages = [(of[row["id"]], None if row["age_hours"] is None else row["age_hours"] * 3600) for row in rows]
    yield "backup_age_seconds", "The age of the newest good backup of a service, in whole hours.", ages
    yield "backups", "How many good backups a service has.", [(of[row["id"]], row["count"]) for row in rows]
    verdicts = [
        ({"application": each["slug"], "verdict": each["scan_status"]}, 1)
        for each in report["applications"] or ()
        if each["scan_status"] is not None
    ]
    yield "verdict", "The verdict on the image that an application runs.", verdicts
