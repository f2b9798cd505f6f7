# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Compare two trees without touching them, and leave out links that lead out of a tree."""

from __future__ import annotations

import posixpath
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from .._api.text import composed
from .errors import TransferFailed
from .trees import MOST_BYTES, ROOT, Kind, Tree, TreeEntry, above, printable_path, within

PERMISSIONS, SPECIAL = 0o777, 0o7000
"""The bits of a mode that are copied, and those that are set only if the user names them (setuid, sticky)."""
MOST_LINKS = 40
"""The number of links that are followed on the way to one place, as in Linux."""
LONGEST_TARGET = 4096
"""The characters of where a link leads. No system takes more, and servers may send megabytes."""


@dataclass(frozen=True)
class Rules:
    """The options of a mirror. ``equal`` are files whose content was compared and is the same."""

    equal: Collection[str] = ()
    by_time: bool = False
    """True if files of one size and time are taken for the same."""
    delete: bool = False
    preserve_modes: bool = True
    file_mode: int | None = None
    directory_mode: int | None = None

    def same(self, path: str, desired: TreeEntry, there: TreeEntry) -> bool:
        alike = (desired.size, desired.mtime) == (there.size, there.mtime)
        return path in self.equal or (self.by_time and alike)

    def mode_for(self, entry: TreeEntry) -> int | None:
        """Return the permissions that an entry is to have; ``None`` leaves them to the other side."""
        if entry.kind is Kind.LINK:
            return None
        given = self.directory_mode if entry.kind is Kind.DIRECTORY else self.file_mode
        kept = entry.mode if self.preserve_modes else None
        return kept & PERMISSIONS if given is None and kept is not None else given


@dataclass
class TreeChanges:
    """The steps of a mirror in their order, by path, each with the desired entry."""

    in_the_way: dict[str, TreeEntry] = field(default_factory=dict)
    directories: dict[str, TreeEntry] = field(default_factory=dict)
    files: dict[str, TreeEntry] = field(default_factory=dict)
    links: dict[str, TreeEntry] = field(default_factory=dict)
    modes: dict[str, TreeEntry] = field(default_factory=dict)
    extra: dict[str, TreeEntry] = field(default_factory=dict)
    leftovers: list[str] = field(default_factory=list)
    unchanged: int = 0
    there: dict[str, TreeEntry] = field(default_factory=dict)
    """The present entries of the target at the paths of these steps, or above them."""

    @property
    def desired(self) -> dict[str, TreeEntry]:
        return {**self.directories, **self.files, **self.links, **self.modes}

    @property
    def bytes(self) -> int:
        return sum(entry.size for entry in self.files.values())

    @property
    def growth(self) -> int:
        """How many bytes more the target holds once the files are copied."""
        replaced = {path: self.there.get(path) for path in (*self.files, *self.in_the_way)}
        return self.bytes - sum(old.size for old in replaced.values() if old and old.kind is Kind.FILE)

    def __bool__(self) -> bool:
        return bool(self.desired or self.extra or self.leftovers)


def compare(source: Tree, target: Tree, rules: Rules) -> TreeChanges:
    changes = TreeChanges(leftovers=sorted(target.leftovers), there=target.entries)
    for path in sorted(source.entries):
        if target.unreadable and path and within(posixpath.dirname(path), target.unreadable):
            continue
        if path in target.excluded:
            raise TransferFailed(
                f"{printable_path(path)} is a directory there, which exclude leaves alone, but not here; "
                "rename it at the source, or leave out the slash at the end of the pattern to exclude both"
            )
        desired = source.entries[path]
        there = target.entries.get(path)
        if there is not None and there.kind is not desired.kind:
            clear_the_way(path, there, target, rules, changes)
            there = None
        classify_entry(path, replace(desired, mode=rules.mode_for(desired)), there, rules, changes)
    # What is deleted may be all that is left of what could not be read.
    if rules.delete and not (source.unreadable or target.unreadable):
        kept = kept_paths(source, target) | source.entries.keys() | changes.in_the_way.keys()
        changes.extra = {path: entry for path, entry in target.entries.items() if path not in kept}
    check_spared(source, target, changes)
    return changes


def folded(path: str) -> str:
    """Return a path as a file system may compare it: regardless of capitals, and in one Unicode form."""
    return composed(path).casefold()


def check_spared(source: Tree, target: Tree, changes: TreeChanges) -> None:
    """Refuse what may be, where capitals or forms count for nothing, something that takes no part."""
    parts = (source.excluded, source.left_out, target.excluded, target.left_out)
    spared = {folded(path): path for part in parts for path in part}
    for path in (*changes.desired, *changes.extra) if spared else ():
        other = spared.get(folded(path), path)
        if other != path:
            raise TransferFailed(
                f"{printable_path(path)} and {printable_path(other)}, which takes no part, differ in "
                "capitals or characters alone, and may be one there. Rename one, or exclude both"
            )


def check_sizes(source: Tree) -> None:
    sizes = {path: entry.size for path, entry in source.entries.items() if entry.kind is Kind.FILE}
    if (total := sum(sizes.values())) > MOST_BYTES:
        path = max(sizes, key=lambda path: sizes[path])
        raise TransferFailed(
            f"{source.name} has {total} bytes, {printable_path(path) or 'the file'} alone {sizes[path]}. "
            f"The most that is copied is {MOST_BYTES}, and holes of sparse files count. Leave files out"
        )


