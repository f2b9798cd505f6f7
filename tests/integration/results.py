# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Results made comparable: what differs between any two runs is replaced by a name for it."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from integration.ansible_run import Outcome, Run

TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{3})?Z?")


ORDER = re.compile(r"(?<=/secrets/)[\w-]+(?=\.json)|(?<= names ')[\w-]+(?=', which was there before)")
"""The id that the answer to an order names, which need not be in a result: in a path, or a warning."""
UPTIME = re.compile(r"(?<=it has run for )\d+(?= seconds)")
MEASURED = re.compile(
    r"uptime_seconds|cpu_allocation_percent|\w+_bytes|days_covered|elapsed_ms|resource_count|since|attempts"
    r"|seconds|r[pt]o_seconds"
)
"""What differs between two runs; a platform may count ACTIVE services alone, so a new one counts later."""
LOG_LINE = re.compile(r"logs\.\d+")
LOG_END = re.compile(r"(?<=The log ends with: )(?=\S).*")
"""The end of a log in a message: how often a crashing container has restarted decides where that is."""


def leaves(value: Any, path: str = "") -> dict[str, Any]:
    """Return every value that holds no other, by the path to it."""
    if isinstance(value, dict) and value:
        parts = {f"{path}.{name}".strip("."): item for name, item in value.items()}
    elif isinstance(value, list) and value:
        parts = {f"{path}.{number}": item for number, item in enumerate(value)}
    else:
        return {path: value}
    return {name: leaf for part, item in parts.items() for name, leaf in leaves(item, part).items()}


def is_opaque(path: str) -> bool:
    """Tell whether a value is one that the platform thinks up: it is known by its key alone."""
    keys = [key for key in path.split(".") if not key.isdigit()]
    return bool(keys) and (keys[-1] in ("id", "ids", "username", "password") or keys[-1].endswith("_id"))


def ours(run: Run) -> list[Outcome]:
    """Return what became of the collection's own tasks; those of other collections name temporary files."""
    return [outcome for outcome in run.outcomes if outcome.action.startswith("hosted.services.")]


def comparable(run: Run, known: Sequence[str] = ()) -> list[dict[str, Any]]:
    """Return the results as leaves. Instead of an id, one that was there before too, stands its turn."""
    results = [leaves(outcome.result) for outcome in ours(run)]
    opaque = [v for result in results for path, v in result.items() if is_opaque(path) and isinstance(v, str)]
    names = {id: f"<id {number}>" for number, id in enumerate(dict.fromkeys([*known, *opaque]))}
    return [
        without_repeated_lines({path: anonymous(path, leaf, names) for path, leaf in result.items()})
        for result in results
    ]


def without_repeated_lines(result: dict[str, Any]) -> dict[str, Any]:
    """Return a result with each line of its log once: a crashing container restarts until it is looked at."""
    lines = {leaf for path, leaf in result.items() if LOG_LINE.fullmatch(path)}
    rest = {path: leaf for path, leaf in result.items() if not LOG_LINE.fullmatch(path)}
    return {**rest, "logs": sorted(lines)} if lines else rest


def anonymous(path: str, leaf: Any, names: dict[str, str]) -> Any:
    """Return a value without what differs from run to run."""
    if MEASURED.fullmatch(path.rpartition(".")[2]):
        return "<measured>"
    if not isinstance(leaf, str):
        return leaf
    text = ORDER.sub("<order>", TIMESTAMP.sub("<moment>", leaf))
    text = LOG_END.sub("<lines>", UPTIME.sub("<measured>", text))
    for id, name in names.items():
        text = re.sub(rf"(?<!\w){re.escape(id)}(?!\w)", name, text)
    return text


def compare(first: Run, second: Run, known: Sequence[Sequence[str]] = ((), ())) -> None:
    """Assert that two runs of the same tasks came to the same results, key by key."""
    tasks = [(outcome.name, outcome.outcome) for outcome in ours(first)]
    assert tasks == [(outcome.name, outcome.outcome) for outcome in ours(second)]
    assert tasks
    missing = "nothing"
    results = (comparable(run, ids) for run, ids in zip((first, second), known, strict=True))
    for task, one, other in zip(tasks, *results, strict=True):
        pairs = {path: (one.get(path, missing), other.get(path, missing)) for path in {**one, **other}}
        differing = {path: pair for path, pair in pairs.items() if pair[0] != pair[1]}
        assert not differing, f"{task[0]}: {json.dumps(differing, indent=2)}"
