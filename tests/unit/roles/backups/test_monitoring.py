# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The scripts of role backups: metrics and verdicts whose moments no time zone moves, and dumps."""

from __future__ import annotations

import base64
import io
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import Environment

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.retention import read_span
from unit.roles.backups.scripts import FOLDER, load

ROLE = FOLDER.parent
NASTY = "a\"b\\c\nd|e=f'g\ttab"
script = load("monitoring")


@pytest.fixture(params=["America/New_York", "UTC", "Asia/Kolkata"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A machine in each of these time zones; New York puts its clocks forward and back."""
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> int:
    return (datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1)


def entry(
    service: str = "one", made: str | None = "2026-11-20T02:00:00.000Z", **changes: Any
) -> dict[str, Any]:
    return {
        "service": service,
        "service_id": f"id-{service}",
        "failed": False,
        "skipped": False,
        "newest": {"created_at": made} if made else None,
        "freshness": "fresh" if made else "missing",
        "age_hours": 7 if made else None,
        **changes,
    }


def after_run(now: str = "2026-11-20T02:05:00+00:00", **facts: Any) -> dict[str, Any]:
    """Return state and metrics after a run that went well, but for what is given."""
    well = {"plan": "nightly", "offsite": False, "problems": [], "seen": [entry()], "copied": [], "shelf": []}
    result: dict[str, Any] = script.run_result({**well, **facts}, at(now))
    return result


def written(state: dict[str, Any], **report: Any) -> str:
    """Return a report as the role hands it over."""
    text = json.dumps({"plan": "nightly", "state": state, **report})
    return base64.b64encode(text.encode()).decode()


def check(now: str = "2026-11-20T09:00:00+00:00", **facts: Any) -> tuple[int, str]:
    given = {"plan": "nightly", "max_age": "26h", "critical_age": "50h", "too_old": [], "seen": [entry()]}
    result = script.verdict({**given, **facts}, at(now))
    return result["code"], result["line"]


# --- Time -----------------------------------------------------------------------------------------------


def values(metrics: str) -> dict[str, int]:
    """Return the values of the metrics of one service, by the part of their names that differs."""
    lines = [line.removeprefix("hosted_backup_") for line in metrics.splitlines() if line[0] != "#"]
    return {line.partition("{")[0]: int(line.rpartition(" ")[2]) for line in lines}


GOOD = at("2026-11-20T02:00:00+00:00")


MONDAY = "2026-11-23T06:00:00+00:00"


MOMENTS = [
    "2026-03-08T06:59:59+00:00",  # the last second before New York puts its clocks forward
    "2026-03-08T07:00:00+00:00",
    "2026-11-01T05:30:00+00:00",  # half past one for the first time
    "2026-11-01T06:30:00+00:00",  # and for the second
    "2026-07-01T12:00:00+00:00",
]


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize("moment", MOMENTS)
def test_no_time_zone_moves_a_moment(moment: str) -> None:
    """However the platform writes it, in the name of a copy, and as the role writes it itself."""
    utc = moment.replace("+00:00", "")
    for text in (f"{utc}.000Z", f"{utc}Z", f"{utc}+00:00", utc):
        assert script.moment(text) == at(moment), text
    name = utc.replace("-", "").replace(":", "")
    shelf = [f"/srv/id-one/nightly-{name}Z", "/srv/id-one/nightly-20200101T000000Z", "/srv/id-two/nightly-x"]
    assert script.newest_on(shelf, "id-one") == at(moment)
    assert script.newest_on(shelf, "id-two") == script.newest_on(shelf, "id-three") == 0
    run = after_run(moment, seen=[entry(made=f"{utc}.000Z")])
    found = values(run["metrics"])
    for metric in ("run", "success", "newest"):
        assert found[f"{metric}_timestamp_seconds"] == at(moment)
    assert script.moment(run["finished"]) == at(moment)

    def now(utc: bool = False) -> datetime:
        return datetime.fromtimestamp(at(moment), UTC if utc else None).replace(tzinfo=None)

    tasks = yaml.safe_load((ROLE / "tasks" / "run.yml").read_text())
    (template,) = [
        task["vars"]["backups_moment"] for task in tasks if "backups_moment" in task.get("vars", {})
    ]
    named = Environment(autoescape=False).from_string(template).render(now=now)  # noqa: S701 - no markup
    assert script.newest_on([f"/srv/id-one/nightly-{named}"], "id-one") == at(moment)


# --- What a run leaves ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("zone")
@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("2026-03-07T07:00:00+00:00", "2026-03-08T07:00:00+00:00"),  # 24 hours, 25 by the clock on the wall
        ("2026-10-31T06:30:00+00:00", "2026-11-01T06:30:00+00:00"),  # 24 hours, 23 by the clock on the wall
    ],
)
def test_an_age_is_what_has_passed(before: str, now: str) -> None:
    """Also over a night in which clocks are changed."""
    assert "'one'=86400s;" in check(now, seen=[entry(made=before)])[1]


def test_a_duration_is_that_of_the_modules() -> None:
    """The limits of metrics and performance data are those that backup_info judges by."""
    now = datetime(2026, 11, 20, tzinfo=UTC)
    for span in ("26h", "50h", "8d", "1d2h", "3h"):
        read = read_span(span)
        assert read is not None
        assert script.seconds(span) == (now - read.before(now, UTC)).total_seconds()


def test_never_and_a_future_that_may_be_one_of_clocks_raise_an_alert() -> None:
    """A series that is not there raises none; a backup of the future would be fresh for long."""
    found = values(after_run(seen=[entry(made=None)], offsite=True)["metrics"])
    names = ("newest_timestamp_seconds", "offsite_timestamp_seconds", "fresh")
    assert [found[name] for name in names] == [0, 0, 0]
    assert values(after_run(seen=[entry(made="2026-12-20T02:05:00Z")])["metrics"])["fresh"] == 0


def test_what_was_known_outlives_a_platform_that_cannot_be_read() -> None:
    """Ages go on growing, so that their alerts are raised."""
    good = after_run()
    later = "2026-11-21T02:05:00+00:00"
    bad = after_run(later, problems=["401"], seen=None, report=written(good["state"]))
    found = values(bad["metrics"])
    assert found["newest_timestamp_seconds"] == GOOD
    assert found["success_timestamp_seconds"] == at("2026-11-20T02:05:00+00:00")
    assert found["run_timestamp_seconds"] == at(later)
    again = after_run("2026-11-22T02:05:00+00:00", problems=["401"], seen=None, report=written(bad["state"]))
    assert again["state"] == bad["state"]
    unread = [entry(failed=True, newest=None, freshness=None)]
    partly = after_run(later, problems=["x"], seen=unread, report=written(good["state"]))
    assert values(partly["metrics"])["newest_timestamp_seconds"] == GOOD


@pytest.mark.parametrize("report", ["", "bm8ganNvbg==", "W10=", written({}, plan="weekly"), "%%"])
def test_a_report_that_cannot_be_used_counts_as_none(report: str) -> None:
    found = values(after_run(problems=["x"], seen=None, report=report)["metrics"])
    assert (found["success_timestamp_seconds"], found["services"]) == (0, 0)


def test_off_site_copies_that_the_plan_leaves_out_are_not_missed() -> None:
    copied: dict[str, Any] = {"service_id": "id-one", "copied": "nothing", "why": "a database"}
    assert "offsite" not in after_run(offsite=True, copied=[copied])["metrics"]
    failed = after_run(offsite=True, copied=[{**copied, "failed": True}])
    assert values(failed["metrics"])["offsite_timestamp_seconds"] == 0


def test_a_service_that_is_left_out_is_told_unless_it_may_be() -> None:
    """One that was backed up before keeps its age, which grows."""
    gone = entry(skipped=True, newest=None, freshness=None)
    never = after_run(seen=[gone])["metrics"]
    assert values(never)["left_out"] == 1 and "newest" not in never
    before = written(after_run()["state"])
    later = after_run("2026-11-21T02:05:00+00:00", seen=[gone], report=before)["metrics"]
    assert values(later)["newest_timestamp_seconds"] == GOOD
    for name in ("one", "id-one"):
        allowed = after_run(seen=[gone], may_skip=[name], report=before)["metrics"]
        assert "left_out" not in allowed and "newest" not in allowed


def test_a_label_is_escaped_as_prometheus_wants_it() -> None:
    """Only these three characters are, and those of control are blanks; a line stays a line."""
    metrics = after_run(seen=[entry(NASTY, service_id="x")])["metrics"]
    label = r'service="a\"b\\c\nd|e=f' + "'g tab\""
    assert f'{{plan="nightly",{label},service_id="x"}}' in metrics
    assert all(line.startswith(("#", "hosted_backup_")) for line in metrics.splitlines())


# --- The check ------------------------------------------------------------------------------------------


TWO = [entry(), entry("two", skipped=True)]


def seen(**changes: Any) -> dict[str, Any]:
    return {"seen": [entry(**changes)]}


@pytest.mark.parametrize(
    ("facts", "code", "says"),
    [
        ({}, 0, "OK: plan nightly, 1 services, the oldest backup of all is 7 h old | "
                "'one'=25200s;93600;180000;0;"),
        (seen(freshness="stale"), 1, "WARNING: plan nightly, 1 services; one was last backed up 7 h"),
        ({**seen(freshness="stale"), "too_old": ["id-one"]}, 2, "CRITICAL: "),
        (seen(made=None), 2, "one has no good backup | 'one'=U;93600;180000;0;"),
        (seen(failed=True), 3, "UNKNOWN: plan nightly, 1 services; one cannot be read"),
        ({"seen": [entry(failed=True), entry("two", None)]}, 2, "CRITICAL: "),
        ({"seen": TWO}, 1, "two is left out, as it offers no backups"),
        ({"seen": TWO, "may_skip": ["two"]}, 0, "OK: "),
        ({"seen": []}, 2, "CRITICAL: plan nightly selects no service that can be backed up"),
        ({"seen": [], "allow_empty": True}, 0, "OK: plan nightly selects no service, as it may"),
        (seen(made="2026-12-20T09:00:00Z"), 1,
         "the newest backup of one is dated 720 h in the future; compare the clocks |"),
        (seen(made="2026-11-20T09:59:00Z"), 0, "OK: "),
        ({"finished": "F", "problems": ["a", "b"]}, 1, "in the run of F went wrong: a, b |"),
        ({"finished": "2026-11-19T06:00:00Z"}, 1, "last run ended 27 h ago, and none since"),
        ({"finished": "2026-11-01T06:00:00Z"}, 1, "the last run ended 459 h ago"),
        ({"finished": "2026-11-19T07:00:00Z"}, 0, "the oldest backup of all is 7 h old"),
        ({"problems": ["a"] * 9}, 1, "went wrong: a, a, a, and 6 more"),
        ({"problems": []}, 0, "OK: "),
        ({"offsite": True}, 2, "one has no off-site copy"),
        ({"copy": "20261120T120000Z"}, 1, "the newest off-site copy of one is dated 3 h in the future"),
        ({"copy": "20261120T020000Z"}, 0, "'one off-site'=25200s;93600;"),
        ({"copy": "20261120t020000z"}, 0, "'one off-site'=25200s;93600;"),
        ({"copy": "20261119T060000Z"}, 1, "was last copied off-site 27 h"),
        ({"copy": "20261117T060000Z"}, 2, "one was last copied off-site 75"),
    ],
)  # fmt: skip
def test_every_verdict(facts: dict[str, Any], code: int, says: str) -> None:
    """The severest level counts, and each finding is named."""
    report = {name: facts[name] for name in facts.keys() & {"finished", "problems"}}
    given: dict[str, Any] = {"report": written({}, **report)} if report else dict(facts)
    if copy := given.pop("copy", ""):
        given |= {"offsite": True, "shelf": [f"/s/id-one/nightly-{copy}"]}
    found, line = check(**given)
    assert (found, says in line) == (code, True), line


def test_names_that_would_break_the_line_of_a_plugin() -> None:
    """One line, one bar, and labels in quotes without an equals sign."""
    __, line = check(seen=[entry(NASTY), entry("it's"), entry("twin"), entry("twin", service_id="other")])
    assert line.isprintable() and line.count("|") == 1
    data = line.split(" | ")[1]
    assert data.startswith("'a\"b\\c d/e_f''g tab'=25200s;93600;180000;0; 'it''s'=25200s;")
    assert "'twin id-twin'=" in data and "'twin other'=" in data


# --- Sleep ----------------------------------------------------------------------------------------------

FRIDAY_NIGHT = "2026-11-20T20:00:00.000Z"


def asleep(since: str = FRIDAY_NIGHT) -> dict[str, Any]:
    """What a check and a run are told of a service that sleeps, and of no other."""
    sleeper = {"service": "one", "service_id": "id-one", "since": since, "offers": False}
    return {"seen": [], "suspended": [sleeper]}


def weekend(**facts: Any) -> dict[str, Any]:
    """Return what a run on Sunday leaves, after one on Friday that saw the service awake."""
    given = {**asleep(), "report": written(after_run()["state"]), **facts}
    return after_run("2026-11-22T02:05:00+00:00", **given)


@pytest.mark.parametrize("seen", [[], [entry(skipped=True, newest=None, freshness=None, age_hours=None)]])
def test_a_service_that_is_asleep_is_no_alarm(seen: list[dict[str, Any]]) -> None:
    """Named by the plan or selected by its project: its backups are as old as when it was suspended."""
    run = weekend(seen=seen)
    found = values(run["metrics"])
    assert found["newest_timestamp_seconds"] == GOOD
    assert found["asleep_timestamp_seconds"] == at("2026-11-20T20:00:00+00:00")
    assert "left_out" not in found
    later = {**asleep(), "report": written(run["state"]), "seen": seen}
    assert check(MONDAY, **later) == (0, "OK: plan nightly, all 1 services are asleep")
    code, line = check(MONDAY, **{**later, "seen": [*seen, entry("two")]})
    assert code == 0 and line.startswith("OK: plan nightly, 1 services and 1 asleep, "), line


def test_a_service_that_was_old_when_it_fell_asleep_stays_an_alarm() -> None:
    """Sleep makes no backup younger; and one that never had any is missing."""
    for since, level in (("2026-11-21T08:00:00.000Z", 1), ("2026-11-23T08:00:00.000Z", 2)):
        state = weekend(**asleep(since))["state"]
        code, line = check(report=written(state), **asleep(since))
        assert code == level and "one was last backed up " in line and " h before it was suspended" in line
        assert level == 2 or " 30 h before" in line
    run = weekend(report="")
    assert values(run["metrics"])["newest_timestamp_seconds"] == 0
    code, line = check(report=written(run["state"]), **asleep())
    assert code == 2 and "one is asleep, and no good backup of it is known" in line


def test_off_site_copies_of_what_is_asleep() -> None:
    """They count up to the suspension, and a service that is to have none has none."""
    shelf = ["/srv/id-one/nightly-20261120T020000Z"]
    run = weekend(offsite=True, shelf=shelf)
    assert values(run["metrics"])["offsite_timestamp_seconds"] == GOOD
    later = {**asleep(), "offsite": True, "report": written(run["state"])}
    assert check(MONDAY, shelf=shelf, **later)[0] == 0
    code, line = check(MONDAY, shelf=[], **later)
    assert code == 2 and "one has no off-site copy" in line
    never = {"service_id": "id-one", "copied": "nothing", "why": "a database; the plan leaves those out"}
    before = written(after_run(offsite=True, copied=[never])["state"])
    assert "hosted_backup_offsite" not in weekend(offsite=True, report=before)["metrics"]


def test_sleep_does_not_count_after_it_either() -> None:
    """Until the next run: what the last one saw asleep was awake at most since then."""
    state = weekend()["state"]
    stale = entry(freshness="stale", age_hours=78)
    monday = "2026-11-22T08:00:00+00:00"
    assert check(monday, report=written(state), seen=[stale], too_old=["id-one"])[0] == 0
    code, line = check("2026-11-22T15:00:00+00:00", report=written(state), seen=[stale], too_old=["id-one"])
    assert code == 1 and "one was last backed up 78 h ago" in line
    awake = written(after_run()["state"])
    assert check(monday, report=awake, seen=[stale], too_old=["id-one"])[0] == 2


dumping = load("dump_database")


def say(folder: Path, monkeypatch: pytest.MonkeyPatch, **connection: object) -> str:
    """Run the script with a connection; return what it ends with."""
    monkeypatch.setattr(sys, "argv", ["dump_database.py", str(folder)])
    monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(connection)))
    try:
        dumping.main()
    except SystemExit as ended:
        return str(ended)
    return ""


def test_a_dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be dumped can be skipped; a missing program is no reason for that."""
    said = say(tmp_path, monkeypatch, engine="valkey")
    assert said.startswith("a database of engine 'valkey' cannot be dumped: ")
    assert "offsite.databases: skip" in said
    library = dumping.load()
    with monkeypatch.context() as patch:
        patch.setattr(dumping, "load", lambda: library)
        patch.setattr(library, "dump", lambda folder, connection: {"file": connection["engine"]})
        assert say(tmp_path, monkeypatch, engine="postgresql") == ""
    assert json.loads(capsys.readouterr().out) == {"file": "postgresql"}
    monkeypatch.setenv("PATH", str(tmp_path))
    said = say(tmp_path, monkeypatch, engine="mariadb")
    assert said == "mariadb-dump or mysqldump is not installed on this machine; install mariadb-client"