def kept_paths(source: Tree, target: Tree) -> set[str]:
    """Return what stays of the target though the source has none: what is excluded, or left out there."""
    kept, patterns = set(target.protected), target.patterns
    # A pattern for directories may have excluded one that is a link or a file there.
    spared = {path for path in source.excluded if patterns.excludes(path, True)} | source.left_out.keys()
    for path in target.entries if spared else ():
        if within(path, spared):
            kept.update((path, *above(path)))
    return kept


def classify_entry(
    path: str, desired: TreeEntry, there: TreeEntry | None, rules: Rules, changes: TreeChanges
) -> None:
    by_kind = {Kind.DIRECTORY: changes.directories, Kind.FILE: changes.files, Kind.LINK: changes.links}
    same = {Kind.FILE: rules.same, Kind.LINK: same_target}.get(desired.kind)
    if there is None or (same and not same(path, desired, there)):
        by_kind[desired.kind][path] = desired
    elif (
        desired.mode is not None
        and (path != ROOT or desired.kind is not Kind.DIRECTORY)  # that of a root that is there is not ours
        and not same_mode(desired.mode, there.mode)
    ):
        special = (there.mode or 0) & SPECIAL if desired.kind is Kind.DIRECTORY else 0
        changes.modes[path] = replace(desired, mode=desired.mode | special)
    else:
        changes.unchanged += 1


def same_target(path: str, desired: TreeEntry, there: TreeEntry) -> bool:
    """Tell whether two links lead to the same place, and are written alike where that is known."""
    if desired.target == there.target or not (desired.resolved or there.resolved):
        return desired.target == there.target
    one, other = (posixpath.join(posixpath.dirname(path), str(entry.target)) for entry in (desired, there))
    return posixpath.normpath(one) == posixpath.normpath(other)


def same_mode(desired: int, there: int | None) -> bool:
    """Tell whether permissions are right. Special bits count only if the user sets them."""
    if there is None:
        return False
    return desired == (there if desired & SPECIAL else there & PERMISSIONS)


def clear_the_way(path: str, there: TreeEntry, target: Tree, rules: Rules, changes: TreeChanges) -> None:
    """Plan the removal of what has the place of something else. A directory goes only with ``delete``."""
    if there.kind is Kind.DIRECTORY:
        if not rules.delete or path == ROOT:
            raise TransferFailed(
                f"{printable_path(path) or 'the destination'} is a directory there, but not here; "
                "set delete: true to replace it, or choose another destination"
            )
        if path in target.protected:
            raise TransferFailed(
                f"{printable_path(path)} is a directory there, but not here, and it contains something that "
                "is excluded, or a temporary file that another run may be writing; remove it by hand"
            )
        below = path + "/"
        changes.in_the_way.update((p, e) for p, e in target.entries.items() if p.startswith(below))
    changes.in_the_way[path] = there


def without_stray_links(tree: Tree) -> Tree:
    """Return a tree that leaves out the links which lead out of it. Their namesakes are not deleted."""
    stray = {}
    for path, entry in tree.entries.items():
        if entry.kind is Kind.LINK and entry.target is None:
            stray[path] = "it is a link, and the server does not show where it leads"
        elif entry.kind is Kind.LINK and not stays_inside(path, str(entry.target), tree.entries):
            where = printable_path(str(entry.target)[:LONGEST_TARGET])
            stray[path] = f"it is a link that leads out of the tree, to {where}"
    kept = {path: entry for path, entry in tree.entries.items() if path not in stray}
    return replace(tree, entries=kept, left_out={**tree.left_out, **stray})


def stays_inside(path: str, target: str, entries: Mapping[str, TreeEntry]) -> bool:
    """Tell whether a link leads to a place in its tree, whatever other links are on the way.

    Climbing at the beginning of a target is safe, as the directories above a link are real ones. Further on
    it is safe where the tree knows what is climbed out of.
    """
    if path == ROOT or not is_relative(target):
        return False
    here, todo, links = path.split("/")[:-1], target.split("/")[::-1], 0
    while ".." in todo:
        name = todo.pop()
        if name == "..":
            if not here:
                return False
            here.pop()
        elif name not in ("", "."):
            entry = entries.get("/".join([*here, name]))
            if entry is not None and entry.kind is Kind.DIRECTORY:
                here.append(name)
                continue
            links += 1
            if entry is None or links > MOST_LINKS or not is_relative(entry.target or ""):
                return False
            todo.extend(str(entry.target).split("/")[::-1])
    return True


def is_relative(target: str) -> bool:
    """Tell whether a link says where it leads from its own directory, as one that can be made."""
    return 0 < len(target) <= LONGEST_TARGET and not target.startswith("/")


def describe_entry(entry: TreeEntry) -> str:
    permissions = "" if entry.mode is None else f", mode {entry.mode:04o}"
    if entry.kind is Kind.LINK:
        return f"link to {printable_path(entry.target or 'somewhere')}"
    if entry.kind is not Kind.FILE:
        return f"{entry.kind.value}{permissions}"
    try:
        when = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(entry.mtime))
    except (OverflowError, ValueError, OSError):  # no calendar has it
        when = f"{entry.mtime} seconds after 1970"
    return f"{entry.size} bytes, changed {when}{permissions}"
