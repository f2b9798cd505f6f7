# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Off-site copies as role `backups` makes them: what is there, and which of it a service gets.

A folder holds a shelf for each service, by the id that the platform gave it. Once the account is gone, that
id says nothing. So each shelf has a description, by which the service is known again.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ..._api.text import counted, first_of
from ..clones.source import Wanted
from ..databases.dump import ENGINES
from ..last_copies.last_copy import is_last_copy
from ..shared.restore_points import moment_in
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem
from .target import Span

DESCRIPTION = "service.json"
LONGEST_DESCRIPTION = 16_000_000
"""How many characters of it are read: what is longer is no description."""
DUMPS = tuple(dict.fromkeys(engine.file for engine in ENGINES.values()))
AHEAD = timedelta(hours=1)
"""How far ahead the clock of the machine that made a copy may have been."""
NAMED = 10
"""How many shelves a message names."""


@dataclass(frozen=True)
class Copy:
    path: str
    moment: datetime
    about: Mapping[str, Any]
    """What the description of its shelf says; nothing if that has none."""

    @property
    def name(self) -> str:
        return os.path.basename(self.path)

    @property
    def shelf_id(self) -> str:
        return os.path.basename(os.path.dirname(self.path))

    @property
    def made_at(self) -> str:
        return f"{self.moment:%Y-%m-%dT%H:%M:%SZ}"

    def left_out(self) -> tuple[list[str], bool]:
        """Return the patterns of what it, or else any copy, leaves out; and whether they are its own."""
        known = self.about.get("excluded")
        known = known if isinstance(known, dict) else {}
        own = known.get(self.name)
        lists = [own] if isinstance(own, list) else known.values()
        patterns = [str(pattern) for each in lists if isinstance(each, list) for pattern in each if pattern]
        return patterns, isinstance(own, list)

    @property
    def dump(self) -> str | None:
        """The path of its dump; ``None`` if it has files."""
        there = {each.name: each.is_file(follow_symlinks=False) for each in os.scandir(self.path)}
        found = next((name for name in DUMPS if there.get(name)), None)  # a link would have any file restored
        engine = self.about.get("engine")
        is_dump = found is not None and (bool(engine) if engine is not None else len(there) == 1)
        return os.path.join(self.path, str(found)) if is_dump else None


@dataclass(frozen=True)
class Shelf:
    id: str
    copies: Sequence[Copy]
    undated: Sequence[Copy]
    """Folders whose names do not say when they were made, which only a user can name."""
    about: Mapping[str, Any]

    @property
    def label(self) -> str:
        names = [str(self.about[name]) for name in ("project", "slug", "name") if self.about.get(name)]
        other = self.about.get("id", self.id)
        if other != self.id:
            return f"{self.id} (its {DESCRIPTION} is that of {other})"
        return f"{self.id} ({' / '.join(names[:2])})" if names else f"{self.id} (no {DESCRIPTION})"

    def is_of(self, projects: Collection[str], wanted: Wanted) -> bool:
        slug = self.about.get("slug")
        same = slug == wanted.was if wanted.is_app else not slug and self.about.get("name") == wanted.was
        return same and self.about.get("project") in projects


def read_shelves(folder: str) -> list[Shelf]:
    try:
        names = sorted(os.listdir(folder))
    except OSError as error:
        raise NoSuchItem(
            f"copies is {folder!r}, which cannot be read: {error.strerror or error}. Is a disk not mounted?"
        ) from None
    found = [read_shelf(os.path.join(folder, name)) for name in names if not name.startswith(".")]
    shelves = [shelf for shelf in found if shelf.copies or shelf.undated]
    if not shelves:
        raise NoSuchItem(
            f"copies is {folder!r}, in which there is no copy of any service. It must be the folder that "
            "offsite.dest of a backup plan names. Is a disk not mounted?"
        )
    return shelves


