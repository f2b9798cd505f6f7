# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes text from the platform safe to print: escapes control characters and redacts secrets."""

from __future__ import annotations

import base64
import html
import json
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any
from urllib.parse import quote, quote_plus

PRIVATE_KEY = "PRIVATE KEY"
"""What the first line of a private key contains, in whichever format."""
HIDDEN = "********"
MAX_LENGTH = 1000
LONGEST = 20_000
STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
HARMLESS = frozenset("\n\t\u00ad\u200c\u200d")
"""Exceptions in :data:`STEERING`: line breaks, and joiners in words and emoji."""
SHORTEST_PART = 8
"""The number of characters of base64 or hex below which a match may be a coincidence."""
FIRST_OWN = (0, 2, 3)
"""By how many bytes come before it: the first base64 character of a secret that none of them decides."""
PIECE = re.compile(r"[A-Za-z0-9]{12,}")
"""Matches a part of a secret that no escaping changes."""
QUOTES_IN_HTML = list(product(('"', "&quot;", "&#34;"), ("'", "&#39;", "&apos;", "&#x27;", "&#039;")))
"""How ``"`` and ``'`` are escaped in HTML and XML."""
LEAST_BEGINNING, LEAST_CUT = 8, 12
"""How many characters of a secret of how many must stand before a cut to be taken for its beginning."""
CUT = re.compile(
    r"""["'`\u00bb\u201d\u2019<]|\\["']|&(?:quot|apos|\#\w+);|\s*[\[(]?(?:\.{3}|\u2026)|[.)\]]?\s*\Z"""
)
"""Matches what follows a text that was cut off: the end of a quotation or a message, or an ellipsis."""


def clean(text: str) -> str:
    """Return ``text`` on one line, without control characters, truncated to :data:`MAX_LENGTH`."""
    shown = "".join(char if char.isprintable() else " " for char in text[:MAX_LENGTH])
    shown = " ".join(shown.split())
    return shown if len(text) <= MAX_LENGTH else shown + " …"


def megabytes(count: int) -> str:
    return f"{count / 1_000_000:.1f} MB"


def counted(number: int, noun: str) -> str:
    """Return a number of things, such as ``1 byte`` or ``2 entries``."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") and not noun.endswith("ay") else f"{noun}s"
    return f"{number} {noun if number == 1 else several}"


def describe_type(value: Any) -> str:
    """Name the JSON type of a value, with an article."""
    if value is None:
        return "nothing"
    names = {dict: "an object", list: "a list", str: "a string", bool: "a boolean"}
    return names.get(type(value), "a number")


def first_of(texts: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first of these texts for a message, and how many more there are.

    Texts that hold commas or sentences have ``"; "`` between them.
    """
    shown, left = between.join(texts[:most]), len(texts) - most
    return f"{shown}{between.rstrip(', ')} and {left} more" if left > 0 else shown


def line_for_each(reasons: Iterable[tuple[str, str]]) -> str:
    """Return a line for each of several things: what it is, unless the reason names it, and the reason."""
    return "".join(f"\n- {why if what in why else f'{what}: {why}'}" for what, why in reasons)


def printable(text: str) -> str:
    """Return ``text`` with characters that control a terminal escaped, such as ``\\x1b``."""
    if text.isprintable():  # as nearly all of it is
        return text
    return "".join(char if harmless(char) else char.encode("unicode_escape").decode() for char in text)


def harmless(char: str) -> bool:
    """Tell whether a character can be printed to a terminal unescaped."""
    return char.isprintable() or char in HARMLESS or unicodedata.category(char) not in STEERING


def in_one_line(text: str) -> str:
    """Return ``text`` as :func:`printable` does, with line breaks and tabs escaped as well."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")


def shortened(text: str) -> str:
    """Return ``text`` with its middle removed if it is longer than :data:`LONGEST`."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


composed: Callable[[str], str] = partial(unicodedata.normalize, "NFC")
"""Returns a name in the one Unicode form in which names are compared and sent."""
LISTENERS: list[Callable[[list[str]], None]] = []
"""Told of each secret that enters or leaves: Ansible masks those that it knows, from ansible-core 2.22 on."""


