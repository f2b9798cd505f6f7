# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What names an application, a release and an image in the options of a task, and the node for a new one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ..._api.models import DIGEST, App
from ..shared.account import Account
from ..shared.identify import near_miss
from ..shared.options import Options, required
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem

SLUG = re.compile(r"[a-z0-9-]{3,40}")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")


@dataclass(frozen=True, kw_only=True)
class OnAppOptions(Options):
    """The option that names an application."""

    slug: str = required(selects=True)


def check_slug(slug: str) -> None:
    """Check a slug (Applications, rule 1)."""
    if not SLUG.fullmatch(slug):
        raise Invalid(
            f"the slug {slug!r} has {len(slug)} characters; it must have 3 to 40, "
            "and of lowercase letters, digits and hyphens only"
        )


def check_tag(tag: str) -> None:
    """Check a tag (OCI distribution specification)."""
    if not TAG.fullmatch(tag):
        raise Invalid(
            f"the tag {tag!r} is invalid: it must have at most 128 letters, digits, underscores, dots and "
            "hyphens, and not begin with a dot or a hyphen"
        )


def check_digest(digest: str) -> None:
    """Check the digest of an image."""
    if not DIGEST.fullmatch(digest):
        raise Invalid(
            f"{digest!r} is not a digest; it must be sha256: and 64 hexadecimal digits in lower case, "
            "as printed at the end of an image push"
        )


RULES: Mapping[str, Callable[[str], None]] = {"slug": check_slug, "tag": check_tag, "digest": check_digest}


def resolve_app(task: Task[OnAppOptions]) -> App:
    """Check the task's slug, tag and digest, and return its application, as ``Account.app_to_come`` does.

    :raises Invalid: if the slug, tag or digest breaks its rule.
    :raises NoSuchItem: if the account has no application with this slug.
    """
    for name, check in RULES.items():
        value = getattr(task.options, name, None)
        if value is not None:
            check(value)
    return task.account.app_to_come(task.options.slug)


def select_host(account: Account, wanted: str | None) -> str | None:
    """Return the id of the node with this id or label; ``None`` where the platform is to choose."""
    if not wanted:
        return None
    return select_id(wanted, {node.id: node.label for node in account.app_nodes()}, "host")


def select_id(wanted: str, names: Mapping[str, str | None], what: str) -> str:
    """Return the id that is ``wanted``, or whose name is. ``names`` are by id, ``what`` is for messages.

    :raises NoSuchItem: if there is no such id and no such name.
    :raises Ambiguous: if several have the name.
    """
    if wanted in names:
        return wanted
    fitting = [id for id, name in names.items() if name == wanted]
    if len(fitting) > 1:
        raise Ambiguous(f"{len(fitting)} {what}s are named {wanted!r}: {', '.join(fitting)}. Give the id")
    if not fitting:
        hint = near_miss(wanted, filter(None, names.values()), names)
        raise NoSuchItem(f"unknown {what} {wanted!r}{hint}")
    return fitting[0]
