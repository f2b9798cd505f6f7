# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names: which are the same, and which is probably a slip."""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable
from fnmatch import fnmatchcase

from ..._api.text import composed

SIMILARITY = 0.8
"""How alike two words are, of 1 for the same, for one to be a slip of the other."""
SLIP_LETTERS = 5
"""How many letters a word has at least, for a slip in it to be told from another word."""


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
    one, two = composed(wanted), composed(other)
    pairs = [pair for pair in zip(one, two, strict=False) if pair[0] != pair[1]]
    if not pairs or len(one) != len(two) or any(script(own) == script(theirs) for own, theirs in pairs):
        return ""
    told = "; ".join(f"U+{ord(theirs):04X}, not U+{ord(own):04X}" for own, theirs in pairs)
    return f" ({told})"


def script(char: str) -> str:
    """Return the script of a character, as LATIN or CYRILLIC; what ASCII has counts as one."""
    return "LATIN" if char.isascii() else unicodedata.name(char, "").partition(" ")[0]


def likely_meant(wanted: str, names: Iterable[str]) -> str | None:
    """Return the only name that differs from ``wanted`` by a slip in one word; ``None`` if there is none.

    Members of a series or a family of names, such as web-1 and web-eu, are no slips of each other.
    """
    near = {name for name in names if is_slip(words_in(wanted), words_in(name))}
    return near.pop() if len(near) == 1 else None


def is_slip(words: list[str], others: list[str]) -> bool:
    """Tell whether two names differ in one long word, and little."""
    differing = [pair for pair in zip(words, others, strict=False) if pair[0] != pair[1]]
    if len(words) != len(others) or len(differing) != 1:
        return False
    ((one, other),) = differing
    alike = difflib.SequenceMatcher(None, one, other).ratio() >= SIMILARITY
    return alike and min(len(one), len(other)) >= SLIP_LETTERS and not (one + other).isdigit()


def words_in(name: str) -> list[str]:
    """Return the words and numbers in a name, without capitals and accents."""
    return re.findall(r"\d+|[^\W\d_]+", unaccented(name))


def unaccented(name: str) -> str:
    """Return a name without accents and capitals."""
    letters = unicodedata.normalize("NFKD", name)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()
