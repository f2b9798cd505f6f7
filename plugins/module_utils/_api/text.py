# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text of the platform made safe to show: no control characters, no secrets."""

from __future__ import annotations

import base64
import json
import re
import unicodedata
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus

HIDDEN = "********"
MAX_LENGTH = 1000
LONGEST = 20_000
STEERING = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
HARMLESS = frozenset("\n\t\u00ad\u200c\u200d")
"""What is in those categories and steers nothing: line ends, and marks inside words and emoji."""
SHORTEST_PART = 8
"""How many characters of base64 are enough to be no accident."""
PIECE = re.compile(r"[A-Za-z0-9]{12,}")
"""A part of a secret that no way of escaping changes."""


def clean(text: str) -> str:
    """Return ``text`` on one line, without characters that would steer a terminal, cut at a length."""
    shown = "".join(char if char.isprintable() else " " for char in text[: MAX_LENGTH + 1])
    shown = " ".join(shown.split())
    return shown if len(text) <= MAX_LENGTH else shown[:MAX_LENGTH] + " …"


def megabytes(count: int) -> str:
    """Write a number of bytes for people."""
    return f"{count / 1_000_000:.1f} MB"


def printable(text: str) -> str:
    """Return ``text`` with what would steer a terminal written as escapes, such as ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(char if harmless(char) else char.encode("unicode_escape").decode() for char in text)


def shortened(text: str) -> str:
    """Return ``text`` without its middle where it is longer than anybody reads."""
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"


def harmless(char: str) -> bool:
    """Tell whether a character may reach a terminal as it is."""
    return char.isprintable() or char in HARMLESS or unicodedata.category(char) not in STEERING


class Redactor:
    """Hides known secrets in text, however they were encoded on their way there."""

    def __init__(self, secrets: Iterable[str]) -> None:
        variants = {variant for secret in secrets if secret for variant in encodings(secret)}
        self._variants = sorted(variants, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        for variant in self._variants:
            text = text.replace(variant, HIDDEN)
        return text


def encodings(secret: str) -> set[str]:
    """Return ``secret`` raw, as SQL, JSON and Python write it, and each of these in URLs and in base64.

    Its telling pieces as well: they remain what they are, however often it was escaped.
    """
    in_json = {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    written = {secret, repr(secret)[1:-1], secret.replace("'", "''"), *in_json}
    written |= {json.dumps(secret.replace("'", "''"))[1:-1], *filter(telling, PIECE.findall(secret))}
    found = set(written)
    for text in written:
        raw = text.encode(errors="surrogatepass")
        found |= {quote(raw, safe=""), quote(raw), quote_plus(raw)} | in_base64(raw)
    return found


def telling(piece: str) -> bool:
    """Tell whether a piece of a secret looks made up: letters with digits among them, or the reverse."""
    return not piece.isalpha() and not piece.isdigit()


def in_base64(raw: bytes) -> set[str]:
    """Return ``raw`` in base64: padded, bare, and what does not change when other bytes stand around it."""
    found: set[str] = set()
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        padded = encode(raw).decode()
        parts = {inside(encode, raw, offset) for offset in range(3)}
        found |= {padded, padded.rstrip("=")} | {part for part in parts if len(part) >= SHORTEST_PART}
    return found


def inside(encode: Callable[[bytes], bytes], raw: bytes, offset: int) -> str:
    """Return the characters of base64 that come from ``raw`` alone, with ``offset`` bytes before it."""
    first, last = -(-offset * 8 // 6), (offset + len(raw)) * 8 // 6
    return encode(bytes(offset) + raw).decode()[first:last]
