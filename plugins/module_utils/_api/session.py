# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes calls to the platform: retries where that is safe, within a deadline, and decodes the response."""

from __future__ import annotations

import codecs
import json
import math
import random
import re
import time
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

from . import errors
from .connection import Connection
from .http_transport import HttpTransport, Request, Response, Transport
from .platform_clock import PlatformClock, parse_http_date
from .routes import Idempotency, Route, Undocumented
from .text import Redactor, clean, tell_secrets

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
MIN_TIME_TO_WRITE = 5.0
"""The seconds that must be left to retry a call that cannot be resent: cut off, its outcome is unknown."""
SENTENCES = ("message", "detail", "error_description", "error", "title", "errors")
"""The keys of the message in an error's body. The specification shows the first one."""
TAG = re.compile(r"<(style|script)\b.*?(?:</\1>|\Z)|<[^<>]*>", re.DOTALL | re.IGNORECASE)
"""Matches a tag. Those without an end are not searched for it again and again."""


class Session:
    """Makes calls, one at a time. Not thread-safe; give each thread a :meth:`clone`.

    :param log: called with one line per request, without secrets.
    :param transport: sends the requests; by default, a new :class:`HttpTransport`.
    """

    def __init__(
        self,
        connection: Connection,
        log: Callable[[str], None] | None = None,
        transport: Transport | None = None,
    ) -> None:
        tell_secrets([connection.token])
        self.connection = connection
        self.clock = PlatformClock()
        self.received_bytes = 0
        """The size of all responses so far."""
        self.attempts_of_call = 0
        """The number of requests that the last call took, retries included."""
        self.next_turn: Callable[[float], float] = lambda now: now
        """Asked before each request, retries included, when it may be sent."""
        self.on_refusal: Callable[[float], None] = lambda sent: None
        """Told at once when the request of each 429 was sent, be it retried or not."""
        self.on_pause: Callable[[str], None] = lambda line: None
        """Told every second of a pause before a retry how long it goes on and why, for progress."""
        self.log = log or (lambda line: None)
        self._transport = transport or HttpTransport()
        self.hide(tuple)

    def hide(self, secrets: Callable[[], Iterable[str]]) -> None:
        """Redact the strings that ``secrets`` returns, and the token, from all later messages.

        ``secrets`` is called for the first message. Redaction comes before truncation, because half a secret
        would not be recognized.
        """
        self._secrets = secrets
        self._redactor: Redactor | None = None

    def redact(self, said: str) -> str:
        """Return a message with its secrets redacted."""
        if self._redactor is None:
            self._redactor = Redactor([self.connection.token, *self._secrets()])
        return self._redactor(said)

    def clone(self) -> Session:
        """Return a session with the same settings and its own connections, for another thread."""
        clone = Session(self.connection, self.log, self._transport.clone())
        clone.hide(self._secrets)
        clone.on_pause = self.on_pause
        clone.clock = self.clock
        return clone

    def close(self) -> None:
        """Close all open connections."""
        self._transport.close()

    def send(
        self,
        route: Route[Any],
        ids: dict[str, Any],
        query: dict[str, Any] | None = None,
        body: Any = None,
        seconds: float | None = None,
    ) -> Any:
        """Make a call, with retries, and return the decoded response; ``None`` if its body is empty.

        :param ids: the values of the path's placeholders.
        :param query: without what is null.
        :param seconds: the deadline of the call with all its attempts; the first attempt may use it up. By
            default, the connection's timeout or, if longer, the route's; an attempt that can be retried then
            uses at most half of it. A call that cannot be resent is retried only while there is time for it.
        :raises HostedError: one of its subclasses; see :mod:`errors`.
        """
        url = self.connection.base_url + route.url(ids, lambda text: quote(text, safe=""))
        given = {name: value for name, value in (query or {}).items() if value is not None}
        if given:  # not every server decodes a plus to a space
            url += f"?{urlencode(given, quote_via=quote)}"
        resendable = route.idempotency.resendable
        allowed = max(self.connection.timeout, route.min_timeout) if seconds is None else seconds
        longest = allowed / 2 if resendable and seconds is None else allowed  # leaves time for a retry
        needed = 0.0 if resendable else min(MIN_TIME_TO_WRITE, allowed / 2)
        deadline = time.monotonic() + allowed
        self.attempts_of_call, lost = 0, None
        while True:
            now = time.monotonic()
            if (turn := self.next_turn(now) - now) > 0:
                time.sleep(turn)
                deadline += turn
            try:
                left = min(deadline - time.monotonic(), longest)
                return self._attempt(route, url, body, max(left, 0.001))
            except errors.HostedError as error:
                failures = self.attempts_of_call
                pause = pause_before_retry(error, failures)
                final = failures > self.connection.retries or not may_send_again(error, route)
                if final or time.monotonic() + pause + needed >= deadline:
                    raise error_of_call(error, lost) from error.__cause__
                if error.effect_unknown and route.idempotency is not Idempotency.READ:
                    lost = error
                reason = error.message
            wait_for_retry(pause, reason, self.on_pause)

    def _attempt(self, route: Route[Any], url: str, body: Any, seconds: float) -> Any:
        begun, outcome = time.monotonic(), "no answer"
        self.attempts_of_call += 1
        connection, fresh = self.connection, not route.idempotency.resendable
        request = Request(route.method, url, body, connection.headers, connection.verify, fresh)
        try:
            response = self._transport.exchange(request, seconds)
            outcome = str(response.status)
            self.received_bytes += len(response.body)
            self.clock.set(response.date)
            return read_response(route, response, self.redact)
        except TimeoutError:
            raise errors.Interrupted(f"{route}: no complete response within {seconds:.3g} seconds") from None
        except errors.HostedError as error:
            if isinstance(error, errors.RateLimited):
                self.on_refusal(begun)
            error.reworded(f"{route}: {self.redact(error.message)}")
            raise
        finally:
            took = (time.monotonic() - begun) * 1000
            self.log(f"{route.method} {url.partition('?')[0]} -> {outcome} in {took:.0f} ms")


