# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Matches the digest that the platform shows for an application to the digest that was declared.

A release may name an index of images for several platforms. The specification does not show whether the
platform then shows the digest of the index or that of the image it chose. The registry tells which images an
index holds.
"""

from __future__ import annotations

from ..._api.models import App
from ..shared.options import Options, StateDirOptions
from ..shared.plan import Task
from .lookup import OnAppOptions, digest_in_service, require_app
from .records import AppRecords
from .release_list import read_declared
from .repository import images_in


def parts_of(task: Task[Options], slug: str, digest: str) -> frozenset[str]:
    """Return the digests of the images in an index; empty for an image, or if it cannot be read."""
    return known_parts_of(task, slug, digest) or frozenset()


def known_parts_of(task: Task[Options], slug: str, digest: str) -> frozenset[str] | None:
    """Return the same, but ``None`` if it cannot be read. Cached for the task."""
    known: dict[str, frozenset[str] | None] = task.memory.setdefault("images in an index", {})
    if digest not in known:
        known[digest] = images_in(task, slug, digest)
    return known[digest]


def same_image(task: Task[Options], slug: str, one: str | None, other: str | None) -> bool:
    """Tell whether two digests name the same image: they are equal, or one is an index with the other."""
    if one is None or other is None or one == other:
        return one == other
    return one in parts_of(task, slug, other) or other in parts_of(task, slug, one)


def is_other_image(task: Task[Options], slug: str, shown: str, *digests: str) -> bool:
    """Tell whether an image is certainly none of these.

    It may be one in an index that the registry does not show. Then it is another one only if the list of
    releases has it beside all of these, so that the list names the images as they were declared.
    """
    if any(same_image(task, slug, shown, digest) for digest in digests):
        return False
    if all(known_parts_of(task, slug, digest) is not None for digest in (shown, *digests)):
        return True
    listed = {release.digest for release in read_declared(task.client, slug).by_tag.values()}
    return {shown, *digests} <= listed


def as_declared(task: Task[Options], app: App, *wanted: str | None) -> App:
    """Return an application with the declared digest of the image that it runs.

    :param wanted: the digests in the task. The registry is used only if the platform shows a digest that is
        neither among them, nor in this controller's records, nor in the list of releases.
    """
    shown = digest_in_service(app)
    if shown is None or not app.id or shown in wanted:
        return app
    images = AppRecords.of(task, app.id).images() if isinstance(task.options, StateDirOptions) else []
    if shown in images or shown in listed_digests(task, app):
        return app
    for digest in dict.fromkeys([*wanted, *reversed(images[-2:])]):
        if digest and same_image(task, app.slug, shown, digest):
            return with_digest(app, digest)
    return app


def listed_digests(task: Task[Options], app: App) -> frozenset[str | None]:
    """Return the digests in the list of releases. Cached for the task."""
    known: dict[str, frozenset[str | None]] = task.memory.setdefault("listed digests", {})
    if app.id not in known:
        releases = read_declared(task.client, str(app.slug)).by_tag.values()
        known[app.id] = frozenset(release.digest for release in releases)
    return known[app.id]


def with_digest(app: App, digest: str) -> App:
    """Return a copy of an application with ``digest`` in its image reference."""
    name = (app.image_ref or "").rpartition("@")[0]
    changed = app.model_copy()
    changed.image_ref = f"{name}@{digest}"
    return changed


def current_app(task: Task[OnAppOptions], *wanted: str | None) -> App:
    """Read the task's application, with the declared digest of its image."""
    return as_declared(task, require_app(task), *wanted)
