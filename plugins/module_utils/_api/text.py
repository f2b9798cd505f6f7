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
QUOTES_IN_HTML = [
    (double, single) for double in ('"', "&quot;", "&#34;") for single in ("'", "&apos;", "&#39;")
]
QUOTES_IN_HTML += [("&quot;", "&#x27;"), ("&quot;", "&#039;")]
"""How ``"`` and ``'`` are escaped in HTML and XML."""
LEAST_BEGINNING, LEAST_CUT = 8, 12
"""How many characters of a secret of how many must stand before a cut to be taken for its beginning."""
CUT = re.compile(
    r"""["'`\u00bb\u201d\u2019<]|\\["']|&(?:quot|apos|\#\w+);|\s*[\[(]?(?:\.{3}|\u2026)|[.)\]]?\s*\Z"""
)
"""Matches what follows a text that was cut off: the end of a quotation or a message, or an ellipsis."""


def composed(name: str) -> str:
    """Return a name in the one Unicode form in which names are compared and sent: NFC."""
    return unicodedata.normalize("NFC", name)


def clean(text: str) -> str:
    """Return ``text`` on one line, without control characters, truncated to :data:`MAX_LENGTH`."""
    shown = "".join(char if char.isprintable() else " " for char in text[:MAX_LENGTH])
    shown = " ".join(shown.split())
    return shown if len(text) <= MAX_LENGTH else shown + " …"


def megabytes(count: int) -> str:
    """Format a number of bytes in MB, such as ``1.5 MB``."""
    return f"{count / 1_000_000:.1f} MB"


def counted(number: int, noun: str) -> str:
    """Return a number of things, such as ``1 byte`` or ``2 entries``."""
    several = f"{noun[:-1]}ies" if noun.endswith("y") and not noun.endswith("ay") else f"{noun}s"
    return f"{number} {noun if number == 1 else several}"


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
    if text.isprintable():
        return text
    return "".join(char if harmless(char) else char.encode("unicode_escape").decode() for char in text)


def in_one_line(text: str) -> str:
    """Return ``text`` as :func:`printable` does, with line breaks and tabs escaped as well."""
    return printable(text).replace("\n", r"\n").replace("\t", r"\t")


def shortened(text: str) -> str:
    """Return ``text`` with its middle removed if it is longer than :data:`LONGEST`."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


def harmless(char: str) -> bool:
    """Tell whether a character can be printed to a terminal unescaped."""
    return char in HARMLESS or unicodedata.category(char) not in STEERING


LISTENERS: list[Callable[[list[str]], None]] = []
"""Told of each secret that enters or leaves: Ansible masks those that it knows, from ansible-core 2.22 on."""


def tell_secrets(values: Iterable[Any]) -> None:
    """Tell the listeners of secrets. What is no text is none."""
    known = [value for value in values if isinstance(value, str)]
    for listener in LISTENERS:
        listener(known)


class Redactor:
    """Replaces known secrets in text, raw or in a common encoding, with :data:`HIDDEN`.

    So is the beginning of one that was cut off: see :func:`without_beginning`.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        given = [secret for secret in secrets if secret]
        variants = {variant for secret in given for variant in encodings(secret)}
        self._variants = sorted(variants, key=len, reverse=True)
        long = {text for secret in given if len(secret) >= LEAST_CUT for text in from_the_beginning(secret)}
        self._beginnings: dict[str, list[str]] = {}
        for text in sorted(long):
            self._beginnings.setdefault(text[:LEAST_BEGINNING], []).append(text)

    def __call__(self, text: str) -> str:
        for variant in self._variants:
            text = text.replace(variant, HIDDEN)
        for beginning, variants in self._beginnings.items():
            if beginning in text:
                text = without_beginning(text, beginning, variants)
        return text


