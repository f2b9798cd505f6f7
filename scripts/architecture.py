# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw docs/architecture.svg, the packages of plugins/ and the imports between them.

`make documents` renews the picture after a file came, went or got its first import of another package.
Packages stand in rows, and imports run down: each package that others import has a line of its own at the
right, which those that import it join. With rows and lines fixed there is nothing for a layout engine to do.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from textwrap import wrap

ROOT = Path(__file__).resolve().parent.parent
PLUGINS = ROOT / "plugins"
PICTURE = ROOT / "docs" / "architecture.svg"
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
    "module_utils._resources.files": "paths, the file manager, guards of a mirror",
    "module_utils._resources.services": "find, select, order, change and delete services",
    "module_utils._resources.fleets": "batches, bounds, health, memory",
    "module_utils._resources.account_events": "what changed between two polls of the account",
    "module_utils._resources.sleeping": "schedules, savings, who sleeps when",
    "module_utils._resources.shared": "plans, waiting, money, notes on the controller",
    "module_utils._sftp": "mirror folders over SFTP",
    "module_utils._api": "the platform: routes, models, sessions, errors, client",
}
"""What each package is for, in a few words."""
HTTP = frozenset({"http", "requests", "urllib3"})


# --- Read -------------------------------------------------------------------------------------------


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


@dataclass
class Package:
    """A box of the picture."""

    name: str
    files: list[str] = field(default_factory=list)
    """The names of its modules."""
    targets: set[str] = field(default_factory=set)
    """The packages that it imports."""
    foreign: set[str] = field(default_factory=set)
    """What it imports that is not the collection's."""

    @property
    def folder(self) -> str:
        """Its path in the repository."""
        return f"plugins/{self.name.replace('.', '/')}"


def read_packages() -> dict[str, Package]:
    """Return all packages, as the imports of their files have them."""
    found: dict[str, Package] = {}
    names = {path: module_name(path) for path in sources()}
    for name in names.values():
        package = found.setdefault(layer(name), Package(layer(name)))
        package.files.append(name.rpartition(".")[2])
    for path, name in names.items():
        here = found[layer(name)]
        for imported in imports(path):
            there = found.get(layer(imported)) if imported.startswith(PACKAGE + ".") else None
            if there is None:
                here.foreign.add(imported.partition(".")[0])
                continue
            if there is not here:
                here.targets.add(there.name)
    return found


def arrows(packages: Mapping[str, Package]) -> set[tuple[str, str]]:
    """Return who imports whom."""
    return {(package.name, target) for package in packages.values() for target in package.targets}


# --- Order ------------------------------------------------------------------------------------------


def height_of(name: str, packages: Mapping[str, Package], above: tuple[str, ...] = ()) -> int:
    """Return how many packages are below one, on the longest way down.

    :raises SystemExit: where the way leads back to where it began.
    """
    if name in above:
        raise SystemExit(f"imports run in a circle: {' -> '.join([*above, name])}")
    targets = packages[name].targets
    return max((1 + height_of(target, packages, (*above, name)) for target in targets), default=0)


def rows(packages: Mapping[str, Package]) -> dict[str, list[Package]]:
    """Return the packages from top to bottom, under a heading each for those that know the same."""
    imported = {target for package in packages.values() for target in package.targets}

    def place(package: Package) -> tuple[bool, int, str]:
        return package.name in imported, -height_of(package.name, packages), package.name

    found: dict[str, list[Package]] = {}
    for package in sorted(packages.values(), key=place):
        if package.name not in imported:
            heading = "What Ansible loads"
        elif "ansible" in package.foreign:
            heading = "Knows Ansible"
        else:
            heading = "Knows HTTP" if HTTP & package.foreign else "Knows neither Ansible nor HTTP"
        found.setdefault(heading, []).append(package)
    return found


# --- Draw -------------------------------------------------------------------------------------------

LEFT, WIDTH, LANE, PORT, LINE = 20, 790, 22, 13, 17
"""Where boxes begin, how wide they are, and how far apart lanes, their ends and lines of text are."""
LETTER = 7.4
"""The room for a letter of the font for names of files."""
LIGHT = ("#0072b2", "#b35900", "#00785a", "#a0487e", "#5b5bd6", "#8a6d00")
DARK = ("#6cb6ff", "#f0a05a", "#4fd1a5", "#e39bc6", "#a9a9ff", "#dcc05a")
STYLE = """\
.paper {{ fill: #ffffff }} .box {{ fill: #f6f8fa; stroke: #8c959f }} text {{ fill: #1f2328 }}
text {{ font: 12px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }}
.name {{ font-weight: bold; font-size: 13px }}
.band, .purpose {{ font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif }}
.band {{ font-weight: bold; font-size: 13px }}
.band, .purpose {{ fill: #59636e }} path {{ fill: none; stroke-width: 1.6 }}
{light}
@media (prefers-color-scheme: dark) {{
.paper {{ fill: #0d1117 }} .box {{ fill: #161b22; stroke: #6e7681 }} text {{ fill: #e6edf3 }}
.band, .purpose {{ fill: #9198a1 }}
{dark}
}}"""


@dataclass
class Box:
    """A package in its place, with the lines of text below its name."""

    package: Package
    top: int
    lines: list[str]
    ports: list[str]
    """Where lines touch its right side, from top to bottom: those to itself first, then each target."""

    @property
    def height(self) -> int:
        """How tall it is: for its text, or for its ports."""
        return max(30 + LINE * len(self.lines), 14 + PORT * len(self.ports))

    def port(self, target: str) -> int:
        """Return the height at which a line touches the box."""
        return self.top + 14 + PORT * self.ports.index(target)


