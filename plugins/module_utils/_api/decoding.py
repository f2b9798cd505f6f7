# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""From decoded JSON to models, with errors that name the route, the field and what came."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from . import models as m
from .errors import UnexpectedAnswer
from .libraries import ValidationError
from .routes import Many, Route
from .text import clean

M = TypeVar("M", bound=m.Model)


def one(route: Route[Any], model: type[M], value: Any) -> M:
    """Read ``value`` as ``model``.

    :raises UnexpectedAnswer: when a field that is needed is missing, or one is of another type.
    """
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"{route}: expected an object, got {describe(value)}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise UnexpectedAnswer(f"{route}: {first_problem(error)}") from None


def items_of(
    route: Route[Many[M]], value: Any, keep: Callable[[Any], object] = lambda item: True
) -> tuple[list[M], str | None]:
    """Read a page: a bare array or an object with ``items``; return the next cursor and the items to keep."""
    cursor = None
    if isinstance(value, dict):
        cursor, value = value.get("nextCursor"), value.get("items")
    if not isinstance(value, list):
        raise UnexpectedAnswer(f"{route}: expected a list of items, got {describe(value)}")
    if cursor is not None and not isinstance(cursor, (str, int)):
        raise UnexpectedAnswer(f"{route}: expected nextCursor to be a string, got {describe(cursor)}")
    return [
        one(route, route.answer.model, item) for item in value if keep(item)
    ], None if cursor is None else str(cursor)


def first_problem(error: Any) -> str:
    """Put the first finding of pydantic in words. Values are not shown: they may be secrets."""
    problem = error.errors(include_url=False, include_context=False)[0]
    field = clean(".".join(str(part) for part in problem["loc"]))
    if problem["type"] == "missing":
        return f"the field {field!r} is missing from the answer"
    return f"the field {field!r} has an unexpected value: {describe(problem['input'])}; {problem['msg']}"


def describe(value: Any) -> str:
    """Say what kind of value came, without the value."""
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")
