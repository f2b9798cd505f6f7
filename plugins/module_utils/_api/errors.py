# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can go wrong with a call, as one tree of exceptions.

The branches say what the caller may conclude:

* :class:`ConfigurationError`: nothing was sent, and that is final: no retry helps until the settings change.
* :class:`NotSent`: the platform did not act on the call. It may be sent again.
* :class:`CallOutcomeUnknown`: the platform may have acted or not. Only the state on the platform can tell.
* :class:`Refused`: the platform answered that it will not do it.
* :class:`UnexpectedAnswer`: it answered with success, in a shape that the specification rules out.
"""

from __future__ import annotations

from typing import Any, ClassVar

from .text import printable, shortened

NO_REASON = "no reason was given"
"""What an error says where the platform said nothing."""


class HostedError(Exception):
    """Base of all errors of the collection.

    ``message`` is a sentence for people, and can be printed whatever names of the platform are in it;
    ``details`` are data that the result of the task carries.
    """

    nothing_done: ClassVar[bool] = False
    """The platform certainly did not act on the call."""

    def __init__(self, message: str, **details: Any) -> None:
        self.message = shortened(printable(message))
        super().__init__(self.message)
        self.details = details


class ConfigurationError(HostedError):
    """A setting of the user is missing or wrong, or a library is not there."""

    nothing_done = True


class NotSent(HostedError):
    """The call did not reach the platform, or was turned away unread (429)."""

    nothing_done = True
    retry_after: float | None = None


class ConnectionFailed(NotSent):
    """No connection was made: name resolution, refused connection, connect time-out, proxy."""


class CertificateError(ConfigurationError):
    """The server's certificate was not accepted. The request was not sent; trying again will not help."""


class RateLimited(NotSent):
    """The platform answered 429. ``retry_after`` is the wait it asked for, in seconds, if it named one."""

    def __init__(self, message: str, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class CallOutcomeUnknown(HostedError):
    """Nobody knows yet whether the platform acted on this call: look before you send it again."""

    retry_after: float | None = None


class Interrupted(CallOutcomeUnknown):
    """The request went out and no whole answer came back: reset, time-out, cut-off body."""


class ServerFailure(CallOutcomeUnknown):
    """The platform, or a proxy before it, answered 5xx.

    ``explained`` tells that the platform itself says what went wrong, in more than the name of the status.
    """

    explained = False

    def __init__(self, message: str, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class MalformedResponse(CallOutcomeUnknown):
    """An answer of success whose body is not the JSON that was announced."""


class Refused(HostedError):
    """The platform responded with an error of its own (4xx): it did not do it.

    Only this package asks for the number. The others catch a branch below, or ask what a refusal may mean.
    Make one with :func:`refused`, so that its class and its number agree.
    """

    nothing_done = True
    may_mean_absent: ClassVar[bool] = False
    """It may be the way to say that what the call names is not there: with which status is not shown."""
    may_mean_not_offered: ClassVar[bool] = False
    """It may be the way to say that the service lacks the capability that the route needs (Errors)."""

    def __init__(self, message: str, status: int, **details: Any) -> None:
        super().__init__(message, status=status, **details)
        self.status = status

    @property
    def gives_reason(self) -> bool:
        """Tell whether the platform said why."""
        return NO_REASON not in self.message


class AccessDenied(Refused):
    """The token may not do this: :class:`TokenRejected`, or :class:`Forbidden`."""


class TokenRejected(AccessDenied):
    """401: the token is missing or invalid. Every other call would be refused as well."""


class Forbidden(AccessDenied):
    """403: the token lacks the scope, or the platform forbids this one thing."""

    may_mean_absent = True


class InvalidRequest(Refused):
    """400 or 422: the platform does not take what was sent."""

    may_mean_absent = True


class BadRequest(InvalidRequest):
    """400: the service does not offer it, or a value is out of bounds (Errors)."""

    may_mean_not_offered = True


class Unprocessable(InvalidRequest):
    """422: the request is well-formed, but the state of things forbids it, as a verdict does a deploy."""


class NotFoundResponse(Refused):
    """404 or 410. It means that an item is absent only where one item is read or deleted."""

    may_mean_absent = True


class Conflict(Refused):
    """409: it contradicts what is there, a limit, or what the service is doing at the moment."""

    may_mean_absent = True


class Locked(Refused):
    """423 or 425: not now. The same call may be taken later."""


REFUSALS: dict[int, type[Refused]] = {
    400: BadRequest,
    401: TokenRejected,
    403: Forbidden,
    404: NotFoundResponse,
    409: Conflict,
    410: NotFoundResponse,
    422: Unprocessable,
    423: Locked,
    425: Locked,
}


def refused(message: str, status: int, **details: Any) -> Refused:
    """Return the error for a response of this HTTP status."""
    return REFUSALS.get(status, Refused)(message, status, **details)


class Redirected(HostedError):
    """The server answered with a redirect, which is not followed: a token goes to one host only."""


class UnexpectedAnswer(HostedError):
    """A field that is needed is missing or of another type than the specification shows."""


OF_A_CALL = (NotSent, CallOutcomeUnknown, Refused, UnexpectedAnswer)
"""What a single call ends in. Such an error knows nothing of the calls before it."""
