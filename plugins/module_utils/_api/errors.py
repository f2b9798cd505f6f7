# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors of calls: their classes tell whether the platform acted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, Self

from .text import printable, shortened

NO_REASON = "no reason was given"
"""Stands in for the platform's message when it sent none."""


class HostedError(Exception):
    """Base class of all errors of the collection. ``details`` are returned in the task's result."""

    nothing_done: bool = False
    """Whether the platform certainly did not act on the call, so that it can be retried."""
    effect_unknown: bool = False
    """Whether nobody knows if the platform acted on the call."""

    def __init__(self, message: str, pause_asked: Any = None, **details: Any) -> None:
        self.message = shortened(printable(message))
        super().__init__(self.message)
        self.pause_asked: float | None = pause_asked
        """The pause in seconds that the platform asked for before the next call, if any."""
        self.details = details

    def prepend(self, text: str) -> Self:
        return self.reworded(text + self.message)

    def append(self, text: str) -> Self:
        return self.reworded(self.message + text)

    def reworded(self, message: str) -> Self:
        self.message = printable(message)
        self.args = (self.message,)
        return self

    def doubted(self) -> Self:
        """Return the same error, of a retry. The platform may have acted on an attempt before it."""
        self.nothing_done, self.effect_unknown = False, True
        return self.append(". An earlier attempt, whose response was lost, may have been carried out")

    def after_lost(self, lost: HostedError) -> HostedError:
        """Return the error of a call that ended in this one, and of which an earlier attempt was lost."""
        if self.effect_unknown:
            return self
        if isinstance(self, NotSent):
            return Interrupted(f"{lost.message}; the retry failed: {self.message}", **self.details)
        return self.doubted()


@contextmanager
def undone_if_nothing_happened(undo: Callable[[], object]) -> Iterator[None]:
    """Undo what was noted before a call if that fails and the platform certainly did not act on it."""
    try:
        yield
    except HostedError as error:
        if error.nothing_done:
            undo()
        raise


class ConfigurationError(HostedError):
    """A setting is missing or invalid, or a library is not installed. Nothing was sent."""

    nothing_done = True


class NotSent(HostedError):
    """The call did not reach the platform, or was rate-limited (429)."""

    nothing_done = True


class ConnectionFailed(NotSent):
    """No connection could be opened: DNS failure, connection refused, connect timeout, proxy."""


class RateLimited(NotSent):
    """429: too many requests."""


class CallOutcomeUnknown(HostedError):
    """The platform may have acted, as if its response is no JSON. Read its state before a retry."""

    effect_unknown = True


class Interrupted(CallOutcomeUnknown):
    """The request was sent, but no complete response arrived: reset, timeout, truncated body."""


class ServerFailure(CallOutcomeUnknown):
    """5xx or 408, from the platform or a proxy in front of it."""

    @property
    def timed_out(self) -> bool:
        """Whether a gateway only stopped waiting for the platform, which may go on."""
        return self.details.get("status") in TIME_OUTS


class Refused(HostedError):
    """4xx, but not 408: the platform refused the call and did not act, unless ``effect_unknown`` says so.

    Outside this package, catch a subclass or use the ``may_mean_...`` attributes instead of ``status``.
    """

    nothing_done = True
    may_mean_not_offered: ClassVar[bool] = False
    """Whether this may mean that the service lacks the capability for the route (Errors)."""

    def __init__(self, message: str, status: int, **details: Any) -> None:
        super().__init__(message, status=status, **details)
        self.status = status


class AccessDenied(Refused):
    """403: the token lacks the scope, or the platform forbids this one call; or it is rejected (401)."""


class TokenRejected(AccessDenied):
    """401: the token is missing or invalid. Every other call would fail, too."""


class BadRequest(Refused):
    """400: the service lacks the capability, or a value is missing or out of bounds (Errors)."""

    may_mean_not_offered = True


class Unprocessable(Refused):
    """422: the request is valid, but the current state forbids it, such as the verdict on a release."""


class NotFoundResponse(Refused):
    """404 or 410. Proves that an item is absent only when a single item is read or deleted."""


class Conflict(Refused):
    """409: the call conflicts with existing data, a limit, or the current state of the service."""


class Locked(Refused):
    """423 or 425: temporarily refused. The same call may succeed later."""


REFUSALS: dict[int, type[Refused]] = {
    400: BadRequest,
    401: TokenRejected,
    403: AccessDenied,
    404: NotFoundResponse,
    409: Conflict,
    410: NotFoundResponse,
    422: Unprocessable,
    423: Locked,
    425: Locked,
}


TIME_OUTS = frozenset({408, 504, 524, 598})
"""The last two are what Cloudflare and other proxies say instead of 504."""


def leaves_open(status: int) -> bool:
    """Tell whether a response with this HTTP status leaves open whether the platform acted."""
    return status >= 500 or status in TIME_OUTS


def error_for_status(message: str, status: int, **details: Any) -> Refused:
    return REFUSALS.get(status, Refused)(message, status, **details)


class Redirected(HostedError):
    """3xx: the server redirects. Redirects are not followed, because the token is for one host only."""


class UnexpectedAnswer(HostedError):
    """A required field of the response is missing, or has another type than the specification shows."""


OF_A_CALL = (NotSent, CallOutcomeUnknown, Refused, UnexpectedAnswer)
"""The errors of a single call. They say nothing about the calls before it."""
