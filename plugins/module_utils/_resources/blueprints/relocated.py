# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeps a blueprint that still has the former name of a relocated service from leading back to that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..._api.values import ServiceStatus
from ..relocations.named import relocated_away
from ..relocations.record import Phase, Relocation
from ..shared.options import StateDirOptions
from ..shared.task_errors import Invalid
from .contents import Contents, references_in
from .parts import Part


def check_relocated(
    options: StateDirOptions,
    warn: Callable[[str], None],
    contents: Contents,
    parts: Sequence[Part],
    read_aliases: Callable[[], Mapping[str, str]],
) -> None:
    """Refuse to lead applications back to a service that a relocation left over, or to resume it.

    Where the blueprint does neither, it does no harm, and this only warns.

    :param read_aliases: reads the aliases in the project by the id of the service.
    :raises Invalid: with what to write.
    """
    left = relocated_away(options, warn)
    if not left:
        return
    keys = {entry.key for entry in (*contents.services, *contents.applications)}
    ids = {alias: id for id, alias in read_aliases().items() if alias not in keys}
    described = {part.key: part for part in parts if part.section == "services" and part.id in left}
    ids |= {key: str(part.id) for key, part in described.items()}
    harm: dict[str, list[str]] = {str(part.id): [] for part in described.values()}
    for part in described.values():
        if resumes(part):
            harm[str(part.id)].append(f"{part.label} would be resumed")
    for entry in contents.applications:
        for id in sorted({ids[to] for _path, to, _field in references_in(entry) if ids.get(to) in left}):
            harm.setdefault(id, []).append(f"application {entry.name!r} would refer to it")
    in_use = {str(part.id) for part in described.values() if is_active(part)}
    for id, reasons in harm.items():
        if reasons and not (left[id].phase is Phase.FINISHED and id in in_use):  # which cannot go back
            raise Invalid(f"{describe(left[id])}: {'; '.join(reasons)}. Nothing was done. {remedy(left[id])}")
        warn(f"{describe(left[id])}. {remedy(left[id])}")


def resumes(part: Part) -> bool:
    """Tell whether a service would be resumed."""
    return part.plan is not None and any(move.what == "resume" for move in part.plan.moves)


def is_active(part: Part) -> bool:
    """Tell whether a service is in service already: somebody uses it on purpose."""
    return part.result.get("status") == ServiceStatus.ACTIVE and not resumes(part)


def describe(relocation: Relocation) -> str:
    """Return what the blueprint names, as the beginning of a message."""
    content, (id, __) = relocation.content, relocation.pair or ("", "")
    name, other = content.old_name, content.new_name
    if id == content.new_id:
        name, other = other, name
    return f"the blueprint names service {name!r} ({id}), in whose place a relocation put {other!r}"


def remedy(relocation: Relocation) -> str:
    """Return what to do about it."""
    content, (id, kept) = relocation.content, relocation.pair or ("", "")
    if id == content.new_id:
        return (
            f"Write {content.old_name!r} ({kept}) there in its place, or relocate it again. The record is "
            f"{relocation.file.path!r}"
        )
    return (
        f"Write {content.new_name!r} ({kept}) there in its place, or go back with state: returned of "
        f"hosted.services.relocate. The record is {relocation.file.path!r}"
    )
