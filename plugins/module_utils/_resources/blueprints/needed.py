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
    Content,
    Phase,
    Relocation,
    damage_of,
    known_relocations,
)
from ..shared.task_errors import Invalid


def needed_for(options: StateDirOptions, described: Collection[str]) -> Callable[[Named], str | None]:
    """Return what tells for what a relocation needs a service that nothing describes, and what to do.

    It tells ``None`` of a service that none needs. A relocation that is over needs no service, unless the
    other one's name is still described.

    :param described: the names of what is described.
    :raises Invalid: if a record cannot be read.
    """
    known = known_relocations(options)
    if known.damaged:
        raise Invalid(f"{damage_of(known.damaged[0])}, so which services it needs is not known. {MENDING}")

    def tell(service: Named) -> str | None:
        naming = [each for each in known.relocations if names(each.content, service)]
        naming.sort(key=lambda each: each.content.old_id == service.id)  # it was relocated once more
        for each in reversed(naming):
            other = other_name(each.content, service)
            if not is_over(each) or any(same_name(other, name) for name in described):
                return f"{what_for(each, service)}. The record is {each.file.path!r}"
        return None

    return tell


def names(content: Content, service: Named) -> bool:
    """Tell whether a relocation names a service. One that was just ordered may be known by its name alone."""
    if service.id in (content.old_id, content.new_id):
        return content.phase != Phase.NONE
    ordered = content.new_id is None and content.sent is not None
    return ordered and same_name(service.name, content.new_name)


def other_name(content: Content, service: Named) -> str:
    """Return the name of the other service of a relocation."""
    return content.new_name if service.id == content.old_id else content.old_name


def is_over(relocation: Relocation) -> bool:
    """Tell whether one service is left of a relocation, which is in service."""
    content = relocation.content
    made_none = content.new_id is None and content.sent is None
    return content.gone or (relocation.phase is Phase.RETURNED and made_none)


def what_for(relocation: Relocation, service: Named) -> str:
    """Return what a relocation needs a service for, and what to do."""
    content, pair = relocation.content, relocation.pair
    relocated = f"the relocation of service {content.old_name!r} ({content.old_id}) to {content.new_name!r}"
    if pair is None and not is_over(relocation):
        return f"{relocated} is under way. Complete it with hosted.services.relocate, or go back"
    if pair is not None and service.id == pair[0]:
        return (
            f"{relocated} keeps it for a while. state: finished of hosted.services.relocate deletes it then"
        )
    other = other_name(content, service)
    return f"it is in service since {relocated}. Write its name, {service.name!r}, in place of {other!r}"
