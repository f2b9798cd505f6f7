# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The judge: what must hold after any run, whatever the other side has said."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import yaml

from ansible_collections.hosted.services.plugins.module_utils._api.text import HARMLESS, STEERING
from attacks.canaries import PRODUCT

WRONG_WORDS = ("Traceback (most recent call last)", "defect of the collection", PRODUCT)
FOREIGN = (
    "ExecStart=/bin/touch",
    "ProxyCommand touch",
    "* * * * * root touch",
    "hosted_evil",
    "@cert-authority",
    "\\!",
)
"""How lines begin that only a canary writes."""
RESULT = re.compile(r" => \{.+\}$", re.MULTILINE)
"""A result as core prints it whole, with characters as they are from 0x7f on."""
LABEL = r'[a-z_]+="(?:[^"\\\n]|\\["\\n])*"'
METRIC = re.compile(
    r"# Managed by the role .+|# HELP (hosted_\w+) [^\r]+|# TYPE (hosted_\w+) gauge|"
    rf"(hosted_\w+)(?:\{{{LABEL}(?:,{LABEL})*\}})? -?[0-9.e+-]+"
)


class Surroundings:
    """A tree of folders: those that tasks name, the user's own, and others, in which nothing may happen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.out = folder / "far" / "down" / "out"
        """The folder that the tasks name."""
        self.work = folder / "far" / "down" / "work"
        """Where everything is run."""
        self.run = folder / "run"
        """What the judge itself writes: playbooks, inventories, results."""
        self.home, self.tmp, self.state = folder / "home", folder / "tmp", folder / "state"
        for each in (self.out, self.work, self.run, self.home / ".ansible", self.tmp, self.state):
            each.mkdir(parents=True)
        for decoy in ("a", "b", "content", "far/b", "far/down/a", "home/.bashrc", "home/a"):
            (folder / decoy).write_text("decoy\n")
        self._before = self._snapshot()

    @property
    def environment(self) -> dict[str, str]:
        """What leads a program into these folders."""
        own = self.home / ".ansible"
        places = {
            "HOME": self.home,
            "ANSIBLE_HOME": own,
            "ANSIBLE_ASYNC_DIR": own / "async",
            "PWD": self.work,
        }
        places |= {"TMPDIR": self.tmp, "HOSTED_SERVICES_HOME": self.state}
        return {name: str(path) for name, path in places.items()}

    def _allowed(self, path: Path) -> bool:
        allowed = (self.out, self.run, self.tmp, self.state, self.home / ".ansible")
        return any(path.is_relative_to(each) for each in allowed)

    def _snapshot(self) -> dict[str, str]:
        others = (path for path in self.folder.rglob("*") if not self._allowed(path))
        return {str(path): path.read_text() if path.is_file() else "folder" for path in others}

    def violations(self, output: str) -> Iterator[str]:
        """Yield what a run has done that it must not, and what is wrong with what it has left."""
        yield from (f"printed {word!r}" for word in WRONG_WORDS if word in output)
        if found := steering(RESULT.sub("", output)):
            yield f"printed {found}"
        yield from (f"{path} came to be" for path in self.folder.rglob("evil"))
        after = self._snapshot()
        for place in sorted(self._before.keys() | after.keys()):
            if self._before.get(place) != after.get(place):
                yield f"{place} was written, and lies beside the folders that were named"
        for path in sorted([*self.out.rglob("*"), *self.state.rglob("*")]):
            if path.is_file() and not path.is_symlink() and "data" not in path.parts:
                yield from (f"{path.relative_to(self.folder)}: {problem}" for problem in wrong(path))


def steering(text: str) -> str:
    """Return characters of a text that steer a terminal, with what stands around the first of them."""
    found = [
        place
        for place, char in enumerate(text)
        if char not in HARMLESS and unicodedata.category(char) in STEERING
    ]
    names = ", ".join(sorted({ascii(text[place]) for place in found}))
    return f"{names} in {text[max(found[0] - 200, 0) : found[0] + 20]!r}" if found else ""


def wrong(path: Path) -> Iterator[str]:
    """Yield what is wrong with a file that was written."""
    try:
        text = path.read_bytes().decode()
    except ValueError:
        yield "is no text"
        return
    if found := steering(text):
        yield f"holds {found}"
    try:
        yield from foreign(path, text)
    except (ValueError, yaml.YAMLError, ElementTree.ParseError) as error:
        yield f"cannot be parsed: {error}"


def foreign(path: Path, text: str) -> Iterator[str]:
    """Yield what in a file is of another format, or of nobody of ours."""
    match path.suffix:
        case ".json" if not path.name.startswith("results-"):
            yield from (f"has the key {key!r}" for key in keys(json.loads(text)) if key == "hosted_evil")
        case ".yml" if not path.name.startswith("play-"):
            loaded = yaml.load(text, Loose)  # noqa: S506 - it is a safe one
            yield from (f"has the key {key!r}" for key in keys(loaded) if key == "hosted_evil")
        case ".prom":
            yield from metrics(text)
        case ".html":
            yield from Page(text).found
        case ".xml":
            tags = {item.tag for item in ElementTree.fromstring(text).iter()}  # noqa: S314 - it is our own
            yield from (f"has <{tag}>" for tag in tags if tag == "evil")
        case suffix if suffix not in {".yml", ".json"}:
            yield from (
                f"has the line {line!r}" for line in text.splitlines() if line.strip().startswith(FOREIGN)
            )


class Loose(yaml.SafeLoader):
    """Reads files with Ansible's tags."""


Loose.add_constructor("!unsafe", lambda loader, node: loader.construct_scalar(node))  # type: ignore[arg-type]


def keys(value: Any) -> Iterator[str]:
    """Yield all keys in data."""
    if isinstance(value, dict):
        yield from map(str, value)
        value = list(value.values())
    for item in value if isinstance(value, list) else ():
        yield from keys(item)


def metrics(text: str) -> Iterator[str]:
    """Yield the lines that are no metrics of ours, or that come twice."""
    seen = set()
    for line in filter(None, text.split("\n")):
        found = METRIC.fullmatch(line)
        if found is None or "hosted_evil" in found.groups() or line.rpartition(" ")[0] in seen:
            yield f"has the line {line!r}"
        seen.add(line.rpartition(" ")[0])


class Page(HTMLParser):
    """Finds what a canary has made of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element of nobody of ours."""
        if tag == "evil" or "evil" in dict(attrs).values():
            self.found.append(f"has the element {self.get_starttag_text()}")
