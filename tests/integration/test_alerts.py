# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The alerts of roles `backups` and `drift_schedule`, as Prometheus raises them over days of each failure."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from integration.ansible_run import REPOSITORY

pytestmark = pytest.mark.night

if not shutil.which("promtool"):
    pytest.skip("not installed: promtool", allow_module_level=True)

FILES = REPOSITORY / "roles" / "backups" / "files"
RULES = {
    "HostedBackup": FILES / "hosted-backup.rules.yml",
    "HostedDrift": REPOSITORY / "roles" / "drift_schedule" / "files" / "hosted-drift.rules.yml",
}
"""The rules by what the names of their alerts begin with."""
HOUR, DAY = 3600, 24 * 3600
HOURS = 6 * 24
AT_NIGHT = 2 * HOUR + 300
"""When a run ends, in the night of each day."""
PLAN = {
    "hosted_backup_since_timestamp_seconds": HOUR,
    "hosted_backup_max_age_seconds": 26 * HOUR,
    "hosted_backup_critical_age_seconds": 50 * HOUR,
}

Facts = dict[str, Any]
Night = Callable[[int], Facts | None]
"""What a run finds in the night of a day; None when there is no run."""


def monitoring() -> Any:
    """Import the script of the role by its path."""
    specification = importlib.util.spec_from_file_location("monitoring", FILES / "monitoring.py")
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def iso(moment: int, form: str = "%Y-%m-%dT%H:%M:%S.000Z") -> str:
    """Write a moment as the platform does."""
    return datetime.fromtimestamp(moment, UTC).strftime(form)


def entry(made: int | None, name: str = "one") -> Facts:
    """Return what backup_info tells of a service."""
    newest = None if made is None else {"created_at": iso(made)}
    fresh = "missing" if made is None else "fresh"
    same = {"service": name, "service_id": f"id-{name[:3]}", "failed": False, "skipped": False}
    return {**same, "newest": newest, "freshness": fresh}


def good(day: int) -> Facts:
    """Return the facts of a night in which all went well."""
    moment = day * DAY + 2 * HOUR
    copy = f"/srv/id-one/nightly-{iso(moment, '%Y%m%dT%H%M%SZ')}"
    return {"problems": [], "seen": [entry(moment)], "shelf": [copy]}


def from_the_second(failing: Callable[[int], Facts | None]) -> Night:
    """Return nights of which the first goes well."""
    return lambda day: good(day) if day == 0 else failing(day)


def textfiles(night: Night) -> dict[str, list[str]]:
    """Return the values of each series at every hour, as the text files of the role make them."""
    script, report, metrics = monitoring(), "", ""
    series: dict[str, list[str]] = {}
    for hour in range(HOURS):
        day, of_day = divmod(hour, 24)
        facts = night(day) if of_day == 3 else None
        if facts is not None:
            given = {"plan": "nightly", "offsite": True, "copied": [], "report": report, **facts}
            result = script.run_result(given, day * DAY + AT_NIGHT)
            metrics = result["metrics"]
            report = b64encode(json.dumps({"plan": "nightly", "state": result["state"]}).encode()).decode()
        lines = [line for line in metrics.splitlines() if not line.startswith("#")]
        lines += [f'{name}{{plan="nightly"}} {value}' for name, value in PLAN.items() if hour]
        for line in lines:
            name, __, value = line.rpartition(" ")
            series.setdefault(name, ["_"] * HOURS)[hour] = value
    return series


def scraped(series: Mapping[str, Sequence[str]], instance: str) -> list[dict[str, str]]:
    """Return series as Prometheus has them, for promtool."""
    job = f'job="node",instance="{instance}",'
    return [
        {"series": name.replace("{", "{" + job, 1), "values": " ".join(values)}
        for name, values in series.items()
    ]


