# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that a side finds though it spells them otherwise: in another case, or Unicode normal form.

Whether it does is not known from its names. It is asked for the wanted spelling: one that tells names apart
has nothing there.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Mapping

from .trees import Tree, join, run_all

ASKED_AT_ONCE = 64


async def align(source: Tree, target: Tree, finds: Callable[[str], Awaitable[bool]]) -> dict[str, str]:
    """Have ``target`` spell what it finds as ``source`` does; return its own spelling of each such path.

    :param finds: tells whether the target has something at a path that it does not list.
    """
    kept: dict[str, str] = {}
    levels: dict[int, dict[str, str]] = {}
    wanted = [path for path in source.entries if path in target or not target.has(path)]
    for path, there in namesakes(wanted, target.entries).items():
        levels.setdefault(path.count("/"), {})[path] = there

    for depth in sorted(levels):
        todo = iter(levels[depth].items())

        async def work(todo: Iterable[tuple[str, str]] = todo) -> None:
            for path, there in todo:
                folder, place = posixpath.dirname(path), posixpath.dirname(there)
                # Below what the side tells apart, everything is another thing.
                if kept.get(folder, folder) == place and (
                    posixpath.basename(path) == posixpath.basename(there) or await finds(path)
                ):
                    kept[path] = there

        await run_all(*(work() for _worker in range(min(ASKED_AT_ONCE, len(levels[depth])))))
    respell(target, {there: path for path, there in kept.items()})
    if kept:  # a pattern may name the spelling of the source
        target.leave_alone({path for path, entry in target.entries.items() if target.excludes(path, entry)})
    return kept


async def spare(source: Tree, target: Tree, finds: Callable[[str], Awaitable[bool]]) -> None:
    """Have ``target`` leave alone what is excluded or left out of ``source``, whatever kind it has there.

    It is asked only for spellings that it does not list: those are its own, and other things.
    """
    asked = [path for path in source.excluded | source.left_out if not target.has(path)]
    spared = {path for path in source.excluded if path in target and target.excludes_any(path)}
    for path, there in namesakes(asked, target.entries.keys() - source.entries.keys()).items():
        meant = path in source.left_out or target.excludes_any(path)
        if meant and await finds(path):
            spared.add(there)
    target.leave_alone(spared)


async def find_taken(
    source: Tree, target: Tree, kept: Mapping[str, str], finds: Callable[[str], Awaitable[bool]]
) -> None:
    """Note in ``target`` which paths of ``source`` lead to something that is excluded there.

    Of one spelling, a pattern excludes only what is a directory there and no directory in the source.

    :param kept: what :func:`align` returned. What is excluded below such a path is spelled as in the source
        by now, and is not asked for: the target was found to take both for one.
    """
    excluded = {folded(path): path for path in target.excluded}
    for path in source.entries if excluded else ():
        there = path if path in target.excluded else excluded.get(folded(path))
        if there is None:
            continue
        own = renamed(there, kept)
        if there == path or (own != path and not target.has(path) and await finds(path)):
            target.taken[path] = own


def namesakes(wanted: Iterable[str], listed: Iterable[str]) -> dict[str, str]:
    """Return for each wanted path that is not listed the one path that may be it, and is not wanted."""
    wanted, listed = set(wanted), set(listed)
    strange: dict[str, list[str]] = {}
    for path in listed - wanted:
        strange.setdefault(folded(path), []).append(path)
    found = {}
    for path in sorted(wanted - listed) if strange else ():
        # A side that lists several tells them apart. One cannot be two of the wanted ones either.
        match strange.pop(folded(path), []):
            case [there]:
                found[path] = there
    return found


def folded(path: str) -> str:
    """Return what is the same for all spellings of a path that some file system takes for one."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", path).casefold())


def respell(tree: Tree, names: Mapping[str, str]) -> None:
    """Give paths of a tree, and what lies below them, other names."""
    if not names:
        return
    tree.entries = {renamed(path, names): entry for path, entry in tree.entries.items()}
    tree.unreadable = {renamed(path, names): why for path, why in tree.unreadable.items()}
    tree.protected = {renamed(path, names) for path in tree.protected}
    tree.excluded = {renamed(path, names) for path in tree.excluded}
    tree.unlisted = {renamed(path, names) for path in tree.unlisted}
    tree.left_out = {renamed(path, names) for path in tree.left_out}
    tree.leftovers = [renamed(path, names) for path in tree.leftovers]


def renamed(path: str, names: Mapping[str, str]) -> str:
    """Return the new name of a path."""
    above, rest = path, ""
    while above and above not in names:
        rest = join(posixpath.basename(above), rest) if rest else posixpath.basename(above)
        above = posixpath.dirname(above)
    return path if not above else posixpath.join(names[above], rest) if rest else names[above]
