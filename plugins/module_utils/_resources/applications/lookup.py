# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the nouns of applications share: finding one, its digest, and lists whose shape is not shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ..._api.client import Client
from ..._api.errors import Refused
from ..._api.models import App
from ..._api.values import ServiceStatus
from ..services.lookup import expect_created, near_miss
from ..shared.log_order import oldest_first
from ..shared.options import Options, option
from ..shared.pages import entries_in, is_cut
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem
from ..shared.waiting import appearing

T = TypeVar("T")


SLUG = re.compile(r"[a-z0-9-]{3,40}")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")

IDS = {"host": ("hostId", "host.id", "id"), "project": ("projectId", "project.id", "id")}
"""Where an entry may have what a body calls ``hostId`` or ``projectId``, the likeliest place first."""
NAMES = {
    "host": ("hostLabel", "host.label", "label", "name"),
    "project": ("projectName", "project.name", "name", "label"),
}


@dataclass(frozen=True, kw_only=True)
class OnAppOptions(Options):
    """The option that names an application."""

    slug: str = option(selects=True)


# --- Applications -----------------------------------------------------------------------------------


def check_slug(slug: str) -> None:
    """Hold the rule for slugs (Applications, rule 1)."""
    if not SLUG.fullmatch(slug):
        raise Invalid(
            f"the slug {slug!r} has {len(slug)} characters; it must have 3 to 40, "
            "and of lowercase letters, digits and hyphens only"
        )


def check_tag(tag: str) -> None:
    """Hold the registry protocol's rule for tags."""
    if not TAG.fullmatch(tag):
        raise Invalid(
            f"the tag {tag!r} cannot be one: at most 128 letters, digits, underscores, dots and hyphens, "
            "the first of them neither a dot nor a hyphen"
        )


def check_digest(digest: str) -> None:
    """Refuse what is no digest of an image."""
    if not DIGEST.fullmatch(digest):
        raise Invalid(
            f"{digest!r} is not a digest; it must be sha256: and 64 hexadecimal digits in lower case, "
            "as printed at the end of an image push"
        )


RULES: Mapping[str, Callable[[str], None]] = {"slug": check_slug, "tag": check_tag, "digest": check_digest}


def the_app(task: Task[OnAppOptions]) -> App:
    """Return the application that the task works on, once the rules are held for all that the task names.

    One that is missing is foreseen in check mode, see :func:`placeholder_app`.

    :raises NoSuchItem: when the account has none of this slug.
    """
    for name, check in RULES.items():
        value = getattr(task.options, name, None)
        if value is not None:
            check(value)
    try:
        return need_app(task)
    except NoSuchItem as error:
        expect_created(task, error, "creates")
        return placeholder_app(task.options.slug)


def placeholder_app(slug: str) -> App:
    """Return an application that is still to be created, as far as it is known: without an id."""
    return App.model_construct(id=None, name=slug, slug=slug, status=ServiceStatus.ACTIVE)


def find_app(client: Client, slug: str) -> App | None:
    """Return the account's application of this slug, one that is being deleted excepted."""
    return next(
        (
            app
            for app in client.apps()
            if app.slug == slug and app.status not in ServiceStatus.DELETING_OR_DELETED
        ),
        None,
    )


def need_app(task: Task[OnAppOptions]) -> App:
    """Return the application that the task names.

    :raises NoSuchItem: when the account has none of this slug.
    """
    slug = task.options.slug
    apps = [app for app in task.client.apps() if app.status not in ServiceStatus.DELETING_OR_DELETED]
    for app in apps:
        if app.slug == slug:
            return app
    raise NoSuchItem(
        f"this account has no application {slug!r} (hosted.services.app creates one)"
        f"{near_miss(slug, (app.slug for app in apps))}"
    )


LATE_SECONDS = 3.0
"""How long the page of a project may leave out an application that was just created."""


