# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a response of the platform means: its JSON, an error, or a pause before the next attempt."""

from __future__ import annotations

import codecs
import json
import math
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, TypeVar

from . import errors
from . import models as m
from .http_transport import Response
from .libraries import ValidationError
from .platform_clock import parse_http_date
from .routes import Route, Undocumented
from .text import clean, describe_type

MAX_DEPTH = 100
MAX_VALUES = 10_000_000
"""How many values and containers a response may hold: a list of a million entries has fewer."""
SMALL = 8 * 1024 * 1024
"""The size in bytes up to which a body cannot need much memory, whatever it holds."""
MAX_MESSAGE = 100_000
"""How many characters of an error's message are searched for secrets. Far fewer are shown."""
MAX_RETRY_AFTER = 300.0
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 10.0
LIMIT_DOUBLINGS = 3
"""How often the first pause is doubled if a response 429 does not say how long to wait: up to 2 seconds."""
TAG = re.compile(r"<(style|script)\b.*?(?:</\1>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
"""Matches a tag. Those without an end are not searched for it again and again."""
M = TypeVar("M", bound=m.Model)


# --- 2xx --------------------------------------------------------------------------------------------


def read_response(route: Route[Any], response: Response, redact: Callable[[str], str]) -> Any:
    """Return the JSON of a 2xx response; ``None`` if nothing depends on its body, which is not JSON.

    :raises HostedError: what any other response means.
    """
    if not 200 <= response.status < 300:
        raise error_for_response(route, response, redact)
    if not response.body.strip():
        return None
    try:
        return parse(response.body)
    except (ValueError, RecursionError) as error:
        if response.content_type.lower().startswith("text/html") or response.body.lstrip()[:1] == b"<":
            said = "the response is not JSON but a web page, as proxies send"
            raise errors.CallOutcomeUnknown(said) from None
        if isinstance(route.answer, Undocumented) and route.method != "GET":
            return None  # nothing depends on the undocumented response to a write
        if isinstance(error, Excessive):
            raise errors.UnexpectedAnswer(str(error)) from None
        raise errors.CallOutcomeUnknown("the response is not JSON, or was cut off") from None


def read_model(route: Route[Any], model: type[M], value: Any) -> M:
    """Validate decoded JSON as a ``model``. Errors name the route, the field and the type received."""
    if not isinstance(value, dict):
        raise errors.UnexpectedAnswer(f"{route}: expected an object, got {describe_type(value)}")
    try:
        return model.model_validate(value)
    except ValidationError as error:
        # The value itself is left out: it may be a secret.
        problem = error.errors(include_url=False, include_context=False)[0]
        field = repr(clean(".".join(str(part) for part in problem["loc"])))
        if problem["type"] == "missing":
            said = f"the field {field} is missing from the response"
        else:
            found = f"{describe_type(problem['input'])}; {problem['msg']}"
            said = f"the field {field} has an unexpected value: {found}"
        raise errors.UnexpectedAnswer(f"{route}: {said}") from None


class Excessive(ValueError):
    """JSON that is too large or too deeply nested to be genuine."""


def parse(body: bytes) -> Any:
    """Parse JSON within bounds of memory and depth. Lone surrogates become U+FFFD.

    :raises ValueError: if it is not JSON in UTF-8; :class:`Excessive` if it exceeds the bounds.
    :raises RecursionError: if it is nested too deeply for Python's parser.
    """
    if len(body) > SMALL and sum(map(body.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise Excessive(f"the response holds more than {MAX_VALUES} values")
    # The codec utf-8-sig strips the BOM, too, but each Ansible worker would have to import it.
    body = body.removeprefix(codecs.BOM_UTF8)
    value = json.loads(body.decode(), **(STRICT if LONG_NUMBER.search(body) else {}))
    if body.count(b"[") + body.count(b"{") > MAX_DEPTH and not is_shallow(value):
        raise Excessive(f"the response is nested more than {MAX_DEPTH} levels deep")
    if HALF_CHARACTER.search(body):
        whole = json.dumps(value, ensure_ascii=False).encode("utf-16", "surrogatepass")
        value = json.loads(whole.decode("utf-16", "replace"))
    return value


HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
"""Matches an escaped surrogate. A lone one cannot be written to a file or terminal."""


def bounded_number(text: str) -> float:
    """Parse a number, in the cases that JSON's own parser may read as one without a finite value."""
    if not math.isfinite(value := float(text)):
        raise Excessive("the response holds a number without bounds, such as NaN or 1e999")
    return value if set(text) & set(".eE") else int(text)


LONG_NUMBER = re.compile(rb"\d(?<!\d\d)\d{199}|(?<![^\s:,\[])-?\d[\d.]*[eE]\+?\d{3}|NaN|Infinity")
"""200 digits and an exponent of two are the most that is finite. Digits are looked at once, and ids
are no numbers."""
STRICT: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), bounded_number)
"""To read all numbers in Python takes twice as long."""


def is_shallow(value: Any) -> bool:
    """Tell whether ``value`` is nested at most :data:`MAX_DEPTH` levels deep."""
    level = [value]
    for _level in range(MAX_DEPTH):
        inside = (each.values() if isinstance(each, dict) else each for each in level)
        level = [item for items in inside for item in items if isinstance(item, (dict, list))]
    return not level


# --- Everything else --------------------------------------------------------------------------------


def error_for_response(
    route: Route[Any], response: Response, redact: Callable[[str], str]
) -> errors.HostedError:
    """Return what a response that is not 2xx means, with the platform's message and advice for the user."""
    status = response.status
    if status < 200:
        return errors.Interrupted(f"the server answered {status}, and no final response came")
    if status < 400:
        said = f"the server answered with a redirect ({status}), which is not followed"
        if status == HTTPStatus.SEE_OTHER and not route.idempotency.resendable:
            # By RFC 9110, it may follow a call that was carried out, and say where its result is.
            return errors.Interrupted(f"{said}, so the result of the call was not read")
        return errors.Redirected(f"{said}; is base_url the address of the API itself?")
    # Redaction comes before truncation, because half a secret would not be recognized.
    said = clean(redact(message_in(response.body)[:MAX_MESSAGE])) or errors.NO_REASON
    if status == 429 or errors.leaves_open(status):
        after = retry_after_seconds(response.retry_after, response.date)
        if status == 429:
            return errors.RateLimited(f"too many requests (429){describe_pause(after)}: {said}", after)
        return errors.ServerFailure(f"the platform failed ({status}): {said}", after, status=status)
    who = "the token was not accepted" if status == 401 else "the platform refused"
    said, scope = f"{who} ({status}): {said}", route.scope
    if status in (401, 403) and scope not in said:
        said = f"{said.rstrip('.')}. This route needs scope {scope}"
    if status == 404 and route.method == "GET" and "{" not in route.path:  # a list is always there
        said += ". Is base_url the address of the API itself?"
    return errors.error_for_status(said, status)


def describe_pause(seconds: float | None) -> str:
    """Return what a server asks for with ``Retry-After``, for messages; nothing if it does not."""
    return "" if seconds is None else f"; it asks for a pause of {seconds:.0f} seconds"


def message_in(body: bytes) -> str:
    """Return the message in an error's body, be it JSON, HTML or plain text; empty if there is none."""
    with suppress(ValueError, RecursionError):
        said = parse(body)
        said = said.get("message", said) if isinstance(said, dict) else said
        if isinstance(said, list):
            said = "; ".join(map(str, said))
        return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False) if said else ""
    said = body[:MAX_MESSAGE].decode(errors="replace")
    if body.lstrip()[:1] == b"<":
        said = " ".join(TAG.sub(" ", said).split())
        said = f"a web page, as proxies send: {said}" if said else ""
    return said if any(char.isalnum() for char in said) else ""