def text_of(package: Package, packages: Mapping[str, Package]) -> list[str]:
    """Return the lines of a box: names of files."""
    modules = packages["modules"]
    if package is not modules and package.files == modules.files:
        return [f"the same {len(package.files)} names as {modules.folder}"]
    wide = int((WIDTH - 24) / LETTER)
    return wrap(", ".join(package.files), wide, break_long_words=False, break_on_hyphens=False)


def boxes_of(packages: Mapping[str, Package]) -> tuple[list[Box], list[tuple[str, int]], int]:
    """Return the boxes and the headings in their places, and where the picture ends."""
    order = [package.name for group in rows(packages).values() for package in group]
    imported = {target for _source, target in arrows(packages)}
    boxes, headings, top = [], [], 12
    for heading, group in rows(packages).items():
        headings.append((heading, top + 14))
        top += 24
        for package in group:
            own = [package.name] if package.name in imported else []
            ports = own + sorted(package.targets, key=order.index)
            boxes.append(Box(package, top, text_of(package, packages), ports))
            top += boxes[-1].height + 10
        top += 8
    return boxes, headings, top


def drawn_box(box: Box, lanes: list[str]) -> Iterator[str]:
    """Yield a package with its text, and a stripe in the colour of its line."""
    name, top = box.package.name, box.top
    yield f'<rect class="box" x="{LEFT}" y="{top}" width="{WIDTH}" height="{box.height}" rx="5"/>'
    if name in lanes:
        yield (
            f'<rect class="fill{lanes.index(name)}" x="{LEFT + WIDTH - 5}" y="{top}" width="5" '
            f'height="{box.height}"/>'
        )
    folder = box.package.folder
    yield f'<text class="name" x="{LEFT + 12}" y="{top + 19}">{escape(folder)}</text>'
    yield (
        f'<text class="purpose" x="{LEFT + 28 + 8 * len(folder)}" y="{top + 19}">'
        f"{escape(PURPOSES[name])}</text>"
    )
    for number, names in enumerate(box.lines, 1):
        yield f'<text x="{LEFT + 12}" y="{box.top + 21 + LINE * number}">{escape(names)}</text>'


def drawn_lane(number: int, target: Box, users: Iterable[Box]) -> Iterator[str]:
    """Yield the line of a package that others import, from the first that joins it to its arrow."""
    side, name = LEFT + WIDTH, target.package.name
    x, end = side + 24 + LANE * number, target.port(name)
    heights = {user.package.folder: user.port(name) for user in users}
    yield (
        f'<path class="lane{number}" d="M {x} {min(heights.values())} V {end} H {side + 3}" '
        f'marker-end="url(#arrow{number})"/>'
    )
    for folder, height in heights.items():
        yield (
            f'<path class="lane{number}" d="M {side} {height} H {x}">'
            f"<title>{folder} imports {target.package.folder}</title></path>"
        )
        yield f'<circle class="fill{number}" cx="{x}" cy="{height}" r="3"/>'


def style(count: int) -> str:
    """Return the colours, for light and for dark surroundings, and the heads of the arrows."""

    def colours(palette: tuple[str, ...]) -> str:
        used = {number: palette[number % len(palette)] for number in range(count)}
        return "\n".join(f".lane{n} {{ stroke: {used[n]} }} .fill{n} {{ fill: {used[n]} }}" for n in used)

    heads = "".join(
        f'<marker id="arrow{number}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path class="fill{number}" d="M 0 0 L 10 5 L 0 10 z"/></marker>'
        for number in range(count)
    )
    rules = STYLE.format(light=colours(LIGHT), dark=colours(DARK))
    return f"<style>\n{rules}\n</style>\n<defs>{heads}</defs>"


def picture() -> str:
    """Return the picture.

    :raises SystemExit: where a package has no purpose, or a purpose no package.
    """
    packages = read_packages()
    odd = sorted(packages.keys() ^ PURPOSES.keys())
    if odd:
        raise SystemExit(
            f"PURPOSES in {Path(__file__).name} and the folders of plugins differ in {', '.join(odd)}"
        )
    boxes, headings, bottom = boxes_of(packages)
    found = arrows(packages)
    lanes = [box.package.name for box in boxes if box.package.name in box.ports]
    wide = LEFT + WIDTH + 24 + LANE * len(lanes)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {bottom}" role="img">',
        "<title>The packages of the collection, and which of them imports which</title>",
        style(len(lanes)),
        f'<rect class="paper" width="{wide}" height="{bottom}" rx="6"/>',
    ]
    lines += [f'<text class="band" x="{LEFT}" y="{y}">{escape(heading)}</text>' for heading, y in headings]
    for box in boxes:
        lines += drawn_box(box, lanes)
    by_name = {box.package.name: box for box in boxes}
    for number, name in enumerate(lanes):
        users = [box for box in boxes if (box.package.name, name) in found]
        lines += drawn_lane(number, by_name[name], users)
    return "\n".join([*lines, "</svg>", ""])


def main() -> int:
    """Write the picture."""
    PICTURE.write_text(picture(), encoding="utf-8")
    print(f"Wrote {PICTURE.relative_to(ROOT)}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