# --- Retries ----------------------------------------------------------------------------------------


def may_send_again(error: BaseException, route: Route[Any]) -> bool:
    """Tell whether a call that ended in ``error`` can safely be retried."""
    if isinstance(error, errors.CallOutcomeUnknown):
        return route.idempotency.resendable
    return isinstance(error, errors.NotSent)


def error_of_call(last: errors.HostedError, lost: errors.HostedError | None) -> errors.HostedError:
    """Return the error of a call whose last attempt ended in ``last``.

    The response to an earlier attempt, ``lost``, may not have arrived, though the platform acted on it.
    """
    if lost is None or last.effect_unknown:
        return last
    if isinstance(last, errors.NotSent):
        return errors.Interrupted(f"{lost.message}; the retry failed: {last.message}", **last.details)
    return last.doubted()


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
    asked = errors.pause_asked(error)
    is_limit = isinstance(error, errors.RateLimited) and asked is None
    doublings = min(failures - 1 + (LIMIT_DOUBLINGS if is_limit else 0), 10)  # no float overflows
    pause = random.uniform(0, min(FIRST_PAUSE * 2**doublings, LONGEST_PAUSE))  # noqa: S311 - no secret
    return pause if asked is None else min(asked, MAX_RETRY_AFTER) + min(pause, 1)


def retry_after_seconds(value: str | None, date: str) -> float | None:
    """Return the seconds in a ``Retry-After`` header: a number or a date. ``None`` if it is neither.

    :param date: the ``Date`` header of the same response, which one is compared with.
    """
    if value is None:
        return None
    try:
        return max(0.0, float(int(value)))
    except (ValueError, OverflowError):
        pass
    when, now = parse_http_date(value), parse_http_date(date)
    return None if when is None or now is None else max(0.0, (when - now).total_seconds())


# --- Responses --------------------------------------------------------------------------------------


def check_status(route: Route[Any], response: Response, redact: Callable[[str], str]) -> None:
    """Check that a response is one of 2xx.

    :raises HostedError: what any other response means.
    """
    status = response.status
    if status < HTTPStatus.OK:
        raise errors.Interrupted(f"the server answered {status}, and no final response came")
    if status >= HTTPStatus.BAD_REQUEST:
        raise error_for_response(route, response, error_message(response.body, redact))
    if status >= HTTPStatus.MULTIPLE_CHOICES:
        said = f"the server answered with a redirect ({status}), which is not followed"
        if status == HTTPStatus.SEE_OTHER and not route.idempotency.resendable:
            # By RFC 9110, it may follow a call that was carried out, and say where its result is.
            raise errors.Interrupted(f"{said}, so the result of the call was not read")
        raise errors.Redirected(f"{said}; is base_url the address of the API itself?")


