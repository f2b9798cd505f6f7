# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the files of a new module: `make module NAME=webhook`.

A name that ends in `_info` makes a module that only reads. Lines to complete are marked TODO, and
`test_conventions.py` lists each mark by file and line. Existing files are never overwritten.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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
seealso:
  - module: hosted.services.TODO
"""

EXAMPLES = r"""
- name: TODO
  hosted.services.{name}:
    name: example
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

from .shared.options import Options, {declaration}
from .shared.plan import Plan, Resource, Task


@dataclass(frozen=True, kw_only=True)
class {class_name}Options(Options):
    """TODO: its options. Those that identify, narrow or limit what the task touches have selects=True."""

    name: {option}


class {class_name}Resource(Resource[{class_name}Options]):
    """TODO."""

    result_key = "{key}"

    def plan(self, task: Task[{class_name}Options]) -> Plan:
        """TODO: return {returned}."""
        return Plan(result=None)


{constant} = {class_name}Resource()
'''
PLANS = """\
{license}---
# tests/unit/plugins/test_plans.py explains the keys.
options: {{name: example}}
cases:
  TODO say what holds:
    steps: []
"""
TARGET = """\
{license}---
- name: TODO
  hosted.services.{name}:
    name: example
  register: result

- name: Check the result
  ansible.builtin.assert:
    that:
      - result is not changed # TODO: what holds
"""
CASES = """\
{license}---
# tests/cases.py explains the keys.
sample_args:
  - {{name: a}} # TODO: one for each way through the code
{writing}"""
WRITING = """\

selectors:
  TODO: {name: example}

faults:
  - what: TODO
    options: {name: example}
    # creates: ROUTE, if it creates something
"""


@dataclass(frozen=True)
class NewModule:
    """A new module: its name, the other spellings of it, and its files."""

    name: str

    @property
    def reads(self) -> bool:
        """Whether it only reads."""
        return self.name.endswith("_info")

    @property
    def words(self) -> dict[str, str]:
        """The words that the templates need."""
        key = f"{self.name.removesuffix('_info')}s" if self.reads else self.name
        required = {
            "required": "required: true",
            "declaration": "required",
            "option": "str = required(selects=True)",
        }
        optional = {
            "required": "default: null",
            "declaration": "option",
            "option": "str | None = option(None, selects=True)",
        }
        return {
            "license": LICENCE,
            "package": PACKAGE,
            "version": version(),
            "name": self.name,
            "constant": self.name.upper(),
            "class_name": self.name.title().replace("_", ""),
            "key": key,
            "type": "list" if self.reads else "dict",
            "elements": "  elements: dict\n" * self.reads,
            "dash": "- " * self.reads,
            "fragment": "  - hosted.services.common.info_attributes\n" * self.reads,
            "actions": ACTIONS * (not self.reads),
            "writing": WRITING * (not self.reads),
            "returned": "what was read" if self.reads else "the state before, the state after and the steps",
            **(optional if self.reads else required),
        }

    @property
    def files(self) -> dict[str, str]:
        """The files to create, by path."""
        templates = {
            f"plugins/module_utils/_resources/{self.name}.py": RESOURCE,
            f"plugins/modules/{self.name}.py": MODULE,
            f"plugins/action/{self.name}.py": ACTION,
            f"tests/unit/data/{self.name}/plans.yml": PLANS,
            f"tests/integration/targets/{self.name}/tasks/main.yml": TARGET,
            f"tests/integration/targets/{self.name}/cases.yml": CASES,
        }
        return {path: template.format(**self.words) for path, template in templates.items()}


def version() -> str:
    """Return the version of the collection, in which a new module appears."""
    lines = (ROOT / "galaxy.yml").read_text(encoding="utf-8").splitlines()
    return next(line.split()[1] for line in lines if line.startswith("version:"))


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


def write(name: str, root: Path = ROOT) -> list[str]:
    """Write the files of a module and return their paths.

    :raises SystemExit: if the name is invalid or one of the files exists.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", name):
        sys.exit(f"{name!r} is no name for a module: use lower case and underscores, such as api_token")
    module = NewModule(name)
    there = [path for path in module.files if (root / path).exists()]
    if there:
        sys.exit(f"nothing was written, these files exist: {', '.join(there)}")
    for path, text in module.files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    changes = {"meta/runtime.yml": with_action_group, "README.md": with_row}
    for path, change in changes.items():
        text = (root / path).read_text(encoding="utf-8")
        (root / path).write_text(change(text, name), encoding="utf-8")
    return [*module.files, *changes]


def main() -> None:
    """Write the files of the module that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    for path in write(parser.parse_args().name):
        print(path)
    print("\nCONTRIBUTING.md (Add a module) says what comes next.")


if __name__ == "__main__":
    main()
