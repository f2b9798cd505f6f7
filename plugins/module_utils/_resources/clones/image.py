# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The image of a clone: that of its source, in the clone's own repository of the registry."""

from __future__ import annotations

from dataclasses import dataclass

from ..applications.image_copy import ImageCopy
from ..applications.repository import open_repository
from ..shared.options import Options, required
from ..shared.plan import Plan, Resource, Step, Task
from ..shared.task_errors import NoSuchItem


@dataclass(frozen=True, kw_only=True)
class ImageOptions(Options):
    """Which image, and from which repository to which."""

    source_slug: str = required()
    slug: str = required()
    digest: str = required()
    exists: bool = True
    """Whether the application is there, and so its repository."""


class ImageResource(Resource[ImageOptions]):
    """An image of one application, in the repository of another."""

    result_key = "image"

    def plan(self, task: Task[ImageOptions]) -> Plan:
        """Plan the copy if the clone's repository lacks the digest.

        :raises NoSuchItem: if the source's repository lacks it.
        """
        options = task.options
        source = open_repository(task, options.source_slug)
        if source.digest_of(options.digest) is None:
            raise NoSuchItem(
                f"{source.name} no longer has the image {options.digest} that {options.source_slug!r} runs, "
                "so it cannot be cloned. Push and deploy it again first"
            )
        target = open_repository(task, options.slug)
        copy = ImageCopy(task, source, target, options.digest)
        result = {"repository": target.name, "digest": options.digest, "mounted": 0, "sent": 0}
        after = {"digest": options.digest}
        if options.exists and copy.is_there():
            return Plan(result=result, before=after, after=after)

        def run() -> None:
            copy.run()
            result.update(mounted=copy.mounted, sent=copy.sent)

        summary = f"copy image {options.digest} from {source.name} to {target.name}"
        return Plan(result=result, steps=[Step(summary, run)], after=after)


IMAGE = ImageResource()
