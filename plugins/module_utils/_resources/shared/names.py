# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that a platform may write its own way. How it normalizes them is not shown."""

from __future__ import annotations

import html
import re
import unicodedata


def same_name(one: str, other: str) -> bool:
    """Tell whether a platform that normalizes names may take two of them for the same."""
    return one == other or normalized(one) == normalized(other)


def normalized(name: str) -> str:
    """Return a name without what a platform may change in it: capitals, blanks and punctuation."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "-", text).strip("-") or text


def normalize_name(name: str) -> str:
    """Return a name without leading, trailing and repeated spaces."""
    return " ".join(name.split())


def is_variant_of(shown: str, name: str) -> bool:
    """Tell whether a name is the platform's normalized form of another."""
    return shown in (name, name.strip(), normalize_name(name))


def may_be_one(one: str, other: str) -> bool:
    """Tell whether two names may be one in a platform that drops accents and punctuation as well.

    Wider than :func:`same_name`: two things may well have such names. Good enough to refuse a second order.
    """
    return same_name(one, other) or "" != bare(one) == bare(other)


def may_be_part(one: str, other: str) -> bool:
    """Tell whether one name is part of the other, as on a platform that cuts names or adds to them."""
    short, long = sorted((bare(one), bare(other)), key=len)
    return short != "" and short in long


def unescaped(name: str) -> str:
    """Return a name without HTML escapes, also of those that it had before it was escaped."""
    while (text := html.unescape(name)) != name:
        name = text
    return name


def bare(name: str) -> str:
    """Return a name without HTML escapes, accents, capitals, blanks, and punctuation outside of numbers."""
    letters = unicodedata.normalize("NFKD", unescaped(name))
    text = "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()
    return re.sub(r"(?<!\d)[\W_]+|[\W_]+(?!\d)", "", text)
