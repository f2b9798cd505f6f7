# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies between two trees: a pure comparison, with links that lead out of a tree left behind."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from .errors import TransferFailed
from .trees import ROOT, Entry, Kind, Tree, shown

Same = Callable[[str, Entry, Entry], bool]


@dataclass(frozen=True)
class Rules:
    """What a mirror is meant to be.

    ``same`` tells whether two files with the same kind need not be copied. ``preserve_modes`` takes the
    permissions of the source, ``file_mode`` and ``directory_mode`` set them.
    """

    same: Same
    delete: bool = False
    preserve_modes: bool = True
    file_mode: int | None = None
    directory_mode: int | None = None

    def mode_for(self, entry: Entry) -> int | None:
        """Return the permissions that an entry is to have; ``None`` leaves them to the other side."""
        given = self.directory_mode if entry.kind is Kind.DIRECTORY else self.file_mode
        if entry.kind is Kind.LINK:
            return None
        return given if given is not None else entry.mode if self.preserve_modes else None


@dataclass
class Changes:
    """The steps of a mirror in their order, each by path; entries are as they are wished."""

    in_the_way: dict[str, Entry] = field(default_factory=dict)
    directories: dict[str, Entry] = field(default_factory=dict)
    files: dict[str, Entry] = field(default_factory=dict)
    links: dict[str, Entry] = field(default_factory=dict)
    modes: dict[str, Entry] = field(default_factory=dict)
    extra: dict[str, Entry] = field(default_factory=dict)
    leftovers: list[str] = field(default_factory=list)
    unchanged: int = 0

    @property
    def wished(self) -> dict[str, Entry]:
        """Everything that is made or changed."""
        return {**self.directories, **self.files, **self.links, **self.modes}

    @property
    def bytes(self) -> int:
        """How much is to be copied."""
        return sum(entry.size for entry in self.files.values())

    def __bool__(self) -> bool:
        return bool(self.wished or self.extra or self.leftovers)


def compare(source: Tree, target: Tree, rules: Rules) -> Changes:
    """Return what makes ``target`` like ``source``.

    :raises TransferFailed: when a directory stands where a file belongs and may not be removed.
    """
    changes = Changes(leftovers=sorted(target.leftovers))
    for path in sorted(source.entries):
        wished = source.entries[path]
        there = target.entries.get(path)
        if there is not None and there.kind is not wished.kind:
            clear_the_way(path, there, target, rules, changes)
            there = None
        sort_in(path, replace(wished, mode=rules.mode_for(wished)), there, rules, changes)
    if rules.delete:
        for path, entry in target.entries.items():
            if path not in source and path not in changes.in_the_way and path not in target.protected:
                changes.extra[path] = entry
    return changes


def sort_in(path: str, wished: Entry, there: Entry | None, rules: Rules, changes: Changes) -> None:
    """Put one entry where it belongs: made, copied, given other permissions, or left as it is."""
    by_kind = {Kind.DIRECTORY: changes.directories, Kind.FILE: changes.files, Kind.LINK: changes.links}
    if there is None or (wished.kind is Kind.FILE and not rules.same(path, wished, there)):
        by_kind[wished.kind][path] = wished
    elif wished.kind is Kind.LINK and wished.target != there.target:
        changes.links[path] = wished
    elif rules.mode_for(wished) not in (None, there.mode) and path_is_ours(path, wished):
        changes.modes[path] = wished
    else:
        changes.unchanged += 1


def path_is_ours(path: str, entry: Entry) -> bool:
    """Tell whether permissions are ours to change: those of a root directory that is there are not."""
    return path != ROOT or entry.kind is not Kind.DIRECTORY


def clear_the_way(path: str, there: Entry, target: Tree, rules: Rules, changes: Changes) -> None:
    """Plan the removal of what has the place of something else. A directory goes only with ``delete``."""
    if there.kind is Kind.DIRECTORY:
        if not rules.delete or path == ROOT:
            raise TransferFailed(
                f"{shown(path) or 'the destination'} is a directory there and none here; "
                "set delete: true to have it replaced, or choose another destination"
            )
        if path in target.protected:
            raise TransferFailed(
                f"{shown(path)} is a directory there and none here, and it holds something that is excluded; "
                "remove it by hand"
            )
        below = path + "/"
        changes.in_the_way.update((p, e) for p, e in target.entries.items() if p.startswith(below))
    changes.in_the_way[path] = there


def without_stray_links(tree: Tree, skip: Callable[[str, str], None]) -> Tree:
    """Return a tree without the links that lead out of it; ``skip`` hears of each."""
    kept = {}
    for path, entry in tree.entries.items():
        if entry.kind is Kind.LINK and entry.target is None:
            skip(path, "it is a link, and the server does not tell where it leads")
        elif entry.kind is Kind.LINK and not stays_inside(path, str(entry.target)):
            skip(path, f"it is a link that leads out of the tree, to {shown(str(entry.target))}")
        else:
            kept[path] = entry
    return Tree(kept, tree.protected, tree.leftovers)


def stays_inside(path: str, target: str) -> bool:
    """Tell whether a link leads to a place in its tree, whatever other links are on the way.

    Climbing is allowed at the beginning of a target only: there the directories above are real ones.
    """
    names = [name for name in target.split("/") if name not in ("", ".")]
    depth = posixpath.dirname(path).count("/") + 1 if "/" in path else 0
    climbs = next((i for i, name in enumerate(names) if name != ".."), len(names))
    return (
        path != ROOT
        and not target.startswith("/")
        and bool(target)
        and climbs <= depth
        and ".." not in names[climbs:]
    )


def described(entry: Entry, when: Callable[[int], str]) -> str:
    """Return an entry as a diff shows it."""
    permissions = "" if entry.mode is None else f", mode {entry.mode:04o}"
    if entry.kind is Kind.LINK:
        return f"link to {shown(entry.target or 'somewhere')}"
    if entry.kind is Kind.FILE:
        return f"{entry.size} bytes, changed {when(entry.mtime)}{permissions}"
    return f"{entry.kind.value}{permissions}"


def pick(entries: Mapping[str, Entry], tree: Tree) -> dict[str, Entry]:
    """Return what a tree has at the paths of ``entries``."""
    return {path: tree.entries[path] for path in entries if path in tree}
