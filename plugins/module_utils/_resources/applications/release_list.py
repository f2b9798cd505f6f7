# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the list of an application's releases, whose fields are undocumented (Fields left open)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..._api.client import Client
from ..._api.errors import UnexpectedAnswer
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
    """The releases in the list, by tag."""

    by_tag: Mapping[str, ListedRelease]

    def digest(self, tag: str) -> str | None:
        """Return the digest of a tag; ``None`` if the list does not show it."""
        entered = self.by_tag.get(tag)
        return entered.digest if entered else None

    def digests(self, tag: str) -> list[str]:
        """Return the digests of all entries with a tag, as far as the list shows them."""
        entered = self.by_tag.get(tag)
        return [digest for digest in (entered.digest, *entered.others) if digest] if entered else []


def read_declared(client: Client, slug: str) -> DeclaredReleases:
    """Return the declared releases.

    :raises UnexpectedAnswer: if the list does not show a tag.
    """
    found: dict[str, ListedRelease] = {}
    for entry in client.releases(slug):
        tag = text_at(entry, TAG_PATHS)
        if tag is None:
            raise UnexpectedAnswer(f"the list of releases of {slug!r} has an entry without a tag")
        others = DeclaredReleases(found).digests(tag)
        found[tag] = ListedRelease(text_at(entry, DIGEST_PATHS), text_at(entry, MADE_PATHS), tuple(others))
    return DeclaredReleases(found)