# --- Retries ----------------------------------------------------------------------------------------


def wait_for_retry(seconds: float, reason: str, report: Callable[[str], None]) -> None:
    """Wait before a retry, and report that every second."""
    while seconds > 0:
        report(f"retrying in {seconds:.0f} s: {reason}")
        time.sleep(min(seconds, 1.0))
        seconds -= 1.0


def pause_before_retry(error: errors.HostedError, failures: int) -> float:
    """Return the seconds before the next attempt: what the server asked for, else exponential backoff.

    The pause is random, so that clients that failed together do not retry together: its bound doubles with
    each failure. A limit of requests takes longer to let one through than a connection takes to come back.
    """
    asked = error.pause_asked
    is_limit = isinstance(error, errors.RateLimited) and asked is None
    doublings = min(failures - 1 + (LIMIT_DOUBLINGS if is_limit else 0), 10)  # no float overflows
    pause = random.uniform(0, min(FIRST_PAUSE * 2**doublings, LONGEST_PAUSE))  # noqa: S311 - no secret
    return pause if asked is None else min(asked, MAX_RETRY_AFTER) + min(pause, 1)


def retry_after_seconds(value: str | None, date: str) -> float | None:
    """Return the seconds in a ``Retry-After`` header: a number, or a date to compare with ``Date``."""
    with suppress(ValueError, OverflowError):
        return max(0.0, float(int(value or "")))
    when, now = parse_http_date(value or ""), parse_http_date(date)
    return None if when is None or now is None else max(0.0, (when - now).total_seconds())
