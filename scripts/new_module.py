# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the files of a new module: `make module NAME=webhook`, for one on a service with KIND=on_service.

A name that ends in `_info` makes a module that only reads. Lines to complete are marked TODO, and
`test_conventions.py` lists each mark by file and line. Existing files are never overwritten.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import yaml

from ansible_collections.hosted.services.scripts.sources import ROOT

LICENCE = """\
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""
PACKAGE = "ansible_collections.hosted.services.plugins"
MODULE = '''\
#!/usr/bin/python
{license}
from __future__ import annotations

DOCUMENTATION = r"""
module: {name}
short_description: TODO
version_added: {version}
description:
  - TODO, starting with a verb.
options:
  name:
    description:
      - TODO.
    type: str
    {required}
extends_documentation_fragment:
{fragment}  - hosted.services.common
{on_service}seealso:
  - module: hosted.services.TODO
"""

EXAMPLES = r"""
- name: TODO
  hosted.services.{name}:
    {service}name: example
"""

RETURN = r"""
{key}:
  description: TODO.
  returned: success
  type: {type}
{elements}  sample:
    {dash}name: example
  contains:
    name:
      description: TODO.
      type: str
{actions}"""

from {package}.module_utils._ansible.module import run_module
from {package}.module_utils._resources.{name} import {constant}


def main() -> None:
    """Run the module."""
    run_module({constant})


if __name__ == "__main__":
    main()
'''
ACTIONS = "# generated: actions\n# generated end\n"
ACTION = '''\
{license}"""Runs hosted.services.{name} inside the controller."""

from {package}.module_utils._resources.{name} import {constant}
from {package}.plugin_utils._controller.in_process import action_for

ActionModule = action_for({constant})
'''
RESOURCE = '''\
{license}"""TODO: the thing, and its chapter of the specification."""

from __future__ import annotations

from dataclasses import dataclass

{imports}{declaration}
from .shared.plan import Plan, Resource, Task


@dataclass(frozen=True, kw_only=True)
class {class_name}Options({base}):
    """TODO: its options. Those that identify, narrow or limit what the task touches have selects=True."""

    name: {option}


class {class_name}Resource(Resource[{class_name}Options]):
    """TODO."""

    result_key = "{key}"

    def plan(self, task: Task[{class_name}Options]) -> Plan:
        """TODO: return {returned}."""
        {plan}


{constant} = {class_name}Resource()
'''
PLANS = """\
{license}---
# tests/unit/plugins/test_plans.py explains the keys.
options: {{{inline}name: example}}
cases:
  TODO say what holds:
    steps: []
"""
TARGET = """\
{license}---
# tests/integration/test_targets.py explains the turns.
- name: TODO
  hosted.services.{name}:
    {service}name: example
  loop: [said, done, again] # TODO: for a module that only reads, no loop
  register: turns

- name: Check the result
  ansible.builtin.assert:
    that:
      - turns.results[1].TODO # TODO: what holds
"""
CASES = """\
{license}---
# tests/cases.py explains the keys.
sample_args:
  - {{{inline}name: a}} # TODO: one for each way through the code
{writing}"""
WRITING = """\

selectors:
  TODO: {{{inline}name: example}}

faults:
  - what: TODO
    options: {{{inline}name: example}}
    # creates: ROUTE, if it creates something
"""


REQUIRED = {
    "required": "required: true",
    "declaration": "required",
    "option": "str = required(selects=True)",
}
OPTIONAL = {
    "required": "default: null",
    "declaration": "option",
    "option": "str | None = option(None, selects=True)",
}


PLAIN = {
    "on_service": "",
    "service": "",
    "inline": "",
    "imports": "from .shared.options import Options, ",
    "base": "Options",
    "plan": "return Plan(result=None)",
}
ON_SERVICE = {
    "on_service": "  - hosted.services.on_service\n",
    "service": "service: survival\n    ",
    "inline": "service: survival, ",
    "imports": "from .services.on_service import OnServiceOptions, resolve_service\n"
    "from .shared.options import ",
    "base": "OnServiceOptions",
    "plan": 'service = resolve_service(task)\n        return Plan(result={"service_id": service.id})',
}
KINDS = {"plain": PLAIN, "on_service": ON_SERVICE}


def files(name: str, kind: str = "plain") -> dict[str, str]:
    """Return the files of a module by path, in which lines to complete are marked."""
    reads = name.endswith("_info")
    words = {
        "license": LICENCE,
        "package": PACKAGE,
        "version": yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["version"],
        "name": name,
        "constant": name.upper(),
        "class_name": name.title().replace("_", ""),
        "key": f"{name.removesuffix('_info')}s" if reads else name,
        "type": "list" if reads else "dict",
        "elements": "  elements: dict\n" * reads,
        "dash": "- " * reads,
        "fragment": "  - hosted.services.common.info_attributes\n" * reads,
        "actions": ACTIONS * (not reads),
        "writing": WRITING.format(**KINDS[kind]) * (not reads),
        "returned": "what was read" if reads else "the state before, the state after and the steps",
        **(OPTIONAL if reads else REQUIRED),
        **KINDS[kind],
    }
    templates = {
        f"plugins/module_utils/_resources/{name}.py": RESOURCE,
        f"plugins/modules/{name}.py": MODULE,
        f"plugins/action/{name}.py": ACTION,
        f"tests/unit/data/{name}/plans.yml": PLANS,
        f"tests/integration/targets/{name}/tasks/main.yml": TARGET,
        f"tests/integration/targets/{name}/cases.yml": CASES,
    }
    return {path: template.format(**words) for path, template in templates.items()}


def with_action_group(runtime: str, name: str) -> str:
    """Return meta/runtime.yml with one more member of the action group, in alphabetical order."""
    head, members = runtime.split("  all:\n")
    lines = sorted({*members.splitlines(), f"    - {name}"})
    return f"{head}  all:\n" + "\n".join(lines) + "\n"


def with_row(readme: str, name: str) -> str:
    """Return README.md with the module in its table: in the row of its family, or in one of its own."""
    rows = re.findall(r"^\| [\w ]+ \| `[\w.]+`.*\|$", readme, re.M)
    family = name.removesuffix("_info")
    row = next((row for row in rows if f"`{family}`" in row), None)
    if row:
        return readme.replace(row, row.replace(f"`{family}`", f"`{family}`, `{name}`", 1))
    inventory = next(row for row in rows if row.startswith("| inventory"))
    return readme.replace(inventory, f"| {family.replace('_', ' ')}s | `{name}` |\n{inventory}")


def write(name: str, kind: str = "plain", root: Path = ROOT) -> list[str]:
    """Write the files of a module and return their paths.

    :raises SystemExit: if the name is invalid or one of the files exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        sys.exit(f"{name!r} is no name for a module: use lower case and underscores, such as api_token")
    written = files(name, kind)
    there = [path for path in written if (root / path).exists()]
    if there:
        sys.exit(f"nothing was written, these files exist: {', '.join(there)}")
    for path, text in written.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    changes = {"meta/runtime.yml": with_action_group, "README.md": with_row}
    for path, change in changes.items():
        text = (root / path).read_text(encoding="utf-8")
        (root / path).write_text(change(text, name), encoding="utf-8")
    return [*written, *changes]


def main() -> None:
    """Write the files of the module that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--kind", choices=KINDS, default="plain")
    chosen = parser.parse_args()
    for path in write(chosen.name, chosen.kind):
        print(path)
    print("\nCONTRIBUTING.md (Add a module) says what comes next.")


if __name__ == "__main__":
    main()
