# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pushes images to an application's repository (Registry credentials; Applications, rules 3 and 4).

They are read from OCI layouts, in folders or tar archives, as written by docker buildx, podman and skopeo.
All content is verified against its digest, so that a truncated or modified image is rejected before anything
is sent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tarfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

from .._api.errors import Refused
from .._api.models import App
from .._api.text import megabytes
from .applications.lookup import OnAppOptions, resolve_app
from .applications.repository import Part, each_part, is_first_visit, open_repository, platform_of
from .shared.identify import near_miss
from .shared.options import FilePath, option, required
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import Invalid, NoSuchItem

INDEXES = (
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)
MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+/-]{0,255}")
MAX_JSON = 4 * 1024 * 1024
MAX_MEMBERS = 1_000_000
"""How many files an archive may hold."""
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclass(frozen=True, kw_only=True)
class AppImageOptions(OnAppOptions):
    path: FilePath = required(reads_file=True)
    image_name: str | None = option(None, selects=True)
    platform: str | None = option(None, selects=True)
    tag: str | None = option(None, selects=True)


class AppImageResource(Resource[AppImageOptions]):
    """An image on disk, and in the registry by its digest."""

    result_key = "image"

    def plan(self, task: Task[AppImageOptions]) -> Plan:
        options = task.options
        app = resolve_app(task)
        layout = open_layout(options.path)
        image = choose_image(layout, options.image_name, options.platform, app.platform)
        # The list shows the architecture of the running image, which may be wrong itself. So only option
        # platform makes another one an error.
        if app.platform and not options.platform and not same_platform(image.platform, app.platform):
            task.warn(
                f"the image is for {image.platform}, and application {app.slug!r} runs {app.platform}. On a "
                "node of that architecture it would die without a message. Set platform to that of the node"
            )
        return Push(task, app, layout, image).plan()


APP_IMAGE = AppImageResource()


@dataclass(frozen=True)
class Image:
    """An image for one platform. ``manifest`` is byte for byte as in the layout."""

    digest: str
    media_type: str
    manifest: bytes
    platform: str
    parts: Sequence[Part]

    @property
    def size(self) -> int:
        return sum(part.size for part in self.parts)


class Layout:
    """An OCI layout. Subclasses open its files."""

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        """Open a file by its path in the layout; raises NoSuchItem if it does not exist."""
        raise NotImplementedError

    def damaged(self, reason: str) -> Invalid:
        return Invalid(f"{self.path!r} is cut short or damaged: {reason}")

    def json(self, name: str, part: Part | None = None) -> tuple[bytes, dict[str, Any]]:
        """Return a JSON file as bytes and parsed, verified against the digest of ``part`` if one is given."""
        with self.open(name) as file:
            content = file.read(MAX_JSON + 1)
        if len(content) > MAX_JSON:
            raise Invalid(
                f"{self.path!r} cannot be pushed: {name} has more than {MAX_JSON} bytes, the limit for a "
                "manifest or a configuration"
            )
        if part:
            algorithm, _, digits = part.digest.partition(":")
            if hashlib.new(algorithm, content).hexdigest() != digits:
                raise self.damaged(f"{name} does not match its digest")
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise self.damaged(f"{name} is not a JSON object")
        return content, value

    @contextmanager
    def open_part(self, part: Part) -> Iterator[IO[bytes]]:
        try:
            with self.open(part.path) as file:
                yield file
        except (tarfile.TarError, OSError) as error:
            raise self.damaged(str(error)) from None

    def check_size(self, part: Part) -> None:
        with self.open_part(part) as file:
            size = file.seek(0, os.SEEK_END)
        if size != part.size:
            raise self.damaged(f"{part.digest} should have {part.size} bytes, but has {size}")

    def verify(self, part: Part) -> None:
        algorithm, _, digits = part.digest.partition(":")
        with self.open_part(part) as file:
            # Files of folders and archives have readinto; their common type does not say so.
            found = hashlib.file_digest(file, algorithm).hexdigest()  # type: ignore[arg-type]
        if found != digits:
            raise self.damaged(f"the content of {part.digest} does not match this digest")


