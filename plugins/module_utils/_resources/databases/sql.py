# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading SQL just well enough to put values into it safely and to tell a plain read from anything else.

The tunnel takes text alone (Database tunnel), so values become literals here. Where a text can be read in
two ways, because servers differ in what a backslash or a comment means to them, it is refused or not called a
read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any

from ..shared.task_errors import Invalid

POSTGRESQL, MYSQL, SQLITE = "postgresql", "mysql", "sqlite"
DIALECTS = {name: name for name in (POSTGRESQL, MYSQL, SQLITE)} | {"postgres": POSTGRESQL, "mariadb": MYSQL}
"""How the platform may name an engine, in lower case, and the dialect that it speaks."""

READS = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "SHOW", "EXPLAIN", "DESCRIBE", "DESC"})
EXPLAINS = frozenset({"EXPLAIN", "DESCRIBE", "DESC"})
ANALYZES = frozenset({"ANALYZE", "ANALYSE"})
"""With these, what is explained is carried out."""
PAGEABLE = frozenset({"SELECT", "WITH", "VALUES", "TABLE"})
CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"})
"""Statements that count the rows they change."""
WRITING_WORDS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "INTO"})
"""What makes a write of a statement that begins like a read, such as WITH … DELETE or SELECT … INTO."""
OPENS = frozenset({"BEGIN", "START"})
ENDS = frozenset({"COMMIT", "ROLLBACK", "END"})
OF_SESSION = OPENS | ENDS | {"SAVEPOINT", "RELEASE", "SET", "USE", "LOCK", "PREPARE"}
"""Statements that mean something only to those after them in the same session."""
OWN_LIMIT = frozenset({"LIMIT", "OFFSET", "FETCH"})

SHORTEST_VALUE = 4
"""A shorter number or word in a column's name may well be there by itself."""

STRING = r"'(?:[^']|'')*'"
NAME = r'"(?:[^"]|"")*"'
COMMENT = r"/\*(?:(?!/\*|\*/).)*\*/"
OWN_TOKENS = {
    POSTGRESQL: rf"(?P<quoted>{STRING}|{NAME}|\$(?P<tag>(?:[^\W\d]\w*)?)\$.*?\$(?P=tag)\$)"
    rf"|(?P<comment>--[^\r\n]*|{COMMENT})",
    MYSQL: rf"(?P<quoted>{STRING}|{NAME}|`[^`]*`)"
    rf"|(?P<comment>--(?=\s|\Z)[^\n]*|\#[^\n]*|(?!/\*M?!){COMMENT})",
    SQLITE: rf"(?P<quoted>{STRING}|{NAME}|`[^`]*`|\[[^\]]*\])|(?P<comment>--[^\n]*|{COMMENT})",
}
TOKENS = {
    dialect: re.compile(
        own + r"|(?P<place>(?<![\w:]):[^\W\d]\w*)|(?P<word>[^\W\d][\w$]*)|(?P<number>\d[\w.]*)"
        r"|(?P<space>\s+)|(?P<odd>/\*|['\"`]|\$\w*\$)|(?P<other>.)",
        re.DOTALL,
    )
    for dialect, own in OWN_TOKENS.items()
}


@dataclass(frozen=True)
class Token:
    """A piece of a statement; ``kind`` is the name of the group in the pattern that found it."""

    kind: str
    text: str


