# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which services the relocations on this controller name, for tasks that would take them for any others."""

from __future__ import annotations

from collections.abc import Callable, Collection

from ..shared.identify import Named
from ..shared.names import same_name
from ..shared.options import StateDirOptions
from ..shared.relocation_record import (
    MENDING,
    Phase,
    Relocation,
    damage_of,
    known_relocations,
)
from ..shared.task_errors import Invalid


def relocations_on(options: StateDirOptions) -> list[Relocation]:
    """Return the relocations on a platform whose records are in ``state_dir`` or the collection's own folder.

    :raises Invalid: if a record cannot be read: which services it names is not known then.
    """
    known = known_relocations(options)
    if known.damaged:
        damage = damage_of(known.damaged[0])
        raise Invalid(f"{damage}, so which services it needs is not known. {MENDING}")
    return known.relocations


def needed_for(options: StateDirOptions, described: Collection[str]) -> Callable[[Named], str | None]:
    """Return what tells for what a relocation needs a service that nothing describes, and what to do.

    It tells ``None`` of a service that none needs. A relocation that is over needs no service, unless the
    other one's name is still described.

    :param described: the names of what is described.
    :raises Invalid: if a record cannot be read.
    """
    relocations = relocations_on(options)

    def tell(service: Named) -> str | None:
        naming = [each for each in relocations if names(each, service)]
        naming.sort(key=lambda each: each.old_id == service.id)  # it was relocated once more
        for each in reversed(naming):
            other = other_name(each, service)
            if not is_over(each) or any(same_name(other, name) for name in described):
                return f"{what_for(each, service)}. The record is {each.file.path!r}"
        return None

    return tell


def names(relocation: Relocation, service: Named) -> bool:
    """Tell whether a relocation names a service. One that was just ordered may be known by its name alone."""
    if service.id in (relocation.old_id, relocation.new_id):
        return relocation.phase != Phase.NONE
    ordered = relocation.new_id is None and relocation.sent is not None
    return ordered and same_name(service.name, relocation.new_name)


def other_name(relocation: Relocation, service: Named) -> str:
    """Return the name of the other service of a relocation."""
    return relocation.new_name if service.id == relocation.old_id else relocation.old_name


def is_over(relocation: Relocation) -> bool:
    """Tell whether one service is left of a relocation, which is in service."""
    made_none = relocation.new_id is None and relocation.sent is None
    return relocation.gone or (relocation.phase is Phase.RETURNED and made_none)


def what_for(relocation: Relocation, service: Named) -> str:
    """Return what a relocation needs a service for, and what to do."""
    pair = relocation.pair
    names = f"{relocation.old_name!r} ({relocation.old_id}) to {relocation.new_name!r}"
    relocated = f"the relocation of service {names}"
    if pair is None and not is_over(relocation):
        return f"{relocated} is under way. Complete it with hosted.services.relocate, or go back"
    if pair is not None and service.id == pair[0]:
        return (
            f"{relocated} keeps it for a while. state: finished of hosted.services.relocate deletes it then"
        )
    other = other_name(relocation, service)
    return f"it is in service since {relocated}. Write its name, {service.name!r}, in place of {other!r}"
