# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every route of the platform: docs/coverage.md, and what a whole run of the integration tests saw of them.

`python -m integration.coverage` writes the page from `routes.py`. With the folder that a whole run left
(`route_log`) it fails, and names the routes that were not answered with success to one of our modules in one
of the targets.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from ansible_collections.hosted.services.plugins.module_utils._api.routes import ROUTES
from integration.ansible_run import REPOSITORY, TARGETS

PAGE = REPOSITORY / "docs" / "coverage.md"
MODULES = {path.name for path in TARGETS.iterdir()}
TARGET = "test_targets.py::test_target["
CALLER = re.compile(r"hosted\.services \(Ansible collection; (\w+)\)")
PLACEHOLDER = re.compile(r"\{\w+\}")
INTRODUCTION = """\
# Every route

All {count} routes of the platform: the token scope that each needs, and what happens to a call whose
outcome is unknown. `python -m integration.coverage` writes this page from the sources.

| route | token scope | if the outcome is unknown |
| --- | --- | --- |
"""


class Call(NamedTuple):
    """A request of the journal: its route, whether all went well, and whether a module sent it in a target.

    Other tests break things on purpose, so what is called in them is no rule.
    """

    route: str
    success: bool
    in_target: bool


def read(folder: Path) -> list[Call]:
    """Return what the workers of a run kept."""
    names = {shape(route.method, route.path): name for name, route in ROUTES.items()}
    calls = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            caller = CALLER.fullmatch(line["agent"])
            in_target = caller is not None and caller[1] in MODULES and TARGET in line["test"]
            if line["template"]:
                route = names[shape(line["method"], line["template"])]
                calls.append(Call(route, succeeded(line), in_target))
    return calls


def shape(method: str, path: str) -> str:
    """Return a route without the names of its placeholders."""
    return f"{method} {PLACEHOLDER.sub('{}', path)}"


def succeeded(line: Mapping[str, Any]) -> bool:
    """Tell whether an answer of success left the platform as it was meant."""
    status = line["status"] or 0
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES and line["fault"] is None


def page() -> str:
    """Return the page."""
    rows = [f"| `{route}` | {route.scope.value} | {route.idempotency.value} |\n" for route in ROUTES.values()]
    return INTRODUCTION.format(count=len(ROUTES)) + "".join(rows)


def problems(calls: list[Call]) -> Iterator[str]:
    """Yield each route that nobody called with success, or no module in a target."""
    succeeding = {call.route for call in calls if call.success}
    used = {call.route for call in calls if call.success and call.in_target}
    for name, route in ROUTES.items():
        if name not in succeeding:
            yield f"{route}: was never answered with success"
        elif name not in used:
            yield f"{route}: no module called it in any integration target"


def main() -> int:
    """Write the page, or check a run."""
    parser = argparse.ArgumentParser(prog="python -m integration.coverage", description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", help="what ROUTES_SEEN named during the run")
    folder = parser.parse_args().folder
    if folder is None:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    missing = list(problems(read(folder)))
    print(*missing, f"{len(missing)} routes are missing", sep="\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
