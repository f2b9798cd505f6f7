# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Validates decoded JSON into models. Errors name the route, the field and the type received."""

from __future__ import annotations

from typing import Any, TypeVar

from . import models as m
from .errors import UnexpectedAnswer
from .libraries import ValidationError
from .routes import Many, Route
from .text import clean

M = TypeVar("M", bound=m.Model)


def one(route: Route[Any], model: type[M], value: Any) -> M:
    """Validate ``value`` as a ``model``.

    :raises UnexpectedAnswer: if a required field is missing or a field has another type.
    """
    if not isinstance(value, dict):
        raise UnexpectedAnswer(f"{route}: expected an object, got {describe_type(value)}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise UnexpectedAnswer(f"{route}: {first_problem(error)}") from None


def items_of(route: Route[Many[M]], value: Any) -> tuple[list[M], str | None]:
    """Return a page's items, and the next cursor or ``None``.

    A page is a bare array, or an object with ``items`` and an optional ``nextCursor``.

    :raises UnexpectedAnswer: if it is neither, or an item is invalid.
    """
    cursor = None
    if isinstance(value, dict):
        cursor, value = value.get("nextCursor"), value.get("items")
    if not isinstance(value, list):
        raise UnexpectedAnswer(f"{route}: expected a list of items, got {describe_type(value)}")
    if cursor is not None and not isinstance(cursor, (str, int)):
        raise UnexpectedAnswer(f"{route}: expected nextCursor to be a string, got {describe_type(cursor)}")
    found = [one(route, route.answer.model, item) for item in value]
    return found, None if cursor is None else str(cursor)


def first_problem(error: Any) -> str:
    """Describe the first error of pydantic. Values are left out: they may be secrets."""
    problem = error.errors(include_url=False, include_context=False)[0]
    field = clean(".".join(str(part) for part in problem["loc"]))
    if problem["type"] == "missing":
        return f"the field {field!r} is missing from the response"
    return f"the field {field!r} has an unexpected value: {describe_type(problem['input'])}; {problem['msg']}"


def describe_type(value: Any) -> str:
    """Name the JSON type of a value, with an article."""
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")
