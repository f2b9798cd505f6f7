# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the list of an application's releases, whose form is undocumented (Fields left open)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._api.client import Client
from ..shared.pages import ListEntry, read_list
from .lookup import text_at

TAG_PATHS = ("tag", "name")
DIGEST_PATHS = ("digest", "imageDigest", "image.digest")
MADE_PATHS = ("createdAt", "declaredAt", "releasedAt", "created_at")


@dataclass(frozen=True)
class ListedRelease:
    """A release in the list; a field is ``None`` if the list does not show it.

    ``others`` are the digests of other entries with the same tag: a platform may keep one for each image.
    """

    digest: str | None
    created_at: str | None
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class DeclaredReleases:
    """The releases in the list, by tag. ``note`` says why the list may be incomplete."""

    by_tag: Mapping[str, ListedRelease]
    note: str | None = None
    total: int | None = None
    """How many there are, if the platform tells it with a list that shows only some of them."""

    def has(self, tag: str) -> bool | None:
        """Tell whether a tag is declared; ``None`` if the list is incomplete and lacks it."""
        if tag in self.by_tag:
            return True
        return False if self.note is None else None

    def leaves_out(self, tag: str) -> bool:
        """Tell whether a tag may be declared although the list lacks it."""
        return self.has(tag) is None

    def digest(self, tag: str) -> str | None:
        """Return the digest of a tag; ``None`` if the list does not show it."""
        entered = self.by_tag.get(tag)
        return entered.digest if entered else None

    def digests(self, tag: str) -> list[str]:
        """Return the digests of all entries with a tag, as far as the list shows them."""
        entered = self.by_tag.get(tag)
        return [digest for digest in (entered.digest, *entered.others) if digest] if entered else []


def read_declared(client: Client, slug: str, tag: str | None = None) -> DeclaredReleases:
    """Return the declared releases. If ``tag`` is given, stop at the page that has it."""

    def read(query: dict[str, Any]) -> Any:
        return client.releases(slug, query)

    def enough(entries: Sequence[ListEntry]) -> bool:
        return tag is not None and any(text_at(entry, TAG_PATHS) == tag for entry in entries)

    listed = read_list(read, enough)
    tags = [text_at(entry, TAG_PATHS) for entry in listed.entries] if listed else [None]
    if listed is None or None in tags:
        return DeclaredReleases({}, "the platform's list of releases has a form that cannot be read")
    found: dict[str, ListedRelease] = {}
    for name, entry in zip(map(str, tags), listed.entries, strict=True):
        others = DeclaredReleases(found).digests(name)
        found[name] = ListedRelease(text_at(entry, DIGEST_PATHS), text_at(entry, MADE_PATHS), tuple(others))
    if listed.whole:
        return DeclaredReleases(found)
    count = f"{len(found)} of {listed.total}" if listed.total else f"only {len(found)}"
    note = f"the platform's list of releases shows {count}, and not how to request the others"
    return DeclaredReleases(found, note, listed.total)
