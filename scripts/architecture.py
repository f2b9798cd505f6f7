# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write the table of packages in docs/architecture.md: what each of plugins/ is for, and what it imports.

`make documents` renews it after a package came or went, or a file got the first import of another package.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

from ansible_collections.hosted.services.scripts.sources import ROOT

PLUGINS = ROOT / "plugins"
PAGE = ROOT / "docs" / "architecture.md"
PACKAGE = "ansible_collections.hosted.services.plugins"

PURPOSES = {
    "action": "run the task of a module inside the controller",
    "callback": "show what a run does to the monthly price",
    "doc_fragments": "options that many modules document",
    "filter": "amounts, URLs and selections in templates",
    "inventory": "services as hosts",
    "lookup": "credentials and URLs in templates",
    "modules": "documentation, and the task as a module",
    "plugin_utils._broker": "keep connections open between tasks",
    "plugin_utils._report": "draw a report as a page",
    "plugin_utils._cost": "read prices from results, sum and show them",
    "plugin_utils._controller": "run a task inside the controller",
    "plugin_utils._events": "poll the account, put events on the queue",
    "plugin_utils._inventory": "name hosts and fill their variables",
    "plugin_utils._templating": "what filters and lookups share",
    "module_utils._ansible": "options in, plan shown or carried out, result out",
    "module_utils._resources": "find, compare, plan: one file per module",
    "module_utils._resources.applications": "find applications and releases, roll out an image",
    "module_utils._resources.restore_points": "name, select and watch backups and snapshots",
    "module_utils._resources.last_copies": "copy a service and verify that before it is deleted",
    "module_utils._resources.reports": "the figures of a report, and what to do next",
    "module_utils._resources.blueprints": "a file: its form, its references, its parts",
    "module_utils._resources.recoveries": "choose copies, make a blueprint again, restore content",
    "module_utils._resources.clones": "read a source, make its blueprint another's, copy content",
    "module_utils._resources.relocations": "the ways of a relocation, and how far each is",
    "module_utils._resources.databases": "recognize engines, read SQL, dump, restore",
    "module_utils._resources.files": "paths, the file manager, what a mirror does",
    "module_utils._resources.services": "find, select, order, change and delete services",
    "module_utils._resources.fleets": "batches, bounds, health, memory",
    "module_utils._resources.account_events": "what changed between two polls of the account",
    "module_utils._resources.sleeping": "schedules, savings, who sleeps when",
    "module_utils._resources.shared": "plans, waiting, money, notes on the controller",
    "module_utils._sftp": "mirror folders over SFTP",
    "module_utils._api": "the platform: routes, models, sessions, errors, client",
}
"""What each package is for, in a few words."""
FOREIGN = {"ansible": "Ansible", "http": "HTTP", "requests": "HTTP", "urllib3": "HTTP"}
"""What the table tells of what is not the collection's."""
TABLE = re.compile(r"(?<=<!-- # generated: packages -->\n).*?(?=<!-- # generated end -->)", re.DOTALL)
HEAD = "\n| package | what it is for | imports |\n| --- | --- | --- |\n"


def sources(root: Path = PLUGINS) -> list[Path]:
    """Return the Python files in the folders below a folder."""
    return sorted(path for path in root.glob("*/**/*.py") if "__pycache__" not in path.parts)


def module_name(path: Path, root: Path = PLUGINS, package: str = PACKAGE) -> str:
    """Return the name under which a source is imported that is somewhere below the folder of a package."""
    return ".".join([package, *path.relative_to(root).with_suffix("").parts])


def layer(name: str) -> str:
    """Return the package that a module of the collection belongs to, as `module_utils._api`."""
    return name.removeprefix(PACKAGE + ".").rpartition(".")[0]


def imports(path: Path, root: Path = PLUGINS, package: str = PACKAGE) -> Iterator[str]:
    """Yield the full name of every module that a source imports, wherever in it that happens."""
    here = module_name(path, root, package).split(".")[:-1]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: len(here) - node.level + 1] if node.level else []
            name = ".".join([*base, *([node.module] if node.module else [])])
            folder = root.joinpath(*name.removeprefix(package).strip(".").split("."))
            # `from .services import order` imports a module, `from .models import Order` does not.
            modules = name.startswith(package) and folder.is_dir() and not (folder / "__init__.py").is_file()
            yield from (f"{name}.{alias.name}" for alias in node.names) if modules else (name,)


def packages() -> dict[str, list[str]]:
    """Return what each package imports: packages, and what the table tells of the rest."""
    names = {module_name(path): path for path in sources()}
    found: dict[str, set[str]] = {layer(name): set() for name in names}
    for name, path in names.items():
        for imported in imports(path):
            here, there = layer(name), layer(imported)
            if there in found and there != here:
                found[here].add(there)
            elif (root := imported.partition(".")[0]) in FOREIGN:
                found[here].add(FOREIGN[root])
    return {name: sorted(found[name]) for name in sorted(found)}


def table() -> str:
    """Return the table, each package above those that it imports.

    :raises SystemExit: if a package has no purpose, or a purpose no package.
    :raises graphlib.CycleError: if imports run in a circle.
    """
    known = packages()
    if odd := sorted(known.keys() ^ PURPOSES.keys()):
        raise SystemExit(f"PURPOSES in {__file__} and the folders of plugins differ in {', '.join(odd)}")
    order = [name for name in TopologicalSorter(known).static_order() if name in known][::-1]
    lines = []
    for name in order:
        short = sorted(known[name], key=[*order, *FOREIGN.values()].index)
        told = ", ".join(each.rpartition(".")[2] for each in short)
        lines.append(f"| `plugins/{name.replace('.', '/')}` | {PURPOSES[name]} | {told} |\n")
    return HEAD + "".join(lines) + "\n"


def page() -> str:
    """Return the page with the table as it should be."""
    return TABLE.sub(lambda _found: table(), PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
