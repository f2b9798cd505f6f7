# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lists of undocumented form: their entries, whether they are complete, and the query for the next page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..._api.errors import Refused

MAX_PAGES = 200
CURSORS = ("nextcursor", "nextpagetoken", "nexttoken")
LINKS = ("next", "nextpage", "nextlink")
MORE = ("hasmore", "hasnext", "hasnextpage", "istruncated", "truncated")
TOTALS = ("total", "totalcount", "totalitems", "count")
LAST_PAGES = ("totalpages", "pages", "pagecount", "lastpage")
OFFSETS = ("offset", "skip")

ListEntry = dict[str, Any]
Query = dict[str, Any]


@dataclass(frozen=True)
class Listed:
    """The entries of a list. ``total`` is their number, if some are missing and the platform shows it."""

    entries: Sequence[ListEntry]
    whole: bool
    total: int | None = None


def entries_in(answer: Any) -> list[ListEntry] | None:
    """Return the entries in a response: a bare list, or the only list in an object. ``None`` for others."""
    if isinstance(answer, dict):
        lists = [value for value in answer.values() if isinstance(value, list)]
        if len(lists) != 1:
            return None
        answer = lists[0]
    if not isinstance(answer, list) or not all(isinstance(entry, dict) for entry in answer):
        return None
    return answer


def paging_fields(answer: Any) -> Mapping[str, Any]:
    """Return the paging fields of a response, by lowercase names without separators."""
    if not isinstance(answer, dict):
        return {}
    inner = [value for value in answer.values() if isinstance(value, dict)]
    flat = [pair for part in (answer, *inner) for pair in part.items()]
    return {"".join(filter(str.isalnum, name)).lower(): value for name, value in flat}


def number_at(signs: Mapping[str, Any], names: Sequence[str]) -> int | None:
    """Return the first integer under one of the names."""
    found = (signs.get(name) for name in names)
    return next((value for value in found if isinstance(value, int) and not isinstance(value, bool)), None)


def has_more(answer: Any, seen: int, page: int = 1) -> bool:
    """Tell whether a response says that its list continues. ``seen`` is the number of entries so far."""
    signs = paging_fields(answer)
    if any(signs.get(name) for name in (*CURSORS, *LINKS, *MORE)):
        return True
    total, last = number_at(signs, TOTALS), number_at(signs, LAST_PAGES)
    return (total is not None and total > seen) or (last is not None and last > page)


def describes_paging(answer: Any) -> bool:
    """Tell whether a response has any paging field, so that a list without a next page is complete."""
    signs = paging_fields(answer)
    counted = number_at(signs, (*TOTALS, *LAST_PAGES)) is not None
    return counted or any(name in signs for name in (*CURSORS, *LINKS, *MORE))


def next_query(answer: Any, seen: int, page: int) -> Query:
    """Return the query for the next page. Only the cursor is documented, for other lists.

    A platform that ignores the parameter returns the same page, or refuses: both are detected.
    """
    signs = paging_fields(answer)
    cursor = next((signs[name] for name in CURSORS if signs.get(name)), None)
    if cursor is not None:
        return {"cursor": cursor}
    if offset := next((name for name in OFFSETS if name in signs), None):
        return {offset: seen}
    this = signs.get("page")
    number = this if isinstance(this, int) and not isinstance(this, bool) else page
    return {"page": number + 1}


def read_list(
    read: Callable[[Query], Any], enough: Callable[[Sequence[ListEntry]], bool] = lambda entries: False
) -> Listed | None:
    """Read a list with all its pages; ``None`` if its form is unknown.

    Stops once there are ``enough`` entries.
    """
    found: list[ListEntry] = []
    query: Query = {}
    for page in range(1, MAX_PAGES + 1):
        try:
            answer = read(query)
        except Refused:
            if page == 1:
                raise
            break
        items = entries_in(answer)
        if items is None:
            if page == 1:
                return None
            break
        fresh = [item for item in items if item not in found]
        found += fresh
        total = number_at(paging_fields(answer), TOTALS)
        if not has_more(answer, len(found), page):
            return Listed(found, True)
        if not fresh or enough(found):
            return Listed(found, False, total)
        query = next_query(answer, len(found), page)
    return Listed(found, False)
