# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans as data: each file of `tests/unit/data` has accounts and options, and what a task would do.

A file is named after its module and a topic, such as `service/power.yml`. `account` (see account_file.py) and
`options` hold for all its `cases`, which change them; a list of services replaces that of the file. A case
tells what check mode has to say:

- `steps`: all actions, in their order; none where the task would change nothing
- `diff`: for each key that differs, its value before and after; null where it is missing
- `cost` and `result`: some of what is in them
- `warnings`: a part of each warning, in their order; there must be no others
- `error`: a part of the message of the failure, or several

A case with `each` is one case for every of its entries, which change the case in turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from unit.plugins.account_file import AccountFile, merged

DATA = Path(__file__).parents[1] / "data"
RESOURCES = Resource.__module__.rpartition(".shared.")[0]
KEYS = {"account", "options", "each", "steps", "diff", "cost", "result", "warnings", "error"}


def cases_of(path: Path) -> Iterator[Any]:
    """Yield the cases of a file, each with what it shares with the others."""
    document = yaml.safe_load(path.read_text(encoding="utf-8"))
    shared = {"account": document.get("account", {}), "options": document.get("options", {})}
    for name, case in document["cases"].items():
        for number, change in enumerate(case.pop("each", [{}])):
            id = f"{path.parent.name}/{path.stem}: {name}{f' ({number + 1})' if change else ''}"
            yield pytest.param(path.parent.name, merged(merged(shared, case), change), id=id)


def outcome_of(
    resource: Resource[Any], account: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Return what check mode says of a task on an account, in the form of a case."""
    spec = argument_spec(resource)
    assert options.keys() <= spec.keys(), f"no such options: {options.keys() - spec.keys()}"
    given = {name: option.get("default") for name, option in spec.items()}
    given |= {"base_url": "https://account.example", "token": "token", **options}
    context = RunContext(True, diff=True, connect=lambda settings, log: Client(AccountFile(account)))
    result = execute(resource, given, context)
    return {
        "steps": result.get("actions", []),
        "diff": difference(result.get("diff", {})),
        "cost": result.get("cost"),
        "result": result.get(resource.result_key),
        "warnings": result.get("warnings", []),
        "error": result.get("msg"),
    }


def difference(diff: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return what differs in a diff: the values before and after, by their keys."""
    before, after = (yaml.safe_load(diff.get(side) or "{}") for side in ("before", "after"))
    keys = [key for key in {**before, **after} if before.get(key) != after.get(key)]
    return {key: [before.get(key), after.get(key)] for key in keys}


@pytest.mark.parametrize(
    ("name", "case"), [each for path in sorted(DATA.glob("*/*.yml")) for each in cases_of(path)]
)
def test_plan(name: str, case: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))
    assert case.keys() <= KEYS, f"no such keys: {case.keys() - KEYS}"
    resource = getattr(import_module(f"{RESOURCES}.{name}"), name.upper())
    found = outcome_of(resource, case["account"], case["options"])
    shown = yaml.safe_dump(found, sort_keys=False, width=110, allow_unicode=True)
    errors = [case["error"]] if isinstance(case.get("error"), str) else case.get("error", [])
    assert (found["error"] is not None) is bool(errors), shown
    assert all(part in found["error"] for part in errors), shown
    assert len(found["warnings"]) == len(case.get("warnings", [])), shown
    for part, warning in zip(case.get("warnings", []), found["warnings"], strict=True):
        assert part in warning, shown
    assert "steps" in case or errors, "a case tells its steps or its error"
    assert found["steps"] == case.get("steps", []), shown
    assert "diff" not in case or found["diff"] == case["diff"], shown
    for key in ("cost", "result"):
        assert has(found[key], case.get(key)), shown


def has(found: Any, wanted: Any) -> bool:
    """Tell whether nested data has what is wanted of it: some keys of an object, all else as it is."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(has(found.get(key), each) for key, each in wanted.items())
    return wanted is None or bool(found == wanted)