def read_response(route: Route[Any], response: Response, redact: Callable[[str], str]) -> Any:
    """Return the JSON of a 2xx response; ``None`` if nothing depends on its body, which is not JSON.

    :raises UnexpectedAnswer: if it is too large or too deeply nested.
    :raises HostedError: what any other response means.
    """
    check_status(route, response, redact)
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
    text = body.removeprefix(codecs.BOM_UTF8).decode()
    value = json.loads(text, **STRICT) if LONG_NUMBER.search(body) else json.loads(text)
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


LONG_NUMBER = re.compile(rb"\d(?<!\d\d)\d{199}|[eE]\+?\d{3}|NaN|Infinity")
"""200 digits and an exponent of two are the most that is finite. Digits are looked at once."""
STRICT: dict[str, Any] = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), bounded_number)
"""To read all numbers in Python takes twice as long."""


def is_shallow(value: Any) -> bool:
    """Tell whether ``value`` is nested at most :data:`MAX_DEPTH` levels deep."""
    holders = [value]
    for _level in range(MAX_DEPTH):
        holders = [
            item
            for holder in holders
            for item in (holder.values() if isinstance(holder, dict) else holder)
            if isinstance(item, (dict, list))
        ]
        if not holders:
            return True
    return False


def error_for_response(route: Route[Any], response: Response, said: str) -> errors.HostedError:
    """Return the error for a 4xx or 5xx response, with the platform's message and advice for the user."""
    after = retry_after_seconds(response.retry_after, response.date)
    status = response.status
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        return errors.RateLimited(f"too many requests (429){describe_pause(after)}: {said}", after)
    if errors.leaves_open(status):
        failure = errors.ServerFailure(f"the platform failed ({status}): {said}", after, status=status)
        failure.timed_out = errors.is_time_out(status)
        return failure
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return errors.error_for_status(access_denied(route, status, said), status)
    is_list = route.method == "GET" and "{" not in route.path
    doubt = ". Is base_url the address of the API itself?" if status == 404 and is_list else ""
    return errors.error_for_status(f"the platform refused ({status}): {said}{doubt}", status)


def describe_pause(seconds: float | None) -> str:
    """Return what a server asks for with ``Retry-After``, for messages; nothing if it does not."""
    return "" if seconds is None else f"; it asks for a pause of {seconds:.0f} seconds"


def access_denied(route: Route[Any], status: int, said: str) -> str:
    """Return the message for a 401, which is about the token, or a 403, which may be about its scope."""
    who = "the token was not accepted" if status == HTTPStatus.UNAUTHORIZED else "the platform refused"
    message, scope = f"{who} ({status}): {said}", route.scope.value
    return message if scope in said else f"{message.rstrip('.')}. This route needs scope {scope}"


def error_message(body: bytes, redact: Callable[[str], str]) -> str:
    """Return the message in an error's body, redacted and safe to print.

    Redaction comes before truncation, because half a secret would not be recognized.
    """
    return clean(redact(message_in(body)[:MAX_MESSAGE])) or errors.NO_REASON


def message_in(body: bytes) -> str:
    """Return the message in an error's body, be it JSON, HTML or plain text; empty if there is none."""
    try:
        said = parse(body)
    except (ValueError, RecursionError):
        said = body[:MAX_MESSAGE].decode(errors="replace")
        if body.lstrip()[:1] == b"<":
            said = " ".join(TAG.sub(" ", said).split())
            said = f"a web page, as proxies send: {said}" if said else ""
        return said if any(char.isalnum() for char in said) else ""
    return sentence(said)


def sentence(said: Any) -> str:
    """Return the message in an error's JSON, or all of the JSON if no key is known to hold it."""
    if isinstance(said, dict):
        key = next((key for key in SENTENCES if said.get(key)), None)
        if key is not None:
            return sentence(said[key])
    if isinstance(said, list):
        return "; ".join(filter(None, map(sentence, said)))
    if isinstance(said, str):
        return said
    return json.dumps(said, ensure_ascii=False) if said else ""
