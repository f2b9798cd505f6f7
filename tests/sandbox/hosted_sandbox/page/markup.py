# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTML whose text is escaped unless it is HTML already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from html import escape

from hosted_sandbox.clock import stamp

Content = object
ALONE = ("input",)
UNITS = ("B", "kB", "MB", "GB", "TB")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(content: Content) -> Html:
    """Escape a value, unless it is HTML; None is nothing."""
    if isinstance(content, Html):
        return content
    return Html("" if content is None else escape(str(content)))


def tag(name: str, *contents: Content, **attributes: Content) -> Html:
    """Build an element. `class_` is attribute `class`, `data_id` is `data-id`. False and None are omitted."""
    parts = [name]
    for key, value in attributes.items():
        if value is not None and value is not False:
            plain = key.rstrip("_").replace("_", "-")
            parts.append(plain if value is True else f'{plain}="{text(value)}"')
    opened = f"<{' '.join(parts)}>"
    if name in ALONE:
        return Html(opened)
    return Html(f"{opened}{''.join(map(text, contents))}</{name}>")


def joined(*contents: Content) -> Html:
    """Put contents one after the other."""
    return Html("".join(map(text, contents)))


@dataclass(frozen=True)
class Column:
    """A column of a table. `figure` aligns numbers.

    On a phone, where a row is a block, a `bare` cell has no label, a `full` one has a line of its own, and
    `status` is next to the name.
    """

    label: str
    kind: str = ""

    @property
    def figure(self) -> bool:
        """True if the cells are numbers."""
        return "figure" in self.kind


@dataclass(frozen=True)
class Row:
    """A row of a table with an id, so that the page can tell when it changes; `head` is a row that groups."""

    id: str
    cells: Sequence[Content]
    kind: str = ""


def table(caption: str, columns: Sequence[Column], rows: Sequence[Row], most: int = 200) -> Html:
    """Build a table, or a line that says there is nothing; at most so many rows."""
    if not rows:
        return tag("p", "None", class_="none")
    heads = [tag("th", column.label, scope="col", class_=column.kind or None) for column in columns]
    more = tag("p", f"and {len(rows) - most} more", class_="none") if len(rows) > most else ""
    return joined(
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", *heads)),
            tag("tbody", *(_row(columns, row) for row in rows[:most])),
        ),
        more,
    )


def _row(columns: Sequence[Column], row: Row) -> Html:
    if row.kind == "group":
        wide = tag("th", *row.cells, scope="colgroup", colspan=len(columns))
        return tag("tr", wide, id=row.id, class_=row.kind)
    cells = [
        tag(
            "td" if index else "th",
            content,
            scope=None if index else "row",
            class_=column.kind or None,
            data_label=column.label,
        )
        for index, (column, content) in enumerate(zip(columns, row.cells, strict=True))
    ]
    return tag("tr", *cells, id=row.id, class_=row.kind or None)


def money(cents: int) -> str:
    """Format cents: 1,234.50."""
    return f"{Decimal(cents) / 100:,.2f}"


def moment(at: int | None, brief: bool = False) -> Html:
    """Format a simulated time, in `brief` that of the day; a dash if there is none."""
    if at is None:
        return Html("-")
    full = stamp(at)
    day, clock = full[:10], full[11:19]
    return tag("time", clock if brief else f"{day} {clock}", datetime=full, title=f"{day} {clock} UTC")


def size(count: int) -> str:
    """Format a number of bytes."""
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{count} B" if unit == 0 else f"{amount:.1f} {UNITS[unit]}"


def count(number: int, noun: str) -> str:
    """Format a number of things: 1 service, 2 services."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


#: How good the statuses of services, verdicts, backups and faults are.
TONES = {
    **dict.fromkeys(("ACTIVE", "PASSED", "COMPLETED", "running"), "good"),
    **dict.fromkeys(("AWAITING_ADMIN", "WARNED", "active"), "warn"),
    **dict.fromkeys(("FAILED", "BLOCKED"), "bad"),
    **dict.fromkeys(("PROVISIONING", "PENDING", "RESTORING", "DELETING"), "busy"),
}


def badge(status: str, detail: str = "") -> Html:
    """Show a status by colour and text."""
    return tag("span", status, detail and f" {detail}", class_=f"badge {TONES.get(status, 'idle')}")
