# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans as data: each file of `tests/unit/data` has accounts and options, and what a task would do.

A file is named after its module and a topic, such as `service/power.yml`. What it has beside its `cases`
holds for all of them, and they change it; a list replaces that of the file. A case begins with

- `account` (see account_file.py) and `options`
- `files` in the folder where the task runs: text, data as JSON, or null for an empty folder
- `records`: what earlier runs have kept in the collection's own folder, by folder and subject; a list
  of several entries of the journal
- `earlier`: tasks of the same run, in check mode as well; each is a module and its options, which change
  those of the case if it is the module of the file
- `check_mode`: false for what only a task for real refuses, or reads

and tells what check mode has to say:

- `steps`: all actions, in their order; none where the task would change nothing; not needed beside an error
- `diff`: for each key that differs, its value before and after; null where it is missing, and the key `text`
  for a file
- `in_diff`: some of that diff; null for a key that does not differ
- `cost`, `result` and `returns` (all that a task returns): some of what is in them; a list has all its items
- `warnings`: a part of each warning, in their order; there must be no others
- `reads`: what is read, by method and path, in its order
- `error`: a part of the message of the failure, or several
- `for_real`: such parts of the error of the same task outside check mode, before it sends anything

A case with `each` is one case for every of its entries, which change the case in turn. `!ago {days: 2}` is a
date before now.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    RUN_FOLDER,
    state_key,
)
from unit.plugins.account_file import AccountFile, merged
from unit.plugins.resources import resource_of

DATA = Path(__file__).parents[1] / "data"
URL = "https://account.example"
GIVEN = ("account", "options", "files", "records", "earlier", "check_mode")
EXACT = ("steps", "diff", "reads")
PARTLY = ("cost", "result", "returns")
KEYS = {*GIVEN, *EXACT, *PARTLY, "in_diff", "warnings", "error", "for_real"}


class Loader(yaml.CSafeLoader):
    """Reads a file of cases."""

    def ago(self, node: yaml.MappingNode) -> str:
        """Return a date before now."""
        age = {str(unit): value for unit, value in self.construct_mapping(node).items()}
        return str((datetime.now(UTC) - timedelta(**age)).isoformat())


Loader.add_constructor("!ago", Loader.ago)


def cases_of(path: Path) -> Iterator[Any]:
    """Yield the cases of a file, each with what it shares with the others."""
    # The safe loader with one more tag.
    document = yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506
    cases = document.pop("cases")
    shared = {"account": {}, "options": {}, **document}
    for name, case in cases.items():
        for number, change in enumerate(case.pop("each", [{}])):
            id = f"{path.parent.name}/{path.stem}: {name}{f' ({number + 1})' if change else ''}"
            yield pytest.param(path.parent.name, merged(merged(shared, case), change), id=id)


def outcome_of(
    resource: Resource[Any], account: Mapping[str, Any], options: Mapping[str, Any], check_mode: bool = True
) -> dict[str, Any]:
    """Return what a task on an account says, in the form of a case."""
    spec = argument_spec(resource)
    assert options.keys() <= spec.keys(), f"no such options: {options.keys() - spec.keys()}"
    given = {name: option.get("default") for name, option in spec.items()}
    given |= {"base_url": URL, "token": "t-4711", **options}
    session = AccountFile(account)
    context = RunContext(check_mode, diff=True, connect=lambda settings, log: session)
    result = execute(resource, given, context)
    return {
        "steps": result.get("actions", []),
        "diff": difference(result.get("diff", {})),
        "cost": result.get("cost"),
        "result": result.get(resource.result_key),
        "returns": result,
        "warnings": result.get("warnings", []),
        "error": result.get("msg"),
        "reads": session.asked,
    }


def difference(diff: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return what differs in a diff: the values before and after, by their keys."""
    before, after = (state_of(diff.get(side, "")) for side in ("before", "after"))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return {key: [before.get(key), after.get(key)] for key in keys}


def state_of(text: str) -> Mapping[str, Any]:
    """Return a side of a diff, whose only key is `text` where it is that of a file."""
    state = yaml.load(text, yaml.CSafeLoader) or {}
    return state if isinstance(state, Mapping) else {"text": text}


def write_files(folder: Path, case: Mapping[str, Any]) -> None:
    """Write what is on the controller's disk."""
    files = dict(case.get("files", {}))
    for kind, records in case.get("records", {}).items():
        for id, record in records.items():
            path = f"hosted_services/{kind}/{state_key(URL, str(id))}"
            several = kind == "journal" and isinstance(record, list) and isinstance(record[0], Mapping)
            entries = enumerate(record if several else [record], 1)
            files |= {f"{path}{f'-{n}' if kind == 'journal' else ''}.json": entry for n, entry in entries}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "case"), [each for path in sorted(DATA.glob("*/*.yml")) for each in cases_of(path)]
)
def test_plan(name: str, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert case.keys() <= KEYS, f"no such keys: {case.keys() - KEYS}"
    write_files(tmp_path, case)
    for [(module, options)] in map(dict.items, case.get("earlier", [])):
        given = merged(case["options"], options) if module == name else options
        outcome_of(resource_of(module), case["account"], given)
    resource = resource_of(name)
    check(case, outcome_of(resource, case["account"], case["options"], case.get("check_mode", True)))
    if "for_real" in case:
        failed = outcome_of(resource, case["account"], case["options"], check_mode=False)["error"]
        assert all(part in str(failed) for part in parts_of(case["for_real"])), failed


def check(case: Mapping[str, Any], found: Mapping[str, Any]) -> None:
    """Compare an outcome with a case. What differs is shown in the form of a case."""
    if agrees(case, found):
        return
    told = {key: value for key, value in found.items() if key in case or key not in ("returns", "reads")}
    pytest.fail(yaml.safe_dump(told, sort_keys=False, width=110, allow_unicode=True), pytrace=False)


def agrees(case: Mapping[str, Any], found: Mapping[str, Any]) -> bool:
    """Tell whether an outcome is what a case tells."""
    errors, warnings = parts_of(case.get("error", [])), case.get("warnings", [])
    assert "steps" in case or errors, "a case tells its steps or its error"
    return (
        (found["error"] is not None) is bool(errors)
        and all(part in found["error"] for part in errors)
        and len(found["warnings"]) == len(warnings)
        and all(part in warning for part, warning in zip(warnings, found["warnings"], strict=True))
        and all(found[key] == case[key] for key in EXACT if key in case)
        and all(has(found[key], case[key]) for key in PARTLY if key in case)
        and has(found["diff"], case.get("in_diff", {}))
    )


def parts_of(told: str | list[str]) -> list[str]:
    """Return what is to be found in a message."""
    return [told] if isinstance(told, str) else told


def has(found: Any, wanted: Any) -> bool:
    """Tell whether nested data has what is wanted of it: some keys of an object, where null is for none."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(has(found.get(key), each) for key, each in wanted.items())
    if isinstance(wanted, list) and isinstance(found, list):
        return len(found) == len(wanted) and all(map(has, found, wanted))
    return bool(found == wanted)
