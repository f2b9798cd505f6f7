# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of copies that the platform may normalize: with dashes, in lower case, or truncated.

The characters allowed in the name of a backup or a snapshot are not documented (Backups and snapshots).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ..._api.errors import Refused
from ..._api.models import Backup, Service, Snapshot
from ..services.lookup import label
from ..shared.busy_retry import is_name_conflict
from ..shared.names import normalized, same_name
from ..shared.options import Options, WaitOptions
from ..shared.plan import Task
from ..shared.task_errors import EffectUnverified, Invalid, WaitEnded
from ..shared.waiting import QUIET_SECONDS, wait_until

C = TypeVar("C", Backup, Snapshot)
MIN_CUT = 32
"""From how many characters on a name may be all that the platform kept of a longer one."""
MIN_REPEATED_CUT = 10
"""The same for a name that several copies of a service have, and for that of a copy just made."""


def may_be_cut(stored: str, name: str, copies: Iterable[Backup | Snapshot]) -> bool:
    """Tell whether ``stored``, a name among those of ``copies``, may be ``name`` cut by the platform."""
    # How many characters the platform keeps is not shown, and the beginning of a name may be the whole name
    # of another copy: v1 is no cut of v10. Three facts that every controller can read tell them apart. A
    # record on this controller would be exact, but would not help the next run in a fresh container.
    # - A platform that cuts stores no longer names, so a longer one proves that this one is whole. One more
    #   character proves nothing: a blank or dash that a cut left at the end may have been trimmed.
    # - Limits of names are not short: the shortest one documented is 40 (slug). Below 32, a name is whole.
    # - Unless several copies have it: no task makes a second copy with a name that it finds, but a task that
    #   looks for a longer name than is stored makes one. Very short ones are left out: people repeat them.
    if not is_beginning(stored, name):
        return False
    names = [copy.name for copy in copies]
    if any(len(other) > len(stored) + 1 for other in names):
        return False
    return len(stored) >= (MIN_REPEATED_CUT if names.count(stored) > 1 else MIN_CUT)


def is_beginning(stored: str, name: str) -> bool:
    """Tell whether a name, or its normalized form, begins with another one and is longer."""
    short, whole = normalized(stored), normalized(name)
    return len(stored) < len(name) and short != whole and whole.startswith(short)


def possible_names(name: str, copies: Iterable[Backup | Snapshot]) -> list[str]:
    """Return the names of copies that may be the platform's form of ``name``, which none of them has."""
    there = list(copies)
    names = {copy.name for copy in there} - {name}
    return sorted(other for other in names if same_name(other, name) or may_be_cut(other, name, there))


def new_copies_named(name: str, fresh: Sequence[C], *, accepted: bool) -> list[C]:
    """Return the new copies that have this name or a possible form of it.

    Only where the platform ``accepted`` the request can the beginning of the name be what it kept of it.
    Otherwise nobody knows whether there is a copy to be found, and it may be that of another run.
    """
    return (
        [copy for copy in fresh if copy.name == name]
        or [copy for copy in fresh if same_name(copy.name, name)]
        or (beginnings(name, fresh) if accepted else [])
    )


def beginnings(name: str, fresh: Iterable[C]) -> list[C]:
    """Return the new copies whose name may be what the platform kept of a longer one."""
    return [copy for copy in fresh if len(copy.name) >= MIN_REPEATED_CUT and is_beginning(copy.name, name)]


@contextmanager
def telling_of_beginnings(kind: str, name: str, fresh: Collection[C]) -> Iterator[None]:
    """Add to an error of a request the copies that have appeared, by ``fresh``, and prove nothing."""
    try:
        yield
    except (EffectUnverified, Refused) as error:
        appeared = ", ".join(repr(copy.name) for copy in beginnings(name, fresh))
        if appeared:
            error.append(
                f". In the meantime, {kind} {appeared} appeared, which is only the beginning of {name!r} and "
                "may be that of another run. If it is what the platform kept of the name, use it in the task"
            )
        raise


