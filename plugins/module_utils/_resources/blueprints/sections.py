# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sections: the parts that the form of a blueprint is made of, and the types of their values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, get_args, get_origin

from ..._api.libraries import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema
from .rendering import Path


def refuse_truth_values(value: Any) -> Any:
    """Refuse what YAML makes of words such as ``yes``: pydantic takes a truth value for a number."""
    if isinstance(value, bool):
        raise ValueError(f"is {str(value).lower()}, a truth value; it must be a number")
    return value


def as_amount(value: Any) -> Any:
    """Return an amount as text, so that no digits are lost."""
    return str(refuse_truth_values(value)) if isinstance(value, (bool, int, float)) else value


WholeNumber = Annotated[int, BeforeValidator(refuse_truth_values)]
Amount = Annotated[str, BeforeValidator(as_amount), WithJsonSchema({"type": ["string", "number"]})]


class Section(BaseModel):
    """A part of a blueprint. Other keys than its own are refused."""

    model_config = ConfigDict(extra="forbid", defer_build=True)


def keys_of(section: type[Section], path: Path) -> list[str]:
    """Return the keys that there are at a path below a section; none where there is no section."""
    found: Any = section
    for key in path:
        found = below(found, key)
    return next((list(fields_of(each)) for each in sections_in(found)), [])


def below(hint: Any, key: Any) -> Any:
    """Return the type of what is under a key, or of an item of a list."""
    for section in sections_in(hint):
        if key in fields_of(section):
            return fields_of(section)[key]
    inner = [get_args(each)[-1] for each in members_of(hint) if get_origin(each) in (dict, list)]
    return inner[0] if inner else None


def fields_of(section: type[Section]) -> dict[str, Any]:
    """Return the types of a section's keys, as users write these."""
    return {each.alias or name: each.annotation for name, each in section.model_fields.items()}


def sections_in(hint: Any) -> list[type[Section]]:
    """Return the sections among the members of a type."""
    return [each for each in members_of(hint) if isinstance(each, type) and issubclass(each, Section)]


def members_of(hint: Any) -> Iterator[Any]:
    """Yield the members of a union; a type that is none by itself."""
    if get_origin(hint) in (dict, list) or not get_args(hint):
        yield hint
    else:
        for each in get_args(hint):
            yield from members_of(each)
