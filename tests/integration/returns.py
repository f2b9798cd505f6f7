# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare the results of modules with what their RETURN documents: names, types and nesting."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import yaml

from cases import MODULES

COMMON = {
    "changed", "failed", "msg", "warnings", "deprecations", "diff", "invocation", "exception", "skipped",
    "attempts", "item", "ansible_loop_var", "failed_when_result",
}  # fmt: skip
"""Keys of Ansible, or that every module has."""
DATA = "tests/unit/data/"
UNIT = "tests/unit/plugins/module_utils/_resources/"
HERE = "tests/integration/"
ELSEWHERE: dict[str, dict[str, str]] = {
    "blueprint": {
        "would_delete": "tests/unit/data/blueprint/prune.yml",
        "parts.copy": f"{UNIT}blueprints/test_removal.py",
    },
    "report_info": {
        "report.answers.costs_most.project": f"{DATA}report_info/money.yml",
        "report.money.top": f"{DATA}report_info/money.yml",
        "report.money.saved": f"{DATA}report_info/money.yml",
        "report.projects.spend.services.parts": f"{DATA}report_info/money.yml",
        "report.backups.drill": f"{DATA}report_info/services.yml",
        "report.backups.plans": f"{DATA}report_info/services.yml",
        "report.applications.releases.blocking": f"{DATA}report_info/releases.yml",
    },
    "service": {
        "last_log_lines": f"{HERE}test_open_outcomes.py",
        "last_state": f"{HERE}test_open_outcomes.py",
        "last_status": f"{HERE}test_open_outcomes.py",
        "namesakes": f"{HERE}test_two_at_once.py",
        "copy": f"{HERE}test_last_copies.py",
        "secrets": f"{HERE}test_open_outcomes.py",
        "secrets_file": f"{HERE}test_open_outcomes.py",
    },
    "sftp_password": {"secrets": f"{UNIT}test_sftp_access.py"},
    "sftp_sync": {
        "failures": f"{UNIT}files/test_mirror.py",
        "finished": f"{UNIT}files/test_mirror.py",
        "would_delete": f"{UNIT}test_sftp_sync.py",
    },
}
"""Documented keys, with all below, that the module's own target does not provoke, and the test that does."""
ADDED = {
    "snapshot": {"services.snapshot.status"},
    "snapshot_info": {"services.newest.status", "services.snapshots.status"},
}
"""Fields that some profiles of the sandbox add and the specification does not show; so with `_links`."""
OPEN = {
    "account_info": {
        f"account.{part}" for part in ("daily_spend", "invoices", "notes", "statements", "transactions")
    },
    "app_deploy": {"cost.lines", "deployment.scan.counts"},
    "app_info": {"apps.previous_release", "nodes", "projects"},
    "app_release": {"release.counts"},
    "backup": {"services.vanished"},
    "blueprint": {"backups_plans", "parts.result", "sleep_schedule_plans"},
    "blueprint_info": {"blueprints.blueprint"},
    "clone": {"blueprint", "parts.result"},
    "database_info": {"database.page.records"},
    "database_query": {"result.records"},
    "environment": {"environment.variables"},
    "project_info": {"projects.graph.edges", "projects.spend.services.parts"},
    "recover": {"parts.result", "recovery.services.verified"},
    "report_info": {"report.applications.releases.counts"},
    "service": {"secrets"},
    "service_info": {"services.settings"},
    "snapshot": {"services.vanished"},
}
"""Documented dictionaries whose keys are not: the user or the platform chooses them, or the documentation
of a module or of a role has them. Any other has to name its keys, or to have them in its sample."""
TYPES: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "list": (list,),
    "dict": (dict,),
}


@cache
def documented(module: str) -> dict[str, Any]:
    """Return the RETURN of a module as data."""
    for node in ast.parse((MODULES / f"{module}.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "RETURN":
            return dict(yaml.safe_load(ast.literal_eval(node.value)))
    raise AssertionError(f"plugins/modules/{module}.py has no RETURN")


@dataclass
class Comparison:
    """What a module documents, and what was seen of it so far in its results."""

    module: str
    seen: set[str] = field(default_factory=set)
    mistakes: set[str] = field(default_factory=set)

    def add(self, result: Mapping[str, Any]) -> None:
        """Compare one result. One that no_log hides holds nothing to compare."""
        if "censored" not in result:
            own = {key: value for key, value in result.items() if key not in COMMON}
            failed = bool(result.get("failed")) or "failed_when_result" in result  # as the task judged it
            self._compare(own, documented(self.module), "", failed=failed)

    def never_returned(self) -> list[str]:
        """Return the documented keys that no result had, and that no other test has."""
        elsewhere = tuple(f"{path}." for path in ELSEWHERE.get(self.module, ()))
        missing = set(paths(documented(self.module))) - self.seen
        return sorted(path for path in missing if not f"{path}.".startswith(elsewhere))

    def _compare(
        self, values: Mapping[str, Any], keys: Mapping[str, Any], prefix: str, *, failed: bool = False
    ) -> None:
        """Compare a level. A failed task may add what its message is about, which is not documented."""
        for name, value in values.items():
            path = f"{prefix}{name}"
            nothing_to_do = path == "actions" and value == []  # in a module that only reads
            added = name.startswith("_") or path in ADDED.get(self.module, ())
            if name in keys:
                self.seen.add(path)
                self._compare_value(value, keys[name], path)
            elif not (failed or nothing_to_do or added):
                self.mistakes.add(f"{path} is not documented")

    def _compare_value(self, value: Any, key: Mapping[str, Any], path: str) -> None:
        if value is None:
            return
        if not is_of_type(value, key["type"]):
            self.mistakes.add(f"{path} is documented as {key['type']}, and is {value!r}")
            return
        items = value if isinstance(value, list) else [value]
        elements = key.get("elements", "raw")
        for item in items:
            if isinstance(value, list) and item is not None and not is_of_type(item, elements):
                self.mistakes.add(f"{path} has elements of type {elements}, and holds {item!r}")
            elif isinstance(item, dict) and (keys := self._keys(key, path)):
                self._compare(item, keys, f"{path}.")

    def _keys(self, key: Mapping[str, Any], path: str) -> Mapping[str, Any]:
        """Return the keys that are documented for a dictionary; none for one that is open."""
        is_open = path in OPEN.get(self.module, ())
        return {} if is_open else key.get("contains") or sampled(key)


def sampled(key: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that the sample of a dictionary has, or of a list of them."""
    sample = key.get("sample")
    first = sample[0] if isinstance(sample, list) and sample else sample
    return {name: {"type": "raw", "sample": value} for name, value in dict(first or {}).items()}


def is_of_type(value: Any, kind: str) -> bool:
    if kind == "raw":
        return True
    return isinstance(value, TYPES.get(kind, ())) and (kind == "bool" or not isinstance(value, bool))


def paths(keys: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, key in keys.items():
        yield f"{prefix}{name}"
        yield from paths(key.get("contains", {}), f"{prefix}{name}.")


def open_dictionaries(keys: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the path of every documented dictionary, or list of them, whose keys are not documented."""
    for name, key in keys.items():
        if "contains" in key:
            yield from open_dictionaries(key["contains"], f"{prefix}{name}.")
        elif "dict" in (key["type"], key.get("elements")) and not sampled(key):
            yield f"{prefix}{name}"