def await_listed(
    task: Task[WaitOptions], what: str, new_ones: Callable[[], list[C]], fresh: Collection[C]
) -> list[C]:
    """Wait until new copies of the requested name, by ``new_ones``, are on the list, and return them.

    :param fresh: all new copies that ``new_ones`` has seen, whatever their names.
    :raises WaitEnded: if one of another name has come in its place, or after ``wait_timeout``.
    """
    since: list[float] = []

    def are_there(found: Sequence[C]) -> bool:
        if found or not fresh:
            return bool(found)
        since.append(time.monotonic())
        if since[-1] - since[0] >= QUIET_SECONDS:
            appeared = " and ".join(repr(copy.name) for copy in fresh)
            raise WaitEnded(
                f"the platform accepted {what}, and {appeared} appeared: it named it in its own way, or "
                "another run made that. Check the list, and use that name if you mean it. The next run of "
                "this task makes another one"
            )
        return False

    return wait_until(
        task, new_ones, are_there, lambda none: "it is not on the list yet: it is late, or it failed", what
    )


def name_hint(name: str, copies: Iterable[Backup | Snapshot]) -> str:
    """Return a clause on names that may be this one; empty if there are none."""
    close = possible_names(name, copies)
    if not close:
        return ""
    listed = ", ".join(repr(other) for other in close)
    return f". There is {listed}, which may be the platform's form of {name!r}; use that name if you mean it"


def check_distinct_name(kind: str, service: Service, name: str, copies: Iterable[Backup | Snapshot]) -> None:
    """Check that no existing copy may have a normalized form of the name.

    :raises Invalid: if one does: otherwise each run would make another copy.
    """
    close = possible_names(name, copies)
    if not close:
        return
    stored = close[0]
    form, other = "the platform's form of it", "differs in more than case, blanks and punctuation"
    if not same_name(stored, name):
        form = f"what the platform kept of it: {len(stored)} characters"
        other = f"has at most {len(stored)} characters"
    raise Invalid(
        f"{label(service)} has no {kind} named {name!r}, but {stored!r}, which may be {form}. Nothing was "
        f"made. Use the name {stored!r} if you mean it; for another {kind}, choose a name that {other}"
    )


def warn_of_changed_name(
    task: Task[Options], kind: str, service: Service, name: str, made: Backup | Snapshot
) -> None:
    """Warn that the platform gave a copy another name than requested."""
    if made.name == name:
        return
    cut = ""
    if not same_name(made.name, name):
        kept, of = len(made.name), len(name)
        then = "are refused from now on" if kept >= MIN_CUT else f"may make more {kind}s of this name"
        cut = (
            f". It kept {kept} of {of} characters: other names that begin with these {then}, so choose "
            "shorter ones"
        )
    task.warn(
        f"the platform named the {kind} of {label(service)} {made.name!r} in place of {name!r}; use that "
        f"name in all tasks, because none finds it by the other one{cut}"
    )


def check_found_again(
    kind: str, service: Service, name: str, made: Backup | Snapshot, copies: Iterable[Backup | Snapshot]
) -> None:
    """Check that the next run will recognize a copy that the platform named another way.

    :raises WaitEnded: if it would make another copy instead.
    """
    if made.name != name and made.name not in possible_names(name, copies):
        raise WaitEnded(
            f"the {kind} of {label(service)} was made, but the platform named it {made.name!r} in place of "
            f"{name!r}, and the next run would ask for another one. Use the name {made.name!r}, or another "
            f"one of at most {len(made.name)} characters"
        )


def check_name_conflict(
    error: Refused, kind: str, service: Service, name: str, copies: Iterable[Backup | Snapshot]
) -> None:
    """Check that no copy of before may be why the platform refused a name.

    :raises Invalid: naming the copy.
    """
    taken = [copy.name for copy in copies if is_beginning(copy.name, name)]
    if taken and is_name_conflict(error):
        stored = max(taken, key=len)
        raise Invalid(
            f"{error.message}: {kind} {stored!r} may be the one, because the platform may store "
            f"{len(stored)} characters of {name!r}. Nothing was made on {label(service)}. Use the name "
            f"{stored!r} if you mean it; for another {kind}, choose a name that has at most {len(stored)} "
            "characters"
        ) from error
