# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Everything that can go wrong with a call, as one tree of exceptions.

The branches say what the caller may conclude:

* :class:`ConfigurationError`: nothing was sent, and nothing will be until the settings change.
* :class:`NotSent`: the platform did not act on the call. It may be sent again.
* :class:`OpenOutcome`: the platform may have acted or not. Only the state on the platform can tell.
* :class:`Refused`: the platform answered that it will not do it.
* :class:`UnexpectedAnswer`: it answered with success, in a shape that the specification rules out.
"""

from __future__ import annotations

from typing import Any

from .text import printable, shortened


class HostedError(Exception):
    """Base of all errors of the collection.

    ``message`` is a sentence for people, and can be printed whatever names of the platform are in it;
    ``details`` are data that the result of the task carries.
    """

    def __init__(self, message: str, **details: Any) -> None:
        self.message = shortened(printable(message))
        super().__init__(self.message)
        self.details = details


class ConfigurationError(HostedError):
    """A setting of the user is missing or wrong, or a library is not there."""


class NotSent(HostedError):
    """The call did not reach the platform, or was turned away unread (429)."""

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


class OpenOutcome(HostedError):
    """Nobody knows whether the platform acted."""

    retry_after: float | None = None


class Interrupted(OpenOutcome):
    """The request went out and no whole answer came back: reset, time-out, cut-off body."""


class ServerFailure(OpenOutcome):
    """The platform, or a proxy before it, answered 5xx.

    ``explained`` tells that the platform itself says what went wrong, in more than the name of the status.
    """

    explained = False

    def __init__(self, message: str, retry_after: float | None = None, **details: Any) -> None:
        super().__init__(message, **details)
        self.retry_after = retry_after


class MalformedResponse(OpenOutcome):
    """An answer of success whose body is not the JSON that was announced."""


class Refused(HostedError):
    """The platform answered with an error of its own (4xx). ``status`` is the HTTP status."""

    def __init__(self, message: str, status: int, **details: Any) -> None:
        super().__init__(message, status=status, **details)
        self.status = status


class Unauthorized(Refused):
    """401 or 403: the token is missing, invalid, or not of the scope that the route needs."""


class NotFound(Refused):
    """404 or 410. It means that an item is absent only where one item is read or deleted."""


class Conflict(Refused):
    """409."""


class Redirected(HostedError):
    """The server answered with a redirect, which is not followed: a token goes to one host only."""


class UnexpectedAnswer(HostedError):
    """A field that is needed is missing or of another type than the specification shows."""


OF_A_CALL = (NotSent, OpenOutcome, Refused, UnexpectedAnswer)
"""What a single call ends in. Such an error knows nothing of the calls before it."""
