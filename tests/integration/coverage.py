# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every route of the platform: docs/coverage.md, and what a whole run of the integration tests saw of them.

`python -m integration.coverage` writes the page from `routes.py` and `route_options`. With the folder that a
whole run left (`route_log`) it prints who called which route in which target, and fails, and says what is
missing, when a route was not answered with success to one of our modules in one of the targets, or when an
option does not lead where `route_options` says.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from pathlib import Path
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api.routes import ROUTES
from integration.ansible_run import REPOSITORY, TARGETS
from integration.route_options import LEADS

PAGE = REPOSITORY / "docs" / "coverage.md"
MODULES = {path.name for path in TARGETS.iterdir()}
# A target's test is named after it, and maybe its profile: test_target[backup-terse].
TARGET = re.compile(r"test_targets\.py::test_target\[(\w+)[\]-]")
CALLER = re.compile(r"hosted\.services \(Ansible collection; (\w+)\)")
PLACEHOLDER = re.compile(r"\{\w+\}")
INTRODUCTION = """\
# Every route

All {count} routes of the platform: the token scope that each needs, what happens to a call whose outcome is
unknown, and the options that lead a module there. `python -m integration.coverage` writes this page from the
sources.

| route | token scope | if the outcome is unknown | options that lead there |
| --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Call:
    """A request of the journal: who sent it, in which test, to which route; `at` by the machine's clock."""

    test: str
    route: str
    caller: str
    at: float
    success: bool

    @property
    def target(self) -> str | None:
        """The integration target that was running."""
        found = TARGET.search(self.test)
        return found[1] if found else None


@dataclass(frozen=True)
class Ran:
    """A task of ours: when it ran, and its arguments; those of each item where it was a loop."""

    test: str
    module: str
    begun: float
    ended: float
    options: list[dict[str, Any]]

    def has(self, option: str, value: str) -> bool:
        """Tell whether an option was set; to a value, or to a list with it in it, where one is named."""
        given = [item.get(option) for item in self.options]
        if not value:
            return any(item not in (None, "", [], {}) for item in given)
        return any(value in (item if isinstance(item, list) else [as_yaml(item)]) for item in given)


@dataclass(frozen=True)
class Observed:
    """What a whole run left."""

    calls: list[Call]
    tasks: list[Ran]

    @cached_property
    def users(self) -> dict[str, dict[str, set[str]]]:
        """The modules and plugins that a route answered with success, and the targets in which it did.

        Of a module only its calls in targets count. Other tests break things on purpose, so what is called in
        them is no rule. A plugin has no target.
        """
        found: dict[str, dict[str, set[str]]] = {}
        for call in self.calls:
            if call.success and call.caller and (call.target or call.caller not in MODULES):
                targets = found.setdefault(call.route, {}).setdefault(call.caller, set())
                targets.update([call.target] if call.target else [])
        return found

    def tasks_behind(self, module: str, route: str) -> Iterator[Ran]:
        """Yield the task behind each call, where only one of this module was running."""
        for call in self.calls:
            if (call.caller, call.route) == (module, route):
                tasks = self._tasks.get((call.test, module), [])
                running = [task for task in tasks if task.begun <= call.at <= task.ended]
                if len(running) == 1 and running[0].options:
                    yield running[0]

    @cached_property
    def _tasks(self) -> dict[tuple[str, str], list[Ran]]:
        grouped: dict[tuple[str, str], list[Ran]] = {}
        for task in self.tasks:
            grouped.setdefault((task.test, task.module), []).append(task)
        return grouped


def read(folder: Path) -> Observed:
    """Return what the workers of a run kept."""
    names = {shape(route.method, route.path): name for name, route in ROUTES.items()}
    calls, tasks = [], []
    for path in sorted(folder.glob("*.jsonl")):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            if "module" in line:
                tasks.append(Ran(**line))
            elif line["template"]:
                caller = CALLER.fullmatch(line["agent"])
                route = names[shape(line["method"], line["template"])]
                calls.append(
                    Call(line["test"], route, caller[1] if caller else "", line["real_at"], succeeded(line))
                )
    return Observed(calls, tasks)


def shape(method: str, path: str) -> str:
    """Return a route without the names of its placeholders."""
    return f"{method} {PLACEHOLDER.sub('{}', path)}"


def succeeded(line: Mapping[str, Any]) -> bool:
    """Tell whether an answer of success left the platform as it was meant."""
    status = line["status"] or 0
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES and line["fault"] is None


def as_yaml(value: Any) -> str:
    """Return an argument as it is written in a playbook."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def leads(module: str, route: str) -> list[tuple[str, str]]:
    """Return the options that lead a module to a route, each with a value or with an empty one."""
    found = []
    for lead in LEADS.get(module, {}).get(route, ()):
        option, __, values = lead.partition(": ")
        found += [(option, value) for value in values.split(", ")]
    return found


def where(module: str, targets: set[str]) -> set[str]:
    """Return the module's own target if it is among the targets; else all of them."""
    return targets & {module} or targets


def page() -> str:
    """Return the page."""
    rows = []
    for name, route in ROUTES.items():
        leading = [
            f"`{module}` ({options(module, name)})" for module in sorted(LEADS) if name in LEADS[module]
        ]
        cells = [f"`{route}`", route.scope.value, route.idempotency.value, ", ".join(leading)]
        rows.append(f"| {' | '.join(cells)} |\n")
    return INTRODUCTION.format(count=len(ROUTES)) + "".join(rows)


def options(module: str, route: str) -> str:
    """Return the options that lead a module to a route, as the page shows them."""
    return " or ".join(f"`{lead}`" for lead in LEADS[module][route])


def report(observed: Observed) -> Iterator[str]:
    """Yield a line a route: who called it, and in which targets."""
    for name, route in ROUTES.items():
        users = observed.users.get(name, {})
        seen = {target for user, targets in users.items() for target in where(user, targets)}
        yield f"{route}: used by {', '.join(sorted(users))}; in {', '.join(sorted(seen))}"


def problems(observed: Observed) -> Iterator[str]:
    """Yield what is missing: a success, a module, a target, or the proof that an option leads to a route."""
    succeeding = {call.route for call in observed.calls if call.success}
    for name, route in ROUTES.items():
        users = observed.users.get(name, {})
        if name not in succeeding:
            yield f"{route}: was never answered with success"
        elif not any(users.values()):
            yield f"{route}: no module called it in any integration target"
    for module, routes in LEADS.items():
        for name in routes:
            yield from unproven(observed, module, name)


def unproven(observed: Observed, module: str, name: str) -> Iterator[str]:
    """Yield each option that was not seen to lead to a route, and a call to which none led."""
    tasks = list(observed.tasks_behind(module, name))
    wanted = leads(module, name)
    for option, value in wanted:
        if not any(task.has(option, value) for task in tasks):
            yield f"{ROUTES[name]}: no task of {module} with {option}{': ' * bool(value)}{value} called it"
    for task in tasks:
        if not any(task.has(option, value) for option, value in wanted):
            yield f"{ROUTES[name]}: {module} called it in {task.test}, where no option leads there"
            return


def main() -> int:
    """Write the page, or check a run."""
    parser = argparse.ArgumentParser(prog="python -m integration.coverage", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="what ROUTES_SEEN named during the run")
    folder = parser.parse_args().folder
    if folder is None:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    observed = read(folder)
    missing = list(problems(observed))
    for line in [*report(observed), *missing]:
        print(line)
    print(f"{len(missing)} things are missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
