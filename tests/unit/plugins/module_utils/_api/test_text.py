# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Text of the platform is safe to print: no steering of terminals, no secrets in any usual encoding."""

from __future__ import annotations

import base64
import json
import unicodedata
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.text import (
    HARMLESS,
    HIDDEN,
    MAX_LENGTH,
    Redactor,
    clean,
    printable,
)

SECRET = "p/a+s\"s'\\w%r?>?>"  # of a length that base64 pads


@pytest.mark.parametrize("before", ["", "a", "ab", "abc", "me:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_a_secret_is_hidden_wherever_it_stands_inside_base64(
    before: str, encode: Callable[[bytes], bytes]
) -> None:
    encoded = encode(f"{before}{SECRET} and more".encode()).decode()
    assert HIDDEN in Redactor([SECRET])(encoded)


@given(st.text())
def test_what_is_printable_steers_no_terminal_and_loses_nothing(text: str) -> None:
    shown = printable(text)
    assert all(
        char in HARMLESS or unicodedata.category(char)[0] != "C" or not char.isascii() for char in shown
    )
    assert not set(shown) & set("\r\x1b\x7f\x85\x9b\u2028\u202e\ud800")
    assert all(char in text or char.isascii() for char in shown)
    if text.isprintable():
        assert shown == text


def test_a_long_text_is_cut_and_says_so() -> None:
    assert clean("x" * MAX_LENGTH) == "x" * MAX_LENGTH
    assert clean("x" * (MAX_LENGTH + 1)) == "x" * MAX_LENGTH + " \u2026"


@given(st.text())
def test_clean_leaves_nothing_that_steers_a_terminal(text: str) -> None:
    shown = clean(text)
    assert shown.isprintable()
    assert len(shown) <= MAX_LENGTH + 2


ENCODED = {
    "raw": SECRET,
    "base64": base64.b64encode(SECRET.encode()).decode(),
    "base64 for URLs": base64.urlsafe_b64encode(SECRET.encode()).decode(),
    "base64 without padding": base64.b64encode(SECRET.encode()).decode().rstrip("="),
    "URL": quote(SECRET, safe=""),
    "URL path": quote(SECRET),
    "JSON": json.dumps(SECRET)[1:-1],
    "form": quote_plus(SECRET),
    "Python": repr(SECRET)[1:-1],
    "SQL": SECRET.replace("'", "''"),
    "SQL in JSON": json.dumps(SECRET.replace("'", "''"))[1:-1],
    "JSON in base64": base64.b64encode(json.dumps(SECRET)[1:-1].encode()).decode(),
    "JSON in a URL": quote(json.dumps(SECRET)[1:-1], safe=""),
    "hex": SECRET.encode().hex(),
    "hex in capitals": SECRET.encode().hex().upper(),
}


@pytest.mark.parametrize("encoded", ENCODED.values(), ids=ENCODED)
def test_a_secret_is_hidden_however_it_is_encoded(encoded: str) -> None:
    assert Redactor([SECRET])(f"before {encoded} after {encoded}") == f"before {HIDDEN} after {HIDDEN}"


LONG = "s3cr3t/with 'quotes' & more"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ('invalid value "s3cr3t/with"', f'invalid value "{HIDDEN}"'),
        ("invalid value 's3cr3t/wi'.", f"invalid value '{HIDDEN}'."),
        ("invalid value: s3cr3t/with", f"invalid value: {HIDDEN}"),
        ("invalid value: s3cr3t/with.", f"invalid value: {HIDDEN}."),
        ("value s3cr3t/w... is invalid", f"value {HIDDEN}... is invalid"),
        ("value s3cr3t/w\u2026 is invalid", f"value {HIDDEN}\u2026 is invalid"),
        ("value s3cr3t/with [...] is invalid", f"value {HIDDEN}[...] is invalid"),
        ("s3cr3t/with '\u2026", f"{HIDDEN}\u2026"),
        ("value s3cr3t%2Fwith%20%27quo... is", f"value {HIDDEN}... is"),
        ("value &quot;s3cr3t/with &#39;quo&quot; is", f"value &quot;{HIDDEN}&quot; is"),
        ("s3cr3t/w..., 's3cr3t/wit'", f"{HIDDEN}..., '{HIDDEN}'"),
        ("value s3cr3t/... is too short to tell", "value s3cr3t/... is too short to tell"),
        ("in s3cr3t/with/x of the repository", "in s3cr3t/with/x of the repository"),
        ("s3cr3t/with", "s3cr3t/with"),
        ("near '_utf8mb4 X'7333637233742f77' at line 1", f"near '_utf8mb4 X'{HIDDEN}' at line 1"),
        ("near '_utf8mb4 X'7333637233742F7' at line 1", f"near '_utf8mb4 X'{HIDDEN}' at line 1"),
        ("near 'X'7333637...", "near 'X'7333637..."),
    ],
)
def test_the_beginning_of_a_secret_is_hidden_where_it_was_cut_off(said: str, shown: str) -> None:
    assert Redactor([LONG])(said) == shown


@pytest.mark.parametrize("secret", ["password-of-mine-1", "Password of mine 1", "postgresql://me:it@db"])
@pytest.mark.parametrize("end", ["", ".", "...", "'", '" is wrong'])
def test_a_word_of_a_message_is_left_though_a_secret_begins_with_it(secret: str, end: str) -> None:
    for word in ("password", "Password", "Password of", "postgresql:", "postgresql://"):
        said = f"invalid '{word}{end}"
        assert Redactor([secret])(said) == said


def test_the_beginning_of_a_short_secret_is_left() -> None:
    assert Redactor(["s3cr3t/with"])("value 's3cr3t/w'") == "value 's3cr3t/w'"
    assert Redactor(["s3cr3t/with1"])("value 's3cr3t/w'") == f"value '{HIDDEN}'"


def test_a_telling_piece_is_hidden_however_often_the_secret_was_escaped() -> None:
    secret = 'a"9f86d081884c7d\\'
    assert Redactor([secret])(json.dumps(json.dumps(json.dumps(secret)))).count("9f86d081884c7d") == 0
    words = 'postgresql://"extraordinarily/1234567890123'
    assert Redactor([words])("no postgresql, extraordinarily") == "no postgresql, extraordinarily"


def test_a_secret_of_two_megabytes_is_hidden_as_well() -> None:
    """Such as the content of a file: nothing that is done to it may grow with the square of its length."""
    secret = "x" * 2_000_000
    assert Redactor([secret])(f"before {secret} after") == f"before {HIDDEN} after"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((text, text) for text in ("two\nlines\tand a tab", "blank\u3000", "joined\u200dup", "\ue000")),
        *(("\x1b[31m", "\\x1b[31m"), ("a\u202eb", "a\\u202eb"), ("a\rb", "a\\rb")),
    ],
)
def test_only_what_steers_a_terminal_is_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_secrets_in_a_text() -> None:
    """The longer of two goes first, JSON may escape its characters, and no secret hides nothing."""
    assert Redactor(["abc", "abcdef"])("abcdef abc") == f"{HIDDEN} {HIDDEN}"
    assert Redactor(["", ""])("text") == "text"
    secret = "gr\u00fc\u00df 'dich\""
    for ascii in (True, False):
        written = json.dumps({"password": secret}, ensure_ascii=ascii)
        assert Redactor([secret])(written) == json.dumps({"password": HIDDEN})
