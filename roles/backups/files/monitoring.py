# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Say in the formats of Prometheus and of monitoring plugins how backups are.

    monitoring.py run < facts.json       what a run leaves: the state for the next one, and the metrics
    monitoring.py verdict < facts.json   the exit code and the line of a check

Prints one line of JSON. All moments are seconds since 1970, which no time zone and no change of the clock
moves; a moment of 0 is "never". What the facts hold is said at `run_result` and `verdict`.
"""

from __future__ import annotations

import base64
import json
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

Facts = Mapping[str, Any]

HOUR = 3600
UNITS = {"y": 365 * 24 * HOUR, "m": 30 * 24 * HOUR, "d": 24 * HOUR, "h": HOUR}
NAMED_MOMENT = re.compile(r"-(\d{8}T\d{6}Z)$", re.IGNORECASE)
CODES = {"OK": 0, "WARNING": 1, "CRITICAL": 2, "UNKNOWN": 3}
SEVEREST_FIRST = ("CRITICAL", "UNKNOWN", "WARNING")
SHOWN_PROBLEMS = 3
CLOCKS_APART = HOUR
"""So much later than it is here a backup may be dated; beyond that nobody can tell how old it is."""

HELP = {
    "hosted_backup_run_timestamp_seconds": "When the plan ran last.",
    "hosted_backup_run_problems": "How many things went wrong in that run.",
    "hosted_backup_success_timestamp_seconds": "When a run went well for the last time, 0 if never.",
    "hosted_backup_services": "How many services the plan selects that can be backed up.",
    "hosted_backup_newest_timestamp_seconds": "When the newest good backup was made, 0 if there is none.",
    "hosted_backup_fresh": "Whether the newest good backup is young enough.",
    "hosted_backup_offsite_timestamp_seconds": "When the newest off-site copy was made, 0 if there is none.",
    "hosted_backup_left_out": "1 for a service that the plan selects and that offers no backups.",
    "hosted_backup_asleep_timestamp_seconds": "Since when a service is suspended, for those that are.",
}


# --- Moments and durations --------------------------------------------------------------------------


def moment(text: str | None) -> int:
    """Return a timestamp of the platform in seconds since 1970, 0 for none. One without a zone is in UTC."""
    try:
        read = datetime.fromisoformat(text or "")
    except ValueError:
        return 0
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp())


def newest_on(shelf: Sequence[str], service_id: str) -> int:
    """Return when the newest off-site copy in the folder of a service was made, 0 if there is none."""
    parts = (path.rsplit("/", 2)[-2:] for path in shelf)
    names = (NAMED_MOMENT.search(name) for folder, name in parts if folder == service_id)
    return max((moment(name[1].upper()) for name in names if name), default=0)


def read_report(text: str | None, plan: str) -> Facts:
    """Return the report of the run before, given in Base64; empty when there is none of this plan."""
    try:
        report = json.loads(base64.b64decode(text or ""))
    except ValueError:
        return {}
    return report if isinstance(report, dict) and report.get("plan") == plan else {}


def seconds(span: str) -> int:
    return sum(int(amount) * UNITS[unit] for amount, unit in re.findall(r"(\d+)([ymdh])", span))


# --- What a run leaves ------------------------------------------------------------------------------


def run_result(facts: Facts, now: int) -> dict[str, Any]:
    """Return the state after a run, its metrics, and when it finished.

    `plan`, `max_age`, `offsite` (whether there are off-site copies), `may_skip` (services that may be left
    out); `problems` of the run; `seen`, what backup_info told at its end, or null; `copied`, what became of
    each off-site copy; `shelf`, the paths of those that are there; `report`, what the run before has written;
    `suspended`, which services are suspended, `since` when, and whether each `offers` backups meanwhile.
    """
    state = state_after(facts, now)
    finished = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"state": state, "metrics": exposition(run_samples(facts, state, now)), "finished": finished}


def state_after(facts: Facts, now: int) -> dict[str, Any]:
    """Return what is known of the plan and its services, from this run or else from those before."""
    before = read_report(facts.get("report"), facts["plan"]).get("state") or {}
    known = {service["service_id"]: service for service in before.get("services", ())}
    seen, asleep = facts.get("seen"), sleepers(facts)
    services = before.get("services", [])
    if seen is not None:
        read = [entry for entry in seen if entry.get("service_id") not in asleep]
        services = [after(entry, known, facts, now) for entry in [*read, *asleep.values()]]
    for service in services:
        service["offsite"] = offsite_of(service["service_id"], facts, known)
    return {
        "success": before.get("success", 0) if facts["problems"] else now,
        "at": now if seen is not None else before.get("at", 0),
        "services": services,
    }


def after(entry: Facts, known: Mapping[str, Facts], facts: Facts, now: int) -> dict[str, Any]:
    """Return what is known of a service, from before if it is asleep or could not be read."""
    service_id = entry.get("service_id") or ""
    before, is_asleep = known.get(service_id, {}), service_id in sleepers(facts)
    skipped = not is_asleep and bool(entry["skipped"])
    readable = not is_asleep and not skipped and not entry["failed"]
    newest = moment((entry.get("newest") or {}).get("created_at"))
    fresh = readable and entry.get("freshness") == "fresh" and newest <= now + CLOCKS_APART
    may_be_left_out = is_among(entry, facts.get("may_skip") or ())
    return {
        "service": entry["service"],
        "service_id": service_id,
        "newest": newest if readable else before.get("newest", 0),
        "fresh": before.get("fresh", False) if is_asleep else fresh,
        "left_out": skipped,
        "expected": not may_be_left_out or not (skipped or is_asleep),
        "asleep": asleep_since(service_id, known, facts, now),
    }


def sleepers(facts: Facts) -> dict[str, Facts]:
    """Return the services that are suspended and offer no backups meanwhile, by their ids."""
    return {one["service_id"]: one for one in facts.get("suspended") or () if not one["offers"]}


def asleep_since(service_id: str, known: Mapping[str, Facts], facts: Facts, now: int) -> int:
    """Return since when a service is suspended, as far as it is known; 0 if it is not."""
    for one in facts.get("suspended") or ():
        if one["service_id"] == service_id:
            return moment(one["since"]) or known.get(service_id, {}).get("asleep") or now
    return 0


def is_among(entry: Facts, names: Sequence[str]) -> bool:
    return entry.get("service_id") in names or entry["service"] in names


def offsite_of(service_id: str, facts: Facts, known: Mapping[str, Facts]) -> int | None:
    """Return when the newest off-site copy was made, None where there is to be none, asleep or awake."""
    if not facts.get("offsite"):
        return None
    nothing: Facts = {}
    entry = next((one for one in facts.get("copied") or () if one["service_id"] == service_id), nothing)
    left_out = entry.get("copied") == "nothing" and not entry.get("failed")
    newest = newest_on(facts.get("shelf") or (), service_id)
    if entry.get("asleep") or service_id in sleepers(facts):
        return newest if newest or known.get(service_id, {}).get("offsite", 0) is not None else None
    return None if left_out else newest


# --- Prometheus -------------------------------------------------------------------------------------

Sample = tuple[str, Mapping[str, str], int]


def run_samples(facts: Facts, state: Facts, now: int) -> Iterator[Sample]:
    plan = {"plan": facts["plan"]}
    backed_up = [service for service in state["services"] if not service["left_out"]]
    yield "hosted_backup_run_timestamp_seconds", plan, now
    yield "hosted_backup_run_problems", plan, len(facts["problems"])
    yield "hosted_backup_success_timestamp_seconds", plan, state["success"]
    yield "hosted_backup_services", plan, len(backed_up)
    for service in state["services"]:
        labels = {**plan, "service": service["service"], "service_id": service["service_id"]}
        if service["left_out"] and service["expected"]:
            yield "hosted_backup_left_out", labels, 1
        if service["left_out"] and not service["newest"]:
            continue
        if service["expected"]:
            yield "hosted_backup_newest_timestamp_seconds", labels, service["newest"]
            yield "hosted_backup_fresh", labels, int(service["fresh"])
            if service.get("asleep"):
                yield "hosted_backup_asleep_timestamp_seconds", labels, service["asleep"]
            if service["offsite"] is not None:
                yield "hosted_backup_offsite_timestamp_seconds", labels, service["offsite"]


def exposition(samples: Iterable[Sample]) -> str:
    """Write metrics in Prometheus' text format: those of one name together, below its HELP and TYPE."""
    families: dict[str, dict[str, int]] = {}
    for name, labels, value in samples:
        written = ",".join(f'{label}="{escaped(text)}"' for label, text in labels.items())
        families.setdefault(name, {})[written] = value
    lines = []
    for name, values in families.items():
        lines += [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge"]
        lines += [f"{name}{{{labels}}} {value}" for labels, value in values.items()]
    return "".join(f"{line}\n" for line in lines)


def escaped(text: str) -> str:
    """Write the value of a label: the format escapes three characters. Those of control become blanks."""
    text = "".join(one if one.isprintable() or one == "\n" else " " for one in text)
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


# --- The check --------------------------------------------------------------------------------------

Finding = tuple[str, str]


def verdict(facts: Facts, now: int) -> dict[str, Any]:
    """Return the exit code and the line of a check.

    `plan`, `allow_empty`, `may_skip`, `offsite`, `max_age` and `critical_age`; `seen`, what backup_info told
    by `max_age`; `too_old`, ids of those that are beyond `critical_age`; `report`, what the last run has
    written; `shelf`, the paths of the off-site copies; `suspended` as for a run.
    """
    report = read_report(facts.get("report"), facts["plan"])
    state = report.get("state") or {}
    known = {service["service_id"]: service for service in state.get("services", ())}
    facts = {**facts, "copied": report.get("offsite"), "known": known, "at": state.get("at", 0)}
    asleep, may_skip = sleepers(facts), facts.get("may_skip") or ()
    # By name, as graphs go by the order of performance data, and a platform may list services in any order.
    seen = sorted(facts["seen"], key=lambda entry: (entry["service"], entry["service_id"]))
    backed_up = [entry for entry in seen if not entry["skipped"]]
    findings = [
        *(finding for entry in backed_up for finding in findings_of(entry, facts, now)),
        *(finding for one in asleep.values() for finding in findings_asleep(one, facts, now)),
        *(
            ("WARNING", f"{entry['service']} is left out, as it offers no backups")
            for entry in facts["seen"]
            if entry["skipped"] and entry["service_id"] not in asleep and not is_among(entry, may_skip)
        ),
        *of_last_run(report, facts, now),
    ]
    level, text = summary(facts, backed_up, findings)
    data = performance(facts, backed_up, now)
    line = single_line(f"{level}: {text}") + (f" | {' '.join(data)}" if data else "")
    return {"code": CODES[level], "line": line}


def summary(facts: Facts, backed_up: Sequence[Facts], findings: Sequence[Finding]) -> Finding:
    about = f"plan {facts['plan']}"
    levels = [level for level, __ in findings]
    sleeping = len(sleepers(facts))
    if backed_up:
        about += f", {len(backed_up)} services" + (f" and {sleeping} asleep" if sleeping else "")
    elif sleeping:
        about += f", all {sleeping} services are asleep"
    elif facts.get("allow_empty"):
        about += " selects no service, as it may"
    else:
        about += " selects no service that can be backed up"
        levels.append("CRITICAL")
    if backed_up and not findings:
        about += f", the oldest backup of all is {max(entry['age_hours'] for entry in backed_up)} h old"
    severest = next((level for level in SEVEREST_FIRST if level in levels), "OK")
    return severest, "; ".join([about, *(text for __, text in findings)])


def findings_of(entry: Facts, facts: Facts, now: int) -> Iterator[Finding]:
    name = entry["service"]
    if entry["failed"]:
        yield "UNKNOWN", f"{name} cannot be read"
        return
    made = moment((entry.get("newest") or {}).get("created_at"))
    if entry["freshness"] == "missing":
        yield "CRITICAL", f"{name} has no good backup"
    elif entry["freshness"] == "stale":
        level = "CRITICAL" if entry["service_id"] in facts["too_old"] else "WARNING"
        slept = age_without_sleep(made, entry["service_id"], facts, now)
        if slept is not None:
            level = level_of(slept, facts)
        if level:
            yield level, f"{name} was last backed up {entry['age_hours']} h ago"
    yield from dated_ahead(made, f"backup of {name}", now)
    yield from findings_offsite(entry, facts, now)


def findings_offsite(entry: Facts, facts: Facts, now: int) -> Iterator[Finding]:
    name, service_id = entry["service"], entry["service_id"]
    copied = offsite_of(service_id, facts, facts["known"])
    if copied is None:
        return
    if not copied:
        yield "CRITICAL", f"{name} has no off-site copy"
        return
    age = max(0, (asleep_since(service_id, facts["known"], facts, now) or now) - copied)
    slept = age_without_sleep(copied, service_id, facts, now)
    level = level_of(age if slept is None else slept, facts)
    if level:
        yield level, f"{name} was last copied off-site {age // HOUR} h ago"
    yield from dated_ahead(copied, f"off-site copy of {name}", now)


def findings_asleep(entry: Facts, facts: Facts, now: int) -> Iterator[Finding]:
    """Yield what is wrong with a service that is asleep, by what the last run knew: nothing changes since."""
    name, service_id = entry["service"], entry["service_id"]
    if is_among(entry, facts.get("may_skip") or ()):
        return
    newest = facts["known"].get(service_id, {}).get("newest", 0)
    age = asleep_since(service_id, facts["known"], facts, now) - newest
    if not newest:
        yield "CRITICAL", f"{name} is asleep, and no good backup of it is known"
    elif level_of(age, facts):
        yield level_of(age, facts), f"{name} was last backed up {age // HOUR} h before it was suspended"
    yield from findings_offsite(entry, facts, now)


def level_of(age: int, facts: Facts) -> str:
    if age > seconds(facts["critical_age"]):
        return "CRITICAL"
    return "WARNING" if age > seconds(facts["max_age"]) else ""


def age_without_sleep(made: int, service_id: str, facts: Facts, now: int) -> int | None:
    """Return the age of a copy without the sleep that the last run saw; None if none, or it goes on."""
    asleep = facts["known"].get(service_id, {}).get("asleep", 0)
    if not asleep or made > facts["at"] or asleep_since(service_id, facts["known"], facts, now):
        return None
    return max(0, asleep - made) + max(0, now - facts["at"])


def dated_ahead(made: int, what: str, now: int) -> Iterator[Finding]:
    """Yield that something is dated in the future: its age would be 0 until then, whatever happens."""
    if made > now + CLOCKS_APART:
        ahead = (made - now) // HOUR
        yield "WARNING", f"the newest {what} is dated {ahead} h in the future; compare the clocks"


def of_last_run(report: Facts, facts: Facts, now: int) -> Iterator[Finding]:
    """Yield what went wrong in the last run that came to its end, and that there was none for too long."""
    ended = moment(report.get("finished"))
    if ended and now - ended > seconds(facts["max_age"]):
        yield "WARNING", f"the last run ended {(now - ended) // HOUR} h ago, and none since came to its end"
    problems = report.get("problems") or []
    if problems:
        shown = ", ".join(problems[:SHOWN_PROBLEMS])
        more = f", and {len(problems) - SHOWN_PROBLEMS} more" if len(problems) > SHOWN_PROBLEMS else ""
        yield "WARNING", f"in the run of {report.get('finished')} went wrong: {shown}{more}"


def performance(facts: Facts, backed_up: Sequence[Facts], now: int) -> list[str]:
    """Return the performance data: the age of each newest backup and copy in seconds, U where unknown."""
    limits = f"{seconds(facts['max_age'])};{seconds(facts['critical_age'])};0;"
    values: dict[str, int | None] = {}
    names = [entry["service"] for entry in backed_up]
    for entry in backed_up:
        name, service_id = entry["service"], entry["service_id"]
        label = f"{name} {service_id}" if names.count(name) > 1 else name
        values[label] = age_of(moment((entry.get("newest") or {}).get("created_at")), now)
        copied = offsite_of(service_id, facts, facts["known"])
        if copied is not None:
            values[f"{label} off-site"] = age_of(copied, now)
    return [
        f"{quoted(label)}={'U' if value is None else f'{value}s'};{limits}" for label, value in values.items()
    ]


def age_of(made: int, now: int) -> int | None:
    return max(0, now - made) if made else None


def quoted(label: str) -> str:
    """Write a label of performance data: in quotes, a quote doubled, and without an equals sign."""
    return "'" + single_line(label).replace("=", "_").replace("'", "''") + "'"


def single_line(text: str) -> str:
    """Write a text on one line that holds no bar, as that is where performance data begin."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).replace("|", "/").split())


def main() -> None:
    """Answer what standard input tells; `clock` in it is the time by the platform, if that is known."""
    facts = json.load(sys.stdin)
    answer = {"run": run_result, "verdict": verdict}[sys.argv[1]]
    print(json.dumps(answer(facts, moment(facts.get("clock")) or int(time.time()))))


if __name__ == "__main__":
    main()