def tell_secrets(values: Iterable[Any]) -> None:
    """Tell the listeners of secrets. What is no text is none."""
    known = [value for value in values if isinstance(value, str)]
    for listener in LISTENERS:
        listener(known)


class Redactor:
    """Replaces known secrets in text, also inside lists and dictionaries, with :data:`HIDDEN`.

    They are found raw and in the common encodings. So is the beginning of one that was cut off, where enough
    of it stands before a :data:`CUT`; but not words as in any message, nor a text that is nothing else.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        forms, self._beginnings = set[str](), dict[str, list[str]]()
        for secret in filter(None, secrets):
            found = encodings(secret)
            forms |= found
            # Pieces with both letters and digits, which no escaping changes, are like no other text.
            for piece in PIECE.findall(secret):
                if not piece.isalpha() and not piece.isdigit():
                    forms |= {piece, *carried(piece)}
            for form in sorted(found) if len(secret) >= LEAST_CUT else ():
                self._beginnings.setdefault(form[:LEAST_BEGINNING], []).append(form)
        self._forms = sorted(forms, key=len, reverse=True)

    def __call__(self, text: Any) -> Any:
        if isinstance(text, dict):
            return {key: self(item) for key, item in text.items()}
        if isinstance(text, list):
            return [self(item) for item in text]
        if not isinstance(text, str):
            return text
        for form in self._forms:
            text = text.replace(form, HIDDEN)
        for beginning, forms in self._beginnings.items():
            text = without_beginning(text, beginning, forms)
        return text


def encodings(secret: str) -> set[str]:
    """Return the forms in which a secret may appear in text.

    They are the raw secret, its SQL, JSON and Python literals, each of these in URLs, HTML and base64, and
    the secret in hex.
    """
    in_sql = secret.replace("'", "''")
    literals = {secret, in_sql, repr(secret)[1:-1], json.dumps(in_sql)[1:-1]}
    literals |= {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    found = set(literals)
    for text in literals:
        bare = html.escape(text, quote=False)
        found |= {bare.replace('"', double).replace("'", single) for double, single in QUOTES_IN_HTML}
        found |= carried(text)
    digits = secret.encode(errors="surrogatepass").hex()
    return found | ({digits, digits.upper()} if len(digits) >= SHORTEST_PART else set())


def carried(text: str) -> set[str]:
    """Return the forms of a text in URLs and in base64, also inside that of a longer text."""
    raw = text.encode(errors="surrogatepass")
    found = {quote(raw, safe=""), quote(raw), quote_plus(raw)}
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        whole = encode(raw).decode()
        found |= {whole, whole.rstrip("=")}
        for before, first in enumerate(FIRST_OWN):  # the characters that depend on the text alone
            inside = encode(bytes(before) + raw).decode()[first : (before + len(raw)) * 8 // 6]
            found |= {inside} if len(inside) >= SHORTEST_PART else set()
    return found


def without_beginning(text: str, beginning: str, forms: Sequence[str]) -> str:
    """Return ``text`` without the parts with which one of these forms begins, and which were cut off.

    All forms have this ``beginning``; the one that goes furthest counts.
    """
    parts, done, at = list[str](), 0, text.find(beginning)
    while at >= 0:
        end = at + max(length_in_common(text, at, form) for form in forms)
        words = text[at:end].rstrip(":/").split()
        is_wording = all(
            word.isalpha() and (word.islower() or word.isupper() or word.istitle()) for word in words
        )
        if CUT.match(text, end) and not is_wording and (at, end) != (0, len(text)):
            parts += [text[done:at], HIDDEN]
            done = end
        at = text.find(beginning, end)
    return "".join([*parts, text[done:]])


def length_in_common(text: str, at: int, secret: str) -> int:
    """Return how many characters of a secret stand in ``text`` from this place on."""
    most = min(len(secret), len(text) - at)
    return bisect_left(range(1, most + 1), True, key=lambda count: not text.startswith(secret[:count], at))