def without_beginning(text: str, beginning: str, variants: Sequence[str]) -> str:
    """Return ``text`` without the parts that are how a secret begins, where :data:`CUT` follows them.

    ``variants`` are the secret and its encodings with this ``beginning``; the one that goes furthest counts.
    Words as in any message are left, and a text that is nothing else, as it may be a value of its own.
    """
    parts, done = list[str](), 0
    at = text.find(beginning)
    while at >= 0:
        end = at + max(length_in_common(text, at, variant) for variant in variants)
        if CUT.match(text, end) and not is_wording(text[at:end]) and (at, end) != (0, len(text)):
            parts += [text[done:at], HIDDEN]
            done = end
        at = text.find(beginning, end)
    return "".join([*parts, text[done:]])


def is_wording(part: str) -> bool:
    """Tell whether a text is words as they are in any message, or the start of a URL."""
    words = part.rstrip(":/").split()
    return all(word.isalpha() and (word.islower() or word.isupper() or word.istitle()) for word in words)


def length_in_common(text: str, at: int, secret: str) -> int:
    """Return how many characters of a secret stand in ``text`` from this place on."""
    most = min(len(secret), len(text) - at)
    return bisect_left(range(1, most + 1), True, key=lambda count: not text.startswith(secret[:count], at))


def encodings(secret: str) -> set[str]:
    """Return the forms in which a secret may appear in text.

    They are the raw secret, its SQL, JSON and Python literals, and each of these URL-encoded and in base64;
    it and its JSON literal in HTML and XML; it in hex; and its distinctive pieces, which survive repeated
    escaping.
    """
    in_json = {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    written = {secret, repr(secret)[1:-1], secret.replace("'", "''"), *in_json}
    written |= {json.dumps(secret.replace("'", "''"))[1:-1], *filter(is_distinctive, PIECE.findall(secret))}
    found = written | {escaped for text in (secret, *in_json) for escaped in in_html(text)}
    found |= {digits for digits in in_hex(bytes_of(secret)) if len(digits) >= SHORTEST_PART}
    for text in written:
        raw = bytes_of(text)
        found |= {*in_urls(raw), *in_base64(raw)}
    return found


def from_the_beginning(secret: str) -> set[str]:
    """Return the forms of a secret of which a beginning is looked for."""
    in_json = {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    raw = bytes_of(secret)
    return {secret, *in_json, *in_html(secret), *in_urls(raw), *in_hex(raw)}


def bytes_of(text: str) -> bytes:
    """Return a text in UTF-8, even if it is not valid Unicode."""
    return text.encode(errors="surrogatepass")


def in_urls(raw: bytes) -> set[str]:
    """Return ``raw`` as it is in a URL or a form."""
    return {quote(raw, safe=""), quote(raw), quote_plus(raw)}


def in_hex(raw: bytes) -> set[str]:
    """Return ``raw`` in hex, as SQL and dumps of bytes write it."""
    return {raw.hex(), raw.hex().upper()}


def in_html(text: str) -> set[str]:
    """Return a text as it is in HTML or XML."""
    bare = html.escape(text, quote=False)
    return {bare.replace('"', double).replace("'", single) for double, single in QUOTES_IN_HTML}


def is_distinctive(piece: str) -> bool:
    """Tell whether a piece of a secret is distinctive: it has both letters and digits."""
    return not piece.isalpha() and not piece.isdigit()


def in_base64(raw: bytes) -> set[str]:
    """Return ``raw`` in base64: padded, unpadded, and as it appears inside the encoding of a longer text."""
    found: set[str] = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        padded = encode(raw).decode()
        parts = {base64_inside(encode, raw, *place) for place in enumerate(FIRST_OWN)}
        found |= {padded, padded.rstrip("=")} | {part for part in parts if len(part) >= SHORTEST_PART}
    return found


def base64_inside(encode: Callable[[bytes], bytes], raw: bytes, offset: int, first: int) -> str:
    """Return the base64 characters that depend on ``raw`` alone if ``offset`` bytes precede it."""
    return encode(bytes(offset) + raw).decode()[first : (offset + len(raw)) * 8 // 6]
