# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes HTML and SVG as trees, so that text stays text.

A tree of the standard library escapes all that it writes, keeps the order of attributes, and needs no
library: a template would need autoescape, which Ansible's templates do not have. Charts are a few paths,
for which a library that draws SVG would be one more requirement of every user.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any, TypeAlias
from xml.etree import ElementTree

from ansible_collections.hosted.services.plugins.module_utils._api.text import counted, printable
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import format_amount

Element = ElementTree.Element
Content: TypeAlias = "Element | str | Iterable[Content] | None"
"""What may be in an element: text, elements, nothing, and all of these in lists."""
MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
UNKNOWN = "unknown"
DASH = "\u2013"
"""Stands where there is nothing to say."""


def element(tag: str, *content: Content, **attributes: Any) -> Element:
    """Return an element. A trailing underscore in an attribute is dropped, others become hyphens.

    Attributes that are ``None`` or false are left out, and those that are true have no value.
    """
    made = ElementTree.Element(tag)
    for name, value in attributes.items():
        if value is not None and value is not False:
            key = name.rstrip("_").replace("_", "-")
            made.set(key, "" if value is True else as_text(str(value)))
    append(made, content)
    return made


def append(parent: Element, content: Content) -> None:
    """Add content behind what an element has."""
    if isinstance(content, ElementTree.Element):
        parent.append(content)
    elif isinstance(content, str) and len(parent):
        parent[-1].tail = (parent[-1].tail or "") + as_text(content)
    elif isinstance(content, str):
        parent.text = (parent.text or "") + as_text(content)
    else:
        for each in content or ():
            append(parent, each)


def as_text(text: str) -> str:
    """Return text in which nothing steers a browser: line breaks become blanks, controls are escaped."""
    if text.isprintable():
        return text
    return printable("".join(" " if char in "\n\r\t" else char for char in text))


def name_of(text: Any) -> Element:
    """Return a name that somebody chose: in whatever direction it is written, it turns nothing around."""
    return element("bdi", str(text))


def listed(names: Sequence[str | None], most: int | None = None) -> list[Content]:
    """Return names as a list in a sentence, the first few of many."""
    shown: list[Content] = []
    for number, name in enumerate(names[:most]):
        shown += [", " if number else None, name_of(name)]
    more = 0 if most is None else len(names) - most
    return [*shown, f" and {more} more" if more > 0 else None]


def write(root: Element) -> str:
    """Return a tree as the text of an HTML file."""
    return f"<!doctype html>\n{ElementTree.tostring(root, encoding='unicode', method='html')}\n"


def shortened(text: str, width: int) -> str:
    """Return text that takes at most so many columns, where letters of East Asia and emoji take two."""
    shown = as_text(text)
    if columns(shown) <= width:
        return shown
    kept, taken = "", 1
    for char in shown:
        taken += columns(char)
        if taken > width:
            break
        kept += char
    return kept.rstrip("\u200d ") + "…"


def columns(text: str) -> int:
    """Return how many columns text takes."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


# --- Amounts and times ------------------------------------------------------------------------------


def money(amount: str | None, currency: str | None) -> str:
    """Format an amount in currency units, not rounded. A narrow column breaks before the currency."""
    if amount is None:
        return UNKNOWN
    exact = f"{Decimal(format_amount(Decimal(amount)) or 0):,}"
    return f"{exact} {currency}" if currency else exact


def day_text(day: date) -> str:
    """Format a day, such as ``19 Nov``."""
    return f"{day.day}\u00a0{MONTHS[day.month - 1][:3]}"


def moment_text(text: str | None) -> str:
    """Format a timestamp, such as ``19 Nov 2026, 09:30 UTC``; as it is if it is none."""
    if not text:
        return UNKNOWN
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return f"{day_text(moment.date())}\u00a0{moment.year}, {moment:%H:%M}\u00a0UTC"


def ago_text(days: int | None) -> str:
    """Format an age in days."""
    if days is None:
        return UNKNOWN
    return "today" if days == 0 else f"{counted(days, 'day')} ago"


def hours_text(hours: int | None) -> str:
    """Format a number of hours, from two days on in days."""
    if hours is None:
        return DASH
    return f"{hours}\u00a0h" if hours < 48 else f"{hours // 24}\u00a0days"