def read_shelf(path: str) -> Shelf:
    """Return the copies of one service. What was not completed has a name that begins with a dot."""
    id, about = os.path.basename(path), read_description(path)
    if about.get("id", id) != id:  # it belongs to another shelf, and says nothing of this one
        about = {"id": about["id"]}
    copies: list[Copy] = []
    undated: list[Copy] = []
    with suppress(NotADirectoryError, FileNotFoundError):
        for each in os.scandir(path):
            if each.is_dir(follow_symlinks=False) and not each.name.startswith("."):
                made = moment_in(each.name)
                copy = Copy(each.path, made or datetime.fromtimestamp(each.stat().st_mtime, UTC), about)
                (copies if made else undated).append(copy)
    copies.sort(key=lambda each: (each.moment, each.name))
    return Shelf(id, copies, undated, about)


def read_description(shelf: str) -> dict[str, Any]:
    """Return what the description of a shelf says; nothing if there is none, or it makes no sense."""
    about, path = None, os.path.join(shelf, DESCRIPTION)
    with (
        suppress(OSError, ValueError, RecursionError),
        # Somebody else may have put a pipe or a device there, and neither comes to an end.
        open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), encoding="utf-8") as file,
    ):
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            about = json.loads(file.read(LONGEST_DESCRIPTION))
    return about if isinstance(about, dict) else {}