def around(
    client: Client, app: App, read: Callable[[str], T | None], ids: Callable[[T], Iterable[str | None]]
) -> T | None:
    """Return what ``read`` gives of the application's project, told by the ids of the services in it.

    ``None`` where the token does not open projects. The routes of applications do not say in which one an
    application is, so each is asked.
    """

    def look() -> T | None:
        for project in client.projects():
            found = read(project.id)  # whatever its count says, which may leave services out
            if found is not None and app.id in ids(found):
                return found
        return None

    try:
        return appearing(look, LATE_SECONDS)
    except Refused:
        return None


def digest_in_service(app: App) -> str | None:
    """Return the digest of the image that an application runs; ``None`` before its first deploy."""
    digest = (app.image_ref or "").rpartition("@")[2]
    return digest if DIGEST.fullmatch(digest) else None


def never_deployed(app: App) -> bool:
    """Tell whether an application has had no deploy yet, as far as the list shows."""
    return digest_in_service(app) is None


def app_view(app: App) -> dict[str, Any]:
    """Return an application as results show it: with its digest, and nothing for what is not there yet."""
    view = app.as_dict()
    for name in ("image_ref", "platform", "released_at", "scan_status"):
        view[name] = view[name] or None
    return {**view, "digest": digest_in_service(app)}


# --- Lists and texts whose shape is not shown ---------------------------------------------------------


def entries(answer: Any) -> list[dict[str, Any]] | None:
    """Return the entries of a list, bare or the one list in an object; ``None`` for anything else.

    A list of which more pages follow counts as not understood: what it lacks may be on the next one.
    """
    found = entries_in(answer)
    return None if found is None or is_cut(answer, len(found)) else found


def texts_at(entry: dict[str, Any], paths: Sequence[str]) -> list[str]:
    """Return the texts of an entry that are at the paths, such as ``host.id``."""
    found = []
    for path in paths:
        value: Any = entry
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if isinstance(value, (str, int)) and value != "":
            found.append(str(value))
    return found


def text_at(entry: dict[str, Any], paths: Sequence[str]) -> str | None:
    """Return the first text of an entry that is at one of the paths."""
    return next(iter(texts_at(entry, paths)), None)


def choose(wanted: str | None, answer: Any, what: str) -> str | None:
    """Return the id of the entry of this id or name. Where the list is not understood, the platform decides.

    An entry may have an id of its own beside that of the host or project: either one selects it, and the
    latter is what is sent.

    :raises NoSuchItem: when the list is understood and holds nothing of the kind.
    :raises Ambiguous: when several entries have the name.
    """
    found = entries(answer)
    ids = [texts_at(entry, IDS[what]) for entry in found or ()]
    if wanted is None or not found or not all(ids):
        return wanted
    firsts = [own[0] for own in ids]
    if wanted in firsts:
        return wanted
    names = [texts_at(entry, NAMES[what]) for entry in found]
    for known in (ids, names):
        fitting = [first for first, texts in zip(firsts, known, strict=True) if wanted in texts]
        if len(fitting) > 1:
            raise Ambiguous(f"{len(fitting)} {what}s are named {wanted!r}: {', '.join(fitting)}. Give the id")
        if fitting:
            return fitting[0]
    hint = near_miss(wanted, (name for texts in names for name in texts[:1]), firsts)
    raise NoSuchItem(f"unknown {what} {wanted!r}{hint}")


def log_lines(answer: Any, most: int) -> list[str]:
    """Return the last lines of an application's log, whatever it came as."""
    if isinstance(answer, dict):
        answer = next((value for value in answer.values() if isinstance(value, (list, str))), [])
    lines = answer.splitlines() if isinstance(answer, str) else answer if isinstance(answer, list) else []
    texts = [
        " ".join(str(part) for part in line.values()) if isinstance(line, dict) else str(line)
        for line in lines
    ]
    return oldest_first(texts)[-most:]
