# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes images to an application's repository (Registry credentials; Applications, rules 3 and 4)."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from .._api.models import App
from .._api.text import megabytes
from .applications.lookup import OnAppOptions, resolve_app
from .applications.oci_layout import Image, Layout, Part, choose_image, open_layout, same_platform
from .applications.repository import each_part, open_repository
from .shared.options import FilePath, option, required
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import NoSuchItem


@dataclass(frozen=True, kw_only=True)
class AppImageOptions(OnAppOptions):
    """The options of module app_image."""

    path: FilePath = required(reads_file=True)
    image_name: str | None = option(None, selects=True)
    platform: str | None = option(None, selects=True)
    tag: str | None = option(None, selects=True)


class AppImageResource(Resource[AppImageOptions]):
    """An image on disk, and in the registry by its digest."""

    result_key = "image"

    def plan(self, task: Task[AppImageOptions]) -> Plan:
        """Plan a push if the registry lacks the digest or the tag."""
        options = task.options
        app = resolve_app(task)
        layout = open_layout(options.path)
        image = choose_image(layout, options.image_name, options.platform, app.platform)
        # The list shows the architecture of the running image, which may be wrong itself. So only option
        # platform makes another one an error.
        if app.platform and not options.platform and not same_platform(image.platform, app.platform):
            task.warn(
                f"the image is for {image.platform}, and the one that application {app.slug!r} runs is for "
                f"{app.platform}. On a node of that architecture the new one would start and die without a "
                "message. Set platform to the architecture of the node to be sure"
            )
        return Push(task, app, layout, image).plan()


APP_IMAGE = AppImageResource()


class Push:
    """The push of one image. Creating the application creates the repository."""

    def __init__(self, task: Task[AppImageOptions], app: App, layout: Layout, image: Image) -> None:
        self.task = task
        self.foreseen = not app.id
        self.layout = layout
        self.image = image
        self.tag: str | None = task.options.tag
        self.sent_bytes = 0
        self._counting = threading.Lock()
        self.repository = open_repository(task, task.options.slug, self._progress)

    def _progress(self, count: int) -> None:
        """Count what arrived, and say so."""
        with self._counting:
            self.sent_bytes += count
        sent, most = megabytes(self.sent_bytes), megabytes(self.image.size)
        self.task.progress(f"pushing {self.repository.name}: {sent} of at most {most}")

    def plan(self) -> Plan:
        """Verify the image on disk, and plan the upload of the missing parts."""
        digest = self.image.digest
        present = self.digest_of(digest) == digest
        tagged = self.digest_of(self.tag) if self.tag else digest
        before = {"digest": digest} if present else {}
        if self.tag and tagged:
            before |= {"tag": self.tag, "digest": tagged}
        after = {**({"tag": self.tag} if self.tag else {}), "digest": digest}
        if present and tagged == digest:
            return Plan(result=self.view(), before=after, after=after)
        for part in self.image.parts:  # not every registry checks the size of those that it has
            with suppress(NoSuchItem):  # only those that are sent have to be there
                self.layout.check_size(part)
        missing = [] if present else self.missing()
        each_part(self.task, self.verify, missing)
        steps = [Step(self.summary(missing, present), lambda: self.upload(missing))]
        return Plan(result=self.view(), steps=steps, reread=self.view, before=before, after=after)

    def digest_of(self, reference: str) -> str | None:
        """Return the digest of a tag or digest in the registry; ``None`` if there is none."""
        return None if self.foreseen else self.repository.digest_of(reference)

    def missing(self) -> list[Part]:
        """Return the parts that the registry lacks, without duplicates, the configuration last."""
        parts = {part.digest: part for part in reversed(self.image.parts)}
        if self.foreseen:
            return [*parts.values()]
        there = each_part(self.task, lambda part: self.repository.has_blob(part.digest), [*parts.values()])
        return [part for part, is_there in zip(parts.values(), there, strict=True) if not is_there]

    def verify(self, part: Part) -> None:
        """Check a part on disk against its digest."""
        self.task.progress(f"checking {part.digest}, {megabytes(part.size)}")
        self.layout.verify(part)

    def send(self, part: Part) -> None:
        """Upload a part that the registry lacks."""
        self.repository.send_blob(partial(self.layout.open_part, part), part.digest, part.size)

    def summary(self, missing: list[Part], present: bool) -> str:
        """Describe the upload in a sentence; ``present`` says that only the tag is to be set."""
        name = f"{self.repository.name}{f':{self.tag}' if self.tag else ''}"
        if present:
            return f"tag {self.image.digest} as {name}"
        size = megabytes(sum(part.size for part in missing))
        return f"push {self.image.digest} to {name}: {len(missing)} of {len(self.image.parts)} parts, {size}"

    def upload(self, missing: list[Part]) -> None:
        """Upload the missing parts, then the manifest, which completes the image."""
        each_part(self.task, self.send, missing)
        reference = self.tag or self.image.digest
        self.repository.put_manifest(self.image.manifest, self.image.media_type, reference)

    def view(self) -> dict[str, Any]:
        """Return the image as it is, or will be, in the registry."""
        return {
            "slug": self.task.options.slug,
            "repository": self.repository.name,
            "reference": f"{self.repository.name}@{self.image.digest}",
            "tag": self.tag,
            "digest": self.image.digest,
            "platform": self.image.platform,
            "size_bytes": self.image.size,
            "sent_bytes": self.sent_bytes,
        }
