# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Selectors: the values that decide what a task touches. One that is written must hold something.

A variable that holds nothing must not select everything, and a name with a line break at its end must not be
taken for something that does not exist yet. Modules, the inventory, lookups and filters all check their
selectors here, before anything is sent.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Mapping
from typing import Any

from .task_errors import Invalid

VERBATIM = frozenset({"path", "paths", "src", "dest"})
"""Selectors in which a space at the ends may be part of the value: file names."""
WHOLE_FILES = frozenset({"public_key"})
"""Selectors that take the content of a file, line break at the end included. They are never shown."""
PATTERNS = frozenset({"include", "exclude"})
"""Lists of patterns for the names of files. As a string with a comma, nobody can tell one from several."""
INVISIBLE = frozenset("\u200b\u2060\ufeff")
"""Characters without a width that no editor shows."""
REMEDY = "give it a value, or leave it out (omit): nothing is guessed from an empty value"


def check_selector(name: str, value: Any) -> None:
    """Check one selector as it was written: a text, a list of texts, or a number.

    :raises Invalid: when it holds nothing, or holds text with blanks or control characters at its ends.
    """
    if isinstance(value, (list, tuple)):
        if not value:
            raise Invalid(f"{name} is an empty list; {REMEDY}")
        for number, item in enumerate(value, 1):
            check_text(f"item {number} of {name}", item)
            check_ends(name, f"item {number} of {name}", item)
    else:
        check_text(name, value)
        check_ends(name, name, value)


def check_selectors(selectors: frozenset[str], given: Mapping[str, Any]) -> None:
    """Check all selectors among the arguments that were written. What was not written is not looked at.

    :raises Invalid: for the first that fails, by :func:`check_selector`.
    """
    for name in sorted(selectors & given.keys()):
        check_selector(name, given[name])


def check_one_pattern(name: str, value: str) -> None:
    """Refuse several patterns in one text: taken for one, they would match, and protect, nothing."""
    if name in PATTERNS and "," in value:
        parts = [part.strip() for part in value.split(",") if part.strip()]
        raise Invalid(
            f"{name} is {value!r}, a string with a comma, which may be one pattern or several; write a list: "
            f"{parts!r}, or {[value]!r} if the comma is part of a name"
        )


def check_text(label: str, value: Any) -> None:
    """Refuse null, an empty text, blanks, and what YAML makes of words such as ``yes``."""
    if value is None:
        raise Invalid(f"{label} is null; {REMEDY}")
    if isinstance(value, bool):
        raise Invalid(
            f"{label} is {str(value).lower()}, a truth value, as YAML reads yes, no, on and off; put the "
            "text in quotes"
        )
    if isinstance(value, str) and not value.strip():
        raise Invalid(f"{label} is {'blank' if value else 'empty'}; {REMEDY}")


def check_ends(name: str, label: str, value: Any) -> None:
    """Refuse a text with blanks or control characters at its ends: a platform may trim them, or may not."""
    if not isinstance(value, str) or name in WHOLE_FILES:
        return
    ends = value[0], value[-1]
    if any(is_control(char) or (char.isspace() and name not in VERBATIM) for char in ends):
        raise Invalid(
            f"{label} is {value!r}, with a blank or a control character at an end; remove it, for example "
            "with the filter trim"
        )


def check_path(name: str, value: str) -> None:
    """Refuse a path that no program can open, or nobody can see whole.

    :raises Invalid: for a control character, such as a zero byte, or half of a surrogate pair.
    """
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise Invalid(f"{name} is {value!r}, with a character that no path can hold; correct it") from None
    if any(unicodedata.category(char) == "Cc" for char in value):
        raise Invalid(f"{name} is {value!r}, a path with a control character; remove it")


def check_file_path(name: str, value: str) -> None:
    """Refuse a path of a file to write that ends like a folder.

    :raises Invalid: if it ends with a slash.
    """
    if value.endswith("/"):
        raise Invalid(f"{name} is {value!r}, which ends with a slash; give the path of a file")


def is_control(char: str) -> bool:
    """Tell whether a character is a line break, a tab or another that cannot be seen."""
    return unicodedata.category(char) == "Cc" or char in INVISIBLE
