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
from typing import Any

from .task_errors import Invalid

VERBATIM = frozenset({"path", "paths", "src", "dest"})
"""Selectors in which a space at the ends may be part of the value: file names."""
WHOLE_FILES = frozenset({"public_key"})
"""Selectors that take the content of a file, line break at the end included. They are never shown."""
INVISIBLE = frozenset("\u200b\u2060\ufeff")
"""Characters without a width that no editor shows."""
REMEDY = "give it a value, or leave it out (omit): nothing is guessed from an empty value"


def check_selector(name: str, value: Any) -> None:
    """Check one selector as it was written: a text, a list of texts, or a number.

    :raises Invalid: when it holds nothing, or text with blanks or control characters at its ends, which a
        platform may trim, or may not.
    """
    items = [(name, value)]
    if isinstance(value, (list, tuple)):
        items = [(f"item {number} of {name}", item) for number, item in enumerate(value, 1)]
        if not items:
            raise Invalid(f"{name} is an empty list; {REMEDY}")
    for label, item in items:
        check_text(label, item)
        if not isinstance(item, str) or name in WHOLE_FILES:
            continue
        for char in (item[0], item[-1]):
            is_blank = char.isspace() and name not in VERBATIM
            if is_blank or char in INVISIBLE or unicodedata.category(char) == "Cc":
                raise Invalid(
                    f"{label} is {item!r}, with a blank or a control character at an end; remove it, for "
                    "example with the filter trim"
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


def check_path(name: str, value: str, *, of_file: bool = False) -> None:
    """Refuse a path that no program can open, or nobody can see whole.

    :raises Invalid: for a control character, such as a zero byte, for half of a surrogate pair, or for a path
        ``of_file`` that ends like that of a folder.
    """
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise Invalid(f"{name} is {value!r}, with a character that no path can hold; correct it") from None
    if any(unicodedata.category(char) == "Cc" for char in value):
        raise Invalid(f"{name} is {value!r}, a path with a control character; remove it")
    if of_file and value.endswith("/"):
        raise Invalid(f"{name} is {value!r}, which ends with a slash; give the path of a file")