class Statement:
    """A statement in the words of a dialect. An engine that nobody knows is read as PostgreSQL would be."""

    def __init__(self, text: str, engine: str | None, written: Sequence[tuple[str, str]] = ()) -> None:
        self.text = text
        self.engine = engine
        self.written = written
        """The names of the places that were filled, each with the literal of one value."""
        self.dialect = DIALECTS.get((engine or "").lower())

    @cached_property
    def tokens(self) -> list[Token]:
        """The pieces of the statement; joined they are its text again."""
        pattern = TOKENS[self.dialect or POSTGRESQL]
        return [Token(found.lastgroup or "", found[0]) for found in pattern.finditer(self.text)]

    @cached_property
    def words(self) -> list[str]:
        return [token.text.upper() for token in self.tokens if token.kind == "word"]

    @property
    def verb(self) -> str:
        """The first word; empty when there is none."""
        return self.words[0] if self.words else ""

    @cached_property
    def ambiguous(self) -> bool:
        """Whether servers may differ over where texts and comments end, as at a backslash and a quote."""
        if self.dialect is None and any(t.kind == "comment" or t.text == "#" for t in self.tokens):
            return True
        escaping = self.dialect != SQLITE
        return any(
            token.kind == "odd"
            or (escaping and token.kind == "quoted" and f"\\{token.text[0]}" in token.text)
            for token in self.tokens
        )

    @property
    def several(self) -> bool:
        texts = [token.text for token in self.tokens if token.kind not in ("space", "comment")]
        while texts and texts[-1] == ";":
            texts.pop()
        return ";" in texts

    @property
    def spans_calls(self) -> bool:
        """Whether it counts on a session that goes on after it, as a transaction that it opens does."""
        if not self.several:
            return self.verb in OF_SESSION
        return self.verb in OPENS and not ENDS & set(self.words[1:])

    @property
    def is_read(self) -> bool:
        """Whether it surely is one statement that reads, as far as its text can tell."""
        if self.ambiguous or self.several or self.verb not in READS or WRITING_WORDS & set(self.words):
            return False
        return not (self.verb in EXPLAINS and ANALYZES & set(self.words))

    @property
    def outer_words(self) -> set[str]:
        depth, found = 0, set()
        for token in self.tokens:
            depth += {"(": 1, ")": -1}.get(token.text, 0)
            if token.kind == "word" and depth == 0:
                found.add(token.text.upper())
        return found

    def page(self, limit: int, offset: int) -> str:
        if self.verb not in PAGEABLE:
            raise Invalid(f"all_rows is for a SELECT; this statement begins with {self.verb!r}")
        own = sorted(OWN_LIMIT & self.outer_words)
        if own:
            raise Invalid(f"all_rows adds LIMIT and OFFSET, but the query has {own[0]} already; remove one")
        tokens = list(self.tokens)
        while tokens and (tokens[-1].kind in ("space", "comment") or tokens[-1].text == ";"):
            tokens.pop()
        return "".join(token.text for token in tokens) + f"\nLIMIT {limit} OFFSET {offset}"

    def filled(self, params: Mapping[str, Any]) -> Statement:
        """Return the statement with each ``:name`` outside quotes and comments replaced by its value."""
        if not params:
            return self
        if self.dialect is None:
            known = ", ".join(sorted(DIALECTS))
            raise Invalid(
                f"params cannot be used with the engine {self.engine!r}: its syntax for strings is not "
                f"known here. They can be used with {known}"
            )
        if self.ambiguous:
            raise Invalid(
                "where the quotes or comments of this query end depends on the server's settings. Put text "
                "that holds a backslash before a quote into params, and end all quotes and comments"
            )
        used = {token.text[1:] for token in self.tokens if token.kind == "place"}
        if lacking := sorted(used - params.keys()):
            raise Invalid(f"the query names :{lacking[0]}, which params lacks")
        if unused := sorted(params.keys() - used):
            raise Invalid(f"params has {unused[0]!r}, but the query has no :{unused[0]}")
        write = WRITERS[self.dialect]
        # The space keeps a literal from becoming one with what stands before it, such as U&.
        values = {name: literal(value, name, write) for name, value in params.items()}
        texts = [f" {values[t.text[1:]]}" if t.kind == "place" else t.text for t in self.tokens]
        written = [
            (name, literal(item, name, write))
            for name, value in params.items()
            for item in (value if isinstance(value, list) else [value])
        ]
        return Statement("".join(texts), self.engine, written)

    def without_values(self, column: str) -> str:
        """Return a column's name with each value in it replaced by the name of its place.

        An engine names an expression by its text, values included; it may leave out the quotes of a text that
        stands alone, and cut a long name.
        """
        for place, value in sorted(self.written, key=lambda each: len(each[1]), reverse=True):
            column = replace_value(column, value, f":{place}")
            if value.endswith("'"):
                column = replace_value(column, value[value.index("'") + 1 : -1], f":{place}")
        return column


def replace_value(column: str, written: str, place: str) -> str:
    """Return a column's name with a value replaced, also one whose end was cut off with that of the name."""
    if column == written:
        return place
    if len(written) >= SHORTEST_VALUE and written not in CONSTANTS.values():
        column = column.replace(written, place)
    for end in range(len(written) - 1, SHORTEST_VALUE - 1, -1):
        if column.endswith(written[:end]):
            return column[:-end] + place
    return column


CONSTANTS = {None: "NULL", True: "TRUE", False: "FALSE"}


def literal(value: Any, name: str, write: Callable[[str], str]) -> str:
    """Return a value as SQL; ``write`` does it for text. A list becomes what stands between ``IN ( )``."""
    if isinstance(value, list):
        if not value:
            raise Invalid(f"params.{name} is an empty list, and SQL has no IN () of nothing")
        return ", ".join(literal(item, name, write) for item in value)
    if value is None or isinstance(value, bool):
        return CONSTANTS[value]
    if isinstance(value, int) or (isinstance(value, float) and math.isfinite(value)):
        return f"({value!r})" if value < 0 else repr(value)  # two minuses in a row would begin a comment
    return write(text_of(value, name))


def text_of(value: Any, name: str) -> str:
    """Return a value that becomes text, a date among them."""
    text = value.isoformat() if isinstance(value, date) else value
    if not isinstance(text, str):
        raise Invalid(
            f"params.{name} cannot be written in SQL; use a string, a number, true, false, null or a list"
        )
    if "\0" in text:
        raise Invalid(f"params.{name} holds a NUL character, which no text in SQL can")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Invalid(f"params.{name} is not valid Unicode") from None
    return text


def standard_text(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def postgresql_text(text: str) -> str:
    """Return text with a backslash in the form that does not depend on a setting."""
    return "E" + standard_text(text.replace("\\", "\\\\")) if "\\" in text else standard_text(text)


def mysql_text(text: str) -> str:
    """Return text with a backslash in the form that depends on no SQL mode."""
    return f"_utf8mb4 X'{text.encode().hex()}'" if "\\" in text else standard_text(text)


WRITERS = {POSTGRESQL: postgresql_text, MYSQL: mysql_text, SQLITE: standard_text}