@dataclass
class Choice:
    shelves: Sequence[Shelf]
    projects: Collection[str]
    """The names under which the copies may know the project."""
    latest: datetime | None = None
    """Copies that were made later do not count."""
    unfilled: Mapping[str, Sequence[Span]] = field(default_factory=dict)
    """By id: of when copies of a service count only if a user names them, as it lacked its content."""
    remarks: list[str] = field(default_factory=list)
    tomorrow: datetime = field(default_factory=lambda: datetime.now(UTC) + AHEAD)
    """Copies that are dated later do not count either: their time is wrong."""

    def counting(self, shelf: Shelf) -> list[Copy]:
        latest = min(self.latest or self.tomorrow, self.tomorrow)
        return [each for each in shelf.copies if each.moment <= latest]

    def given(self, label: str, wanted: str) -> Copy:
        """Return the copy that a user names, by its shelf or as SHELF/COPY."""
        id, _slash, name = wanted.partition("/")
        shelf = next((each for each in self.shelves if each.id == id), None)
        if shelf is None:
            raise NoSuchItem(f"copies_of: {label} is to get {wanted!r}; there are {self.list_shelves()}")
        if not name:
            return self.newest(label, shelf)
        there = {each.name: each for each in (*shelf.undated, *shelf.copies)}
        if name not in there:
            raise NoSuchItem(f"copies_of: {label} is to get {wanted!r}; {shelf.label} has {', '.join(there)}")
        return there[name]

    def known(self, wanted: Wanted) -> Copy:
        """Return the newest copy of a service that the descriptions of the shelves name."""
        label = wanted.label
        own = [each for each in self.shelves if each.is_of(self.projects, wanted)]
        if not own:
            raise NoSuchItem(f"there is no copy of {label}; there are {self.list_shelves()}")
        own = self.filled(label, own)
        shelves = sorted((each for each in own if each.copies), key=lambda each: each.copies[-1].moment)
        if not shelves:
            return self.newest(label, own[0])
        newest = shelves[-1]
        for other in shelves[:-1]:
            if other.copies[-1].moment >= newest.copies[0].moment:
                raise Ambiguous(
                    f"{label} may be {other.label} or {newest.label}: both were copied at the same time. "
                    "Name the one that is meant in copies_of",
                    ids=[other.id, newest.id],
                )
        counting = [each for each in shelves if self.counting(each)]
        chosen = self.newest(label, counting[-1] if counting else newest)
        if len(shelves) > 1:
            self.remarks.append(
                f"{label} was ordered {counted(len(shelves), 'time')}, and each has copies; that of "
                f"{chosen.shelf_id} is taken, which was made at {chosen.made_at}"
            )
        return chosen

    def filled(self, label: str, own: Iterable[Shelf]) -> list[Shelf]:
        """Return shelves without the copies of what this recovery itself had not filled yet."""
        found, left_out = [], []
        for shelf in own:
            spans = self.unfilled.get(shelf.id, ())
            lacking = [each for each in shelf.copies if any(span.holds(each.moment) for span in spans)]
            rest = [each for each in shelf.copies if each not in lacking]
            if lacking:
                left_out.append(
                    f"copies of {shelf.label} do not count, such as {lacking[-1].name}: they were made "
                    f"before this recovery had restored {label}. If one is wanted all the same, name it in "
                    "copies_of"
                )
            if rest or not shelf.copies:
                found.append(replace(shelf, copies=rest))
        if not found:
            raise NoSuchItem(f"there is no other copy of {label}: {'; '.join(left_out)}")
        self.remarks += left_out
        return found

    def newest(self, label: str, shelf: Shelf) -> Copy:
        found = self.counting(shelf)
        if not shelf.copies:
            there = ", ".join(each.name for each in shelf.undated)
            raise NoSuchItem(
                f"no folder of {label} has the name of a backup: {there}. If one is a copy, name it in "
                f"copies_of as {shelf.id}/FOLDER"
            )
        if not found and self.latest is None:
            raise NoSuchItem(f"all copies of {label} are dated in the future: {shelf.copies[0].name}")
        if not found:
            raise NoSuchItem(
                f"the oldest copy of {label} was made at {shelf.copies[0].made_at}, which is not before the "
                "moment in before"
            )
        if ahead := [each.name for each in shelf.copies if each.moment > self.tomorrow]:
            self.remarks.append(
                f"{label}: copies that are dated in the future do not count: {', '.join(ahead)}"
            )
        filled = [each for each in found if any(files for _folder, _folders, files in os.walk(each.path))]
        if not filled:
            self.remarks.append(
                f"{label}: no file is in any of its copies, so it gets none. If it never held any, name it "
                "in without_data"
            )
        elif filled[-1] is not found[-1]:
            self.remarks.append(
                f"{label}: the newest copy, {found[-1].name}, is empty; {filled[-1].name} is taken. If the "
                "service really held nothing then, name the newest in copies_of"
            )
        return (filled or found)[-1]

    def warn_of_newer(self, chosen: Collection[Copy], described: Sequence[Wanted]) -> None:
        """Note newer copies that nobody gets, such as of a service that was ordered under another name."""
        taken, oldest = {each.shelf_id for each in chosen}, min(each.moment for each in chosen)
        for shelf in self.shelves:
            copies = self.counting(shelf)
            known = shelf.id in taken or any(shelf.is_of(self.projects, each) for each in described)
            is_other = not known and shelf.about.get("project") in self.projects
            if is_other and copies and copies[-1].moment > oldest:
                self.remarks.append(
                    f"nothing in the blueprint gets the copies of {shelf.label}, the newest of which was "
                    f"made at {copies[-1].made_at}. Was a service relocated or ordered anew? copies_of says "
                    "which copy a service gets"
                )

    def warn_of_writable(self, folder: str, chosen: Iterable[Copy]) -> None:
        """Note what every user of this machine could have written to: it decides what is restored."""
        writable: dict[str, None] = {}
        for each in chosen:
            places = [folder, os.path.join(folder, each.shelf_id), each.path, each.dump]
            for path in filter(None, places):
                mode = os.stat(path).st_mode
                if mode & stat.S_IWOTH:
                    writable[path] = None
                if not mode & stat.S_IXOTH:  # which closes what is in it
                    break
        if writable:
            self.remarks.append(
                f"every user of this machine can write to {', '.join(writable)}, and so to what is restored. "
                f"Check what is there, then run: chmod o-w {' '.join(map(shlex.quote, writable))}"
            )

    def list_shelves(self) -> str:
        return f"copies of {first_of([each.label for each in self.shelves], NAMED)}"


def check_content(copy: Copy, product: str | None) -> None:
    """Refuse what the service cannot have held: role `backups` copies a database as a dump or not at all."""
    if is_last_copy(copy.path):
        raise Invalid(
            f"{copy.path} is a last copy, which keep_copy of hosted.services.service made, and not "
            "one of role backups. Recover the service without what it holds, and restore its files or dump "
            "from there by hand, as the guide on backups tells"
        )
    other = "; name another copy in copies_of"
    if copy.dump is None:
        is_database = any(name in (product or "").lower() for name in ENGINES)
        if kind := copy.about.get("engine") or (product if is_database else None):
            raise Invalid(f"{copy.path} holds no dump, and the service is a {kind} database{other}")
    elif not os.path.getsize(copy.dump):
        raise Invalid(f"{copy.dump} is empty, so it is no dump{other}")
