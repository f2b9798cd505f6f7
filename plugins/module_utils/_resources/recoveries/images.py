# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images of recovered applications: from an archive, or from a registry that still has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..._api.errors import HostedError
from ..applications.releases import read_declared
from ..applications.repository import open_repository
from ..blueprints.contents import Contents
from ..blueprints.entry import Entry
from ..blueprints.members import Member
from ..shared.plan import Task
from ..shared.task_errors import Invalid
from .options import RecoverOptions
from .rules import Names


@dataclass
class Images:
    """Where the images come from that no archive brings."""

    contents: Contents
    """With the digest of each image that has to be copied."""
    sources: dict[str, str] = field(default_factory=dict)
    """By key: the slug whose repository has the image."""


def find_images(
    task: Task[RecoverOptions], contents: Contents, names: Names, there: Mapping[str, Member]
) -> Images:
    """Find the images of applications that are to be made.

    :raises Invalid: naming all that are not there.
    """
    found = Images(contents)
    missing: list[str] = []
    applications = []
    for entry in contents.applications:
        image = dict(entry.values.get("image") or {})
        if not image or "archive" in image or entry.key in there:
            applications.append(entry)
            continue
        slug = names.original[entry.key]
        digest = digest_in_registry(task, slug, image)
        if digest is None:
            missing.append(f"{slug!r} with tag {image['tag']!r}")
            continue
        found.sources[entry.key] = slug
        applications.append(with_digest(entry, digest))
    if missing:
        raise Invalid(
            f"the registry has no image of {', '.join(missing)}, and the blueprint names no archive of it. "
            "Nothing was ordered. Keep the images as archives, and name them with archive under image"
        )
    if found.sources:
        task.warn(
            f"the images of {', '.join(found.sources)} come from the registry of the account, which is gone "
            "with the account. Keep archives of them, and name these with archive under image"
        )
    found.contents = replace(contents, applications=applications)
    return found


def with_digest(entry: Entry, digest: str) -> Entry:
    """Return an application whose image is named by its digest."""
    return replace(entry, values={**entry.values, "image": {**entry.values["image"], "digest": digest}})


def digest_in_registry(task: Task[RecoverOptions], slug: str, image: Mapping[str, Any]) -> str | None:
    """Return the digest of an image if the repository of an application has it."""
    try:
        digest = image.get("digest") or digest_of_release(task, slug, image["tag"])
        return open_repository(task, slug).digest_of(digest) if digest else None
    except HostedError as error:
        task.progress(f"the image of {slug} cannot be looked up: {error.message}")
        return None


def digest_of_release(task: Task[RecoverOptions], slug: str, tag: str) -> str | None:
    """Return the digest of a release; ``None`` if it is not declared."""
    found = read_declared(task.client, slug).get(tag)
    return found.digest if found else None