class Folder(Layout):
    def open(self, name: str) -> AbstractContextManager[IO[bytes]]:
        path = os.path.join(self.path, name)
        if os.path.exists(path) and not os.path.isfile(path):  # a pipe would be waited for
            raise self.damaged(f"{name} is not a regular file")
        try:
            return open(path, "rb")
        except OSError as error:
            raise NoSuchItem(f"{self.path!r} lacks {name}: {error.strerror}") from None


class Archive(Layout):
    """A layout in a tar archive, which is opened for each file: several threads may read from it.

    A packed one is not read: a few of its bytes may unpack to gigabytes.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._members: dict[str, tarfile.TarInfo] = {}
        try:
            with tarfile.open(path, "r:") as archive:
                for member in archive:
                    if member.issparse():
                        raise tarfile.ReadError("it holds a sparse file, and images have none")
                    if len(self._members) == MAX_MEMBERS:
                        raise tarfile.ReadError(f"it has more than {MAX_MEMBERS} files")
                    self._members[os.path.normpath(member.name)] = member
        except Exception as error:  # each kind of damage has its own
            raise Invalid(
                f"{path!r} is not an OCI archive, a tar file that is not packed, or it is cut short: {error}"
            ) from None

    @contextmanager
    def open(self, name: str) -> Iterator[IO[bytes]]:
        with tarfile.open(self.path, "r:") as archive:
            try:
                member = self._members.get(name)
                file = archive.extractfile(member) if member else None
            except (KeyError, RecursionError):  # a link to nothing, or to itself
                file = None
            if file is None:
                doubt = "is it cut short, or no OCI archive?"
                if "manifest.json" in self._members and "index.json" not in self._members:
                    doubt = (
                        "it is in Docker's own form, which this converts: skopeo copy "
                        f"docker-archive:{self.path} oci-archive:NEW.tar"
                    )
                raise NoSuchItem(f"the archive {self.path!r} lacks {name}; {doubt}")
            yield file


def open_layout(path: str) -> Folder | Archive:
    full = os.path.expanduser(path)
    if not os.path.exists(full):
        raise NoSuchItem(f"there is no file or folder {path!r}")
    if os.path.isdir(full):
        return Folder(full)
    if not os.path.isfile(full):
        raise Invalid(f"path is {path!r}, which is neither a regular file nor a folder")
    return Archive(full)


def choose_image(layout: Layout, name: str | None, wanted: str | None, running: str | None = None) -> Image:
    """Return the image of a layout with this name, for the platform ``wanted``, as ``os/architecture``.

    Without these it is the only one, or of several the one for the ``running`` platform.
    """
    try:
        _content, index = layout.json("index.json")
    except NoSuchItem as error:
        raise Invalid(
            f"{layout.path!r} is not an OCI layout ({error.message}). docker buildx build --output type=oci, "
            "podman save --format oci-archive and skopeo copy write one"
        ) from None
    named = Part.listed(index, "manifests")
    if name is not None:
        known = [part.name for part in named if part.name]
        named = [part for part in named if part.name == name]
        if not named:
            raise NoSuchItem(f"{layout.path!r} holds no image named {name!r}{near_miss(name, known)}")
    visited: set[str] = set()
    images = {image.digest: image for part in named for image in images_of(layout, part, visited)}
    if wanted is None and running and any(same_platform(each.platform, running) for each in images.values()):
        wanted = running
    return only_image(layout, [*images.values()], wanted, sorted({part.name for part in named if part.name}))


def only_image(layout: Layout, images: Sequence[Image], wanted: str | None, names: Sequence[str]) -> Image:
    """Return the only image for the platform ``wanted``, or the only image at all if that is ``None``."""
    platforms = sorted({image.platform for image in images})
    fit = [image for image in images if wanted is None or same_platform(image.platform, wanted)]
    if not images:
        raise Invalid(f"{layout.path!r} holds no image")
    if len(fit) == 1:
        return fit[0]
    if not fit:
        raise Invalid(
            f"the image in {layout.path!r} is for {', '.join(platforms)}, not for {wanted} as platform says: "
            f"on a node of that architecture it would start and die without a message. Build it for {wanted}",
            platforms=platforms,
        )
    if wanted is None:
        raise Invalid(
            f"{layout.path!r} holds images for {', '.join(platforms)}, and what the application runs, if "
            "anything, does not tell which one is right; set platform to that of its node"
        )
    cure = f"name one by image_name: {', '.join(names)}" if names else "write one of them alone"
    raise Invalid(f"{layout.path!r} holds {len(fit)} images for {wanted}; {cure}")


def images_of(layout: Layout, part: Part, visited: set[str], depth: int = 0) -> Iterator[Image]:
    """Yield the images that a part of an index refers to, without attestations, and each once."""
    if not is_first_visit(visited, part.digest, depth):
        return
    content, manifest = layout.json(part.path, part)
    media_type = manifest.get("mediaType") or part.media_type
    if not isinstance(media_type, str) or not MEDIA_TYPE.fullmatch(media_type):
        raise layout.damaged(f"{part.digest} has a media type that is none")
    if media_type in INDEXES:
        for inner in Part.listed(manifest, "manifests"):
            if inner.platform != "unknown/unknown":
                yield from images_of(layout, inner, visited, depth + 1)
        return
    parts = [Part.read(manifest.get("config")), *Part.listed(manifest, "layers")]
    _config, config = layout.json(parts[0].path, parts[0])
    yield Image(part.digest, media_type, content, platform_of(config), parts)


def same_platform(one: str, other: str) -> bool:
    """Tell whether two platforms are the same, ignoring variants and a missing operating system."""
    left, right = (text.lower().split("/") for text in (one, other))
    if len(left) > 1 and len(right) > 1 and left[0] != right[0]:
        return False
    machines = [parts[1] if len(parts) > 1 else parts[0] for parts in (left, right)]
    return ARCHITECTURES.get(machines[0], machines[0]) == ARCHITECTURES.get(machines[1], machines[1])


class Push:
    """The push of one image. Creating the application creates the repository."""

    def __init__(self, task: Task[AppImageOptions], app: App, layout: Layout, image: Image) -> None:
        self.task, self.layout, self.image = task, layout, image
        self.foreseen = not app.id
        self.tag = task.options.tag
        self.sent_bytes = 0
        self._counting = threading.Lock()
        self.repository = open_repository(task, task.options.slug, self._progress)

    def _progress(self, count: int) -> None:
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
        for part in () if present else self.image.parts:
            with suppress(NoSuchItem):  # what the registry has need not be on disk
                self.layout.check_size(part)  # nor does each registry compare its size
        missing = [] if present else self.missing()
        each_part(self.task, self.verify, missing)
        name = f"{self.repository.name}{f':{self.tag}' if self.tag else ''}"
        count, size = len(self.image.parts), megabytes(sum(part.size for part in missing))
        summary = f"push {digest} to {name}: {len(missing)} of {count} parts, {size}"
        if present:
            summary = f"tag {digest} as {name}"
        steps = [Step(summary, partial(self.upload, missing))]
        return Plan(result=self.view(), steps=steps, reread=self.view, before=before, after=after)

    def digest_of(self, reference: str) -> str | None:
        if not self.foreseen:
            return self.repository.digest_of(reference)
        with suppress(Refused):  # it has none; but none is to be made if the registry is out of reach
            self.repository.digest_of(reference)
        return None

    def missing(self) -> list[Part]:
        """Return the parts that the registry lacks, each once, the configuration last."""
        parts = {part.digest: part for part in reversed(self.image.parts)}
        if self.foreseen:
            return [*parts.values()]
        there = each_part(self.task, lambda part: self.repository.has_blob(part.digest), [*parts.values()])
        return [part for part, is_there in zip(parts.values(), there, strict=True) if not is_there]

    def verify(self, part: Part) -> None:
        self.task.progress(f"checking {part.digest}, {megabytes(part.size)}")
        self.layout.verify(part)

    def upload(self, missing: list[Part]) -> None:

        def send(part: Part) -> None:
            self.repository.send_blob(partial(self.layout.open_part, part), part.digest, part.size)

        each_part(self.task, send, missing)
        reference = self.tag or self.image.digest
        self.repository.put_manifest(self.image.manifest, self.image.media_type, reference)

    def view(self) -> dict[str, Any]:
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
