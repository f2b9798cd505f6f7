# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What names applications, releases, images and nodes in the options of a task; the rules of environments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..._api.models import DIGEST, App
from ..shared.account import Account
from ..shared.identify import near_miss
from ..shared.options import Options, required
from ..shared.plan import Task
from ..shared.task_errors import Ambiguous, Invalid, NoSuchItem

SLUG = re.compile(r"[a-z0-9-]{3,40}")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
REFERENCE = re.compile(r"\$\{([a-z0-9][a-z0-9-]*)\.([A-Z][A-Z0-9_]*)\}")
"""Matches a reference: an alias, and a field in capitals. Only the platform looks at others in braces."""
MAX_VARIABLES = 100
RESERVED_VARIABLE = "PORT"
KINDS = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "a dictionary"}


@dataclass(frozen=True, kw_only=True)
class OnAppOptions(Options):
    slug: str = required(selects=True)


def check_slug(slug: str) -> None:
    if not SLUG.fullmatch(slug):
        raise Invalid(
            f"the slug {slug!r} has {len(slug)} characters; it must have 3 to 40, "
            "and of lowercase letters, digits and hyphens only"
        )


def check_tag(tag: str) -> None:
    if not TAG.fullmatch(tag):
        raise Invalid(
            f"the tag {tag!r} is invalid: it must have at most 128 letters, digits, underscores, dots and "
            "hyphens, and not begin with a dot or a hyphen"
        )


def check_digest(digest: str) -> None:
    if not DIGEST.fullmatch(digest):
        raise Invalid(
            f"{digest!r} is not a digest; it must be sha256: and 64 hexadecimal digits in lower case, "
            "as printed at the end of an image push"
        )


RULES: Mapping[str, Callable[[str], None]] = {"slug": check_slug, "tag": check_tag, "digest": check_digest}


def resolve_app(task: Task[OnAppOptions]) -> App:
    """Check the task's slug, tag and digest, and return its application, as ``Account.app_to_come`` does."""
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
    """Return the id that is ``wanted``, or whose name is. ``names`` are by id, ``what`` is for messages."""
    if wanted in names:
        return wanted
    fitting = [id for id, name in names.items() if name == wanted]
    if len(fitting) > 1:
        raise Ambiguous(f"{len(fitting)} {what}s are named {wanted!r}: {', '.join(fitting)}. Give the id")
    if not fitting:
        hint = near_miss(wanted, filter(None, names.values()), names)
        raise NoSuchItem(f"unknown {what} {wanted!r}{hint}")
    return fitting[0]


def merged(variables: Mapping[str, Any], secret: Mapping[str, Any]) -> dict[str, str]:
    """Merge plain and secret variables, and check all rules that need no call. Errors never quote a value.

    Only the user knows which text a value is that is none: whether ``yes`` or ``True`` is right.
    """
    both = sorted(variables.keys() & secret.keys())
    if both:
        raise Invalid(f"{', '.join(both)}: in variables and in secret_variables; give each variable once")
    empty = sorted(name for name, value in secret.items() if isinstance(value, str) and not value.strip())
    if empty:
        raise Invalid(
            f"{', '.join(empty)}: empty among the secret variables, as from a variable that is not set; give "
            "a value. One that is empty on purpose is no secret: write it with the plain variables"
        )
    environment = {**variables, **secret}
    if len(environment) > MAX_VARIABLES:
        raise Invalid(
            f"the environment has {len(environment)} variables; at most {MAX_VARIABLES} are allowed"
        )
    for name, value in environment.items():
        check_name(name)
        if not isinstance(value, str):
            kind = "empty" if value is None else KINDS.get(type(value), f"of type {type(value).__name__}")
            raise Invalid(
                f"the value of the variable {name} is {kind}; it must be a string: put it in quotes in the "
                "playbook"
            )
    return environment


def check_name(name: Any) -> None:
    if not isinstance(name, str) or not VARIABLE_NAME.fullmatch(name):
        raise Invalid(
            f"{name!r} is not a valid variable name: use only ASCII letters, digits and underscores, and do "
            "not begin with a digit"
        )
    if name == RESERVED_VARIABLE:
        raise Invalid(
            f"the variable {RESERVED_VARIABLE} is reserved: the platform sets it from the published port"
        )


def references(environment: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    for name, value in environment.items():
        for alias, field in REFERENCE.findall(value):
            yield name, alias, field


def aliases_used(environment: Mapping[str, str]) -> set[str]:
    return {alias for _variable, alias, _field in references(environment)}


def redirected(value: str, aliases: Mapping[str, str]) -> str:
    return REFERENCE.sub(lambda found: f"${{{aliases.get(found[1], found[1])}.{found[2]}}}", value)
