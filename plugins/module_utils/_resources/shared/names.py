# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and other selectors: which are the same, which is probably a slip, and which hold nothing.

A variable that holds nothing must not select everything, and a name with a line break at its end must not be
taken for something that does not exist yet. Modules, the inventory, lookups and filters all check their
selectors here, before anything is sent.
"""

from __future__ import annotations

import difflib
import os
import re
import unicodedata
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from ..._api.text import composed
from .task_errors import Invalid

SIMILARITY = 0.8
"""How alike two words are, of 1 for the same, for one to be a slip of the other."""
SLIP_LETTERS = 5
"""How many letters a word has at least, for a slip in it to be told from another word."""
VERBATIM = frozenset({"path", "paths", "src", "dest"})
"""Selectors in which a space at the ends may be part of the value: file names."""
WHOLE_FILES = frozenset({"public_key"})
"""Selectors that take the content of a file, line break at the end included. They are never shown."""
INVISIBLE = frozenset("\u200b\u2060\ufeff")
"""Characters without a width that no editor shows."""
REMEDY = "give it a value, or leave it out (omit): nothing is guessed from an empty value"


def same_name(one: str | None, other: str | None) -> bool:
    """Tell whether two names are the same, however their accents are encoded. ``None`` is no name."""
    if one is None or other is None:
        return False
    return one == other or composed(one) == composed(other)


def fits(name: str, pattern: str) -> bool:
    """Tell whether a name fits a shell pattern, however their accents are encoded."""
    return fnmatchcase(composed(name), composed(pattern))


def look_alike(wanted: str, other: str) -> str:
    """Return the code points in which a name differs that is in other scripts; empty for others."""

    def script(char: str) -> str:
        return "LATIN" if char.isascii() else unicodedata.name(char, "").partition(" ")[0]

    one, two = composed(wanted), composed(other)
    pairs = [pair for pair in zip(one, two, strict=False) if pair[0] != pair[1]]
    if not pairs or len(one) != len(two) or any(script(own) == script(theirs) for own, theirs in pairs):
        return ""
    told = "; ".join(f"U+{ord(theirs):04X}, not U+{ord(own):04X}" for own, theirs in pairs)
    return f" ({told})"


def likely_meant(wanted: str, names: Iterable[str]) -> str | None:
    """Return the only name that differs from ``wanted`` by a slip in one long word, if there is one.

    Members of a series or a family of names, such as web-1 and web-eu, are no slips of each other.
    """
    words, near = words_in(wanted), set[str]()
    for name in names:
        others = words_in(name)
        differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
        if len(words) != len(others) or len(differing) != 1:
            continue
        ((one, other),) = differing
        alike = difflib.SequenceMatcher(None, one, other).ratio() >= SIMILARITY
        if alike and min(len(one), len(other)) >= SLIP_LETTERS and not (one + other).isdigit():
            near.add(name)
    return near.pop() if len(near) == 1 else None


def words_in(name: str) -> list[str]:
    """Return the words and numbers in a name, without capitals and accents."""
    return re.findall(r"\d+|[^\W\d_]+", unaccented(name))


def unaccented(name: str) -> str:
    """Return a name without accents and capitals."""
    letters = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()


def check_selector(name: str, value: Any) -> None:
    """Refuse what holds nothing, and blanks or control characters at the ends, which a platform may trim."""
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
    """Refuse a path that no program can open or nobody can see whole and, ``of_file``, that of a folder."""
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise Invalid(f"{name} is {value!r}, with a character that no path can hold; correct it") from None
    if any(unicodedata.category(char) == "Cc" for char in value):
        raise Invalid(f"{name} is {value!r}, a path with a control character; remove it")
    if of_file and value.endswith("/"):
        raise Invalid(f"{name} is {value!r}, which ends with a slash; give the path of a file")