def fire(folder: Path, which: str, inputs: list[dict[str, str]], expected: Mapping[int, set[str]]) -> None:
    """Let promtool see which alerts of this machine, and of none beside it, fire at these hours."""
    expression = 'group by (alertname, instance) (ALERTS{alertstate="firing"})'
    tests = [
        {
            "expr": expression,
            "eval_time": f"{hour}h",
            "exp_samples": [
                {"labels": f'{{alertname="{which}{name}", instance="here"}}', "value": 1}
                for name in sorted(names)
            ],
        }
        for hour, names in expected.items()
    ]
    test = {"interval": "1h", "input_series": inputs, "promql_expr_test": tests}
    suite = {"rule_files": [str(RULES[which])], "evaluation_interval": "1h", "tests": [test]}
    (folder / "test.yml").write_text(yaml.safe_dump(suite))
    done = subprocess.run(
        ["promtool", "test", "rules", "test.yml"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_the_rules_are_rules(rules: Path) -> None:
    """And each says in its words what it is about."""
    done = subprocess.run(["promtool", "check", "rules", rules], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for rule in yaml.safe_load(rules.read_text())["groups"][0]["rules"]:
        assert rule["annotations"]["summary"] and rule["labels"]["severity"] in ("warning", "critical")


OLD, TOO_OLD = {"Old", "OffsiteOld"}, {"TooOld", "OffsiteTooOld"}
FAILED, NEVER, LACKS = {"RunFailed"}, {"NeverSucceeds"}, {"Missing", "OffsiteMissing"}
STOPPED, LEFT_OUT = {"DoesNotRun"}, {"LeftOut"}
NONE = set[str]()
FIRST, SECOND, THIRD, LAST = 24 + 4, 48 + 3, 72 + 5, 5 * 24 + 12
SHELF = good(0)["shelf"]
UNREACHED: Facts = {"problems": ["401"], "seen": None, "shelf": []}
UNMADE: Facts = {"problems": ["one: ended as FAILED"], "seen": [entry(None)], "shelf": []}
ASLEEP = {"service": "one", "service_id": "id-one", "since": iso(20 * HOUR), "offers": False}
SLEEP: Facts = {"problems": [], "seen": [], "suspended": [ASLEEP]}


def without(*may_skip: str) -> Night:
    """Return nights in which a service offers no backups any more, which the plan may say."""

    def night(day: int) -> Facts:
        gone = {**entry(None, "two"), "skipped": True, "freshness": None}
        facts = good(day)
        seen = [*facts["seen"], gone if day else entry(2 * HOUR, "two")]
        shelf = [*facts["shelf"], f"/srv/id-two/nightly-{iso(2 * HOUR, '%Y%m%dT%H%M%SZ')}"]
        return {**facts, "seen": seen, "shelf": shelf, "may_skip": may_skip}

    return night


CASES: dict[str, tuple[Night, dict[int, set[str]]]] = {
    "all is well, at every hour": (good, {hour: NONE for hour in range(HOURS)}),
    # That real runs leave the same of a bad token or an API that is down: test_backups_monitoring.py.
    "the platform tells runs nothing": (
        from_the_second(lambda day: {**UNREACHED, "shelf": SHELF}),
        {FIRST: FAILED, SECOND: FAILED | OLD} | dict.fromkeys((THIRD, LAST), FAILED | OLD | TOO_OLD | NEVER),
    ),
    "it never told them anything": (lambda day: UNREACHED, {4: FAILED, 53: FAILED | NEVER}),
    "a backup is never made": (lambda day: UNMADE, {4: FAILED | LACKS, LAST: FAILED | LACKS | NEVER}),
    "no run ever starts": (lambda day: None, {20: NONE, 28: STOPPED, 52: STOPPED | NEVER}),
    "no second run starts": (
        from_the_second(lambda day: None),
        {27: NONE, 30: STOPPED | OLD} | dict.fromkeys((53, LAST), STOPPED | OLD | TOO_OLD | NEVER),
    ),
    "an off-site copy fails, with fresh backups": (
        from_the_second(lambda day: {**good(day), "problems": ["one off-site: x"], "shelf": SHELF}),
        {FIRST: FAILED, SECOND: FAILED | {"OffsiteOld"}}
        | dict.fromkeys((THIRD, LAST), FAILED | {"OffsiteOld", "OffsiteTooOld"} | NEVER),
    ),
    "a service is left out": (
        without(),
        {4: NONE, FIRST: LEFT_OUT, SECOND: LEFT_OUT | OLD, LAST: LEFT_OUT | OLD | TOO_OLD},
    ),
    "a service is left out that may be": (without("two"), {FIRST: NONE, LAST: NONE}),
    "five days of sleep": (
        from_the_second(lambda day: {**SLEEP, "shelf": SHELF}),
        dict.fromkeys((FIRST, SECOND, THIRD, LAST), NONE),
    ),
    "asleep, and never backed up": (
        lambda day: {**SLEEP, "shelf": []},
        dict.fromkeys((4, THIRD, LAST), LACKS),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_alerts_of_backups(case: str, tmp_path: Path) -> None:
    """Which fire at these hours. Beside this machine is one where all is well."""
    night, expected = CASES[case]
    series = scraped(textfiles(night), "here") + scraped(textfiles(good), "there")
    fire(tmp_path, "HostedBackup", series, expected)


# --- Drift ----------------------------------------------------------------------------------------------


def written(samples: Mapping[str, Mapping[int, int]]) -> dict[str, list[str]]:
    """Return the values at every hour: each metric has the one that was written last."""
    found = {}
    for name, moments in samples.items():
        values, last = [], "_"
        for hour in range(HOURS):
            last = str(moments[hour]) if hour in moments else last
            values.append("stale" if last == "-1" else last)
        label = ',file="/srv/shop.yml"' if "drifted" in name else ""
        found[f'hosted_drift_{name}{{plan="all"{label}}}'] = values
    return found


def compared(good: range, failed: range = range(0), drifted: Mapping[int, int] | None = None) -> Any:
    """Return what the text files hold: runs at three in the night of these days, and the moments of drift."""
    runs = {day * 24 + 3: (day * 24 + 3) * HOUR for day in (*good, *failed)}
    success = {hour: moment if hour // 24 in good else 0 for hour, moment in runs.items()}
    for hour in [hour for hour in runs if hour // 24 in failed]:
        success[hour] = max((success[before] for before in success if before < hour), default=0)
    return {
        "since_timestamp_seconds": {1: HOUR},
        "max_age_seconds": {1: 26 * HOUR},
        "run_timestamp_seconds": runs,
        "success_timestamp_seconds": success,
        "drifted_since_timestamp_seconds": drifted or {},
    }


def test_alerts_of_drift(tmp_path: Path) -> None:
    """None where all is well, and each where it belongs and at no other time."""
    fails, both = {"ComparisonFails"}, {"DoesNotRun", "ComparisonFails"}
    drift = {27: 27 * HOUR, 75: -1}  # seen in the second night, gone in the fourth
    cases: list[tuple[Any, dict[int, set[str]]]] = [
        (compared(range(6)), {hour: set() for hour in range(HOURS)}),
        (compared(range(6), drifted=drift), {30: set(), 34: {""}, 74: {""}, 76: set()}),
        (compared(range(0)), {20: set(), 28: both}),
        (compared(range(2)), {52: set(), 54: both, 100: both}),
        (compared(range(1), range(1, 6)), {28: set(), 30: fails, 130: fails}),
        (compared(range(0), range(6)), {26: set(), 28: fails}),
    ]
    fine = {name: moments for name, moments in compared(range(6)).items() if moments}
    for samples, expected in cases:
        series = scraped(written(samples), "here") + scraped(written(fine), "there")
        fire(tmp_path, "HostedDrift", series, expected)
