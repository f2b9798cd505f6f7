# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text of the platform made safe to show: no control characters, no secrets."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from urllib.parse import quote

HIDDEN = "********"
MAX_LENGTH = 1000


def clean(text: str) -> str:
    """Return ``text`` on one line, without characters that would steer a terminal, cut at a length."""
    shown = "".join(char if char.isprintable() else " " for char in text[: MAX_LENGTH + 1])
    shown = " ".join(shown.split())
    return shown if len(text) <= MAX_LENGTH else shown[:MAX_LENGTH] + " …"


def megabytes(count: int) -> str:
    """Write a number of bytes for people."""
    return f"{count / 1_000_000:.1f} MB"


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
    """Return ``secret`` raw, URL-encoded, JSON-escaped and in base64, padded or not."""
    raw = secret.encode()
    padded = {base64.b64encode(raw).decode(), base64.urlsafe_b64encode(raw).decode()}
    bare = {encoded.rstrip("=") for encoded in padded}
    return {secret, quote(secret, safe=""), quote(secret), json.dumps(secret)[1:-1]} | padded | bare
