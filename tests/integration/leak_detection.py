# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Look for secrets in everything that a run leaves behind, in every form that they may have taken on the way.

A canary has a core of letters and digits, which no way of escaping changes, between characters that most of
them change. So a search for the core finds it raw, in URLs, in JSON, in YAML and in SQL. Base64 and
hexadecimal digits do change it, and are looked for as well.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

ESCAPED = ("<'+/=", '&"%>')


def core(name: str) -> str:
    """Return the part of the canary of this name that survives every way of escaping."""
    return f"Kx{hashlib.sha256(name.encode()).hexdigest()[:18]}"


def canary(name: str) -> str:
    """Return a secret that is like no other text, with characters that need escaping on both sides."""
    return core(name).join(ESCAPED)


def forms(secret: str) -> set[bytes]:
    """Return a piece of a secret as it is, in base64 wherever it stands in it, and in hexadecimal digits."""
    raw = secret.encode()
    found = {raw, raw.hex().encode(), raw.hex().upper().encode()}
    for offset in range(3):
        first, last = -(-offset * 8 // 6), (offset + len(raw)) * 8 // 6
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.add(encode(bytes(offset) + raw)[first:last])
    return found


def longest_run(secret: str) -> str:
    """Return the longest piece of letters and digits of a secret that the platform made up.

    Of a URL only the password is secret: `postgresql` may be longer than any piece of it, and is everywhere.
    """
    hidden = urlsplit(secret).password or "" if "://" in secret else secret
    pieces = "".join(char if char.isascii() and char.isalnum() else " " for char in hidden).split()
    return max(pieces, key=len, default="")


def find_leaks(secrets: Mapping[str, str], places: Mapping[str, bytes]) -> list[str]:
    """Return which secret is to be seen in which place. `secrets` are their telling pieces by name."""
    looked_for = {name: forms(piece) for name, piece in secrets.items()}
    return [
        f"{name} in {place}: {context_of(content, form)}"
        for place, content in places.items()
        for name, all_forms in looked_for.items()
        for form in all_forms
        if form in content
    ]


def context_of(content: bytes, form: bytes) -> str:
    """Return what stands around a find, for whoever has to mend it."""
    at = content.index(form)
    return repr(content[max(0, at - 120) : at + 60])


def files_below(folder: Path, meant: Iterable[Path]) -> dict[str, bytes]:
    """Return the content of all files below a folder, but for those that are meant to hold secrets."""
    left_out = set(meant)
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not left_out & {path, *path.parents}
    }
