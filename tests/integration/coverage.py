# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every route of the platform, what uses it and what exercised it: docs/coverage.md, and the check behind it.

`python -m integration.coverage FOLDER` reads what a whole run of the integration tests left (`route_log`). It
fails, and says what is missing, when a route was not answered with success to one of our modules in one of
the targets, when an option does not lead where `route_options` says, and when the page tells another story.
With `--write` it renews the page.
"""

from __future__ import annotations

import argparse
import difflib
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
# A target's test is named after it and its profile: test_target[backup-random:1].
TARGET = re.compile(r"test_targets\.py::test_target\[(\w+)-[\w:]+\]")
CALLER = re.compile(r"hosted\.services \(Ansible collection; (\w+)\)")
PLACEHOLDER = re.compile(r"\{\w+\}")
INTRODUCTION = """\
# Every route and what uses it

All {count} routes of the platform: the token scope that each needs, the modules and plugins that call it with
the options that lead there, and the integration targets in which it was answered with success.

`make integration` takes this from the request journals of its sandboxes. It fails when a route is missing and
when this page tells another story. `make coverage` writes the page from the last whole run.

| route | token scope | used by | exercised by |
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


def page(observed: Observed) -> str:
    """Return the page, with the names in each cell sorted."""
    rows = []
    for name, route in ROUTES.items():
        users = observed.users.get(name, {})
        seen = {target for user, targets in users.items() for target in where(user, targets)}
        used = [use(user, name) for user in sorted(users)]
        cells = [f"`{route}`", route.scope.value, ", ".join(used), ", ".join(f"`{s}`" for s in sorted(seen))]
        rows.append(f"| {' | '.join(cells)} |\n")
    return INTRODUCTION.format(count=len(ROUTES)) + "".join(rows)


def use(module: str, route: str) -> str:
    """Return the name of a module, with the options that lead it to a route."""
    options = [f"`{lead}`" for lead in LEADS.get(module, {}).get(route, ())]
    return f"`{module}` ({' or '.join(options)})" if options else f"`{module}`"


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


def difference(wanted: str) -> list[str]:
    """Return how the page differs from what the run showed."""
    there = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
    names = str(PAGE.relative_to(REPOSITORY)), "as the run showed"
    return list(difflib.unified_diff(there.splitlines(), wanted.splitlines(), *names, n=0, lineterm=""))


def main() -> int:
    """Check a run, or write the page from it."""
    parser = argparse.ArgumentParser(prog="python -m integration.coverage", description=__doc__)
    parser.add_argument("folder", type=Path, help="what ROUTES_SEEN named during the run")
    parser.add_argument("--write", action="store_true", help="renew the page")
    given = parser.parse_args()
    observed = read(given.folder)
    if not observed.calls:
        sys.exit(f"{given.folder} holds no requests; `make integration` leaves some there")
    wanted = page(observed)
    missing = list(problems(observed))
    if given.write and not missing:
        PAGE.write_text(wanted, encoding="utf-8")
    changes = difference(wanted)
    for line in [*missing, *changes]:
        print(line)
    if changes:
        print(f"\n{PAGE.name} does not match the run; `make coverage` renews it.")
    if not missing and not changes:
        print(f"All {len(ROUTES)} routes were answered with success, to a module and in a target.")
    return 1 if missing or changes else 0


if __name__ == "__main__":
    sys.exit(main())
