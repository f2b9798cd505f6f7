# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One exchange over HTTP: a request out, an answer back, bounded in time and size. Knows no routes."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

from . import errors
from .libraries import requests, urllib3
from .text import clean

MAX_BODY = 64 * 1024 * 1024
MAX_CONNECT = 10.0
CHUNK = 64 * 1024
OPENSSL_CODE = re.compile(r"^\[\w+(: \w+)?\] ")

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """What is sent. ``verify`` and ``proxies`` are as requests has them; ``body`` goes out as JSON.

    With ``fresh`` no connection is used that was open before: one that the server has just given up is
    found out only by a request that fails on it, and nobody would know whether the server acted.
    """

    method: str
    url: str
    query: Mapping[str, Any] | None
    body: Any
    headers: Mapping[str, str]
    verify: bool | str
    proxies: Mapping[str, str]
    fresh: bool

    @property
    def peer(self) -> tuple[str, bool | str]:
        """What requests have in common that may share a connection: the server, and how it is checked."""
        return origin(self.url), self.verify


@dataclass(frozen=True)
class Response:
    """An answer of the platform, whole."""

    status: int
    retry_after: str | None
    body: bytes
    content_type: str = ""


class Transport(Protocol):
    """What can carry out requests, one at a time."""

    def exchange(self, request: Request, seconds: float) -> Response:
        """Send a request and return its answer.

        :raises TimeoutError: when there is no whole answer after ``seconds``.
        :raises HostedError: when there will be none.
        """

    def clone(self) -> Transport:
        """Return another one, for another thread."""

    def close(self) -> None:
        """Close the connections that are kept open."""


class HttpTransport:
    """Carries out requests over a session of its own, whose connections stay open."""

    def __init__(self) -> None:
        self._session = open_session()
        self._thread = CallThread()
        self._settled: dict[tuple[str, bool | str], Any] = {}

    def clone(self) -> HttpTransport:
        """Return another one, for another thread."""
        return HttpTransport()

    def close(self) -> None:
        """Close the connections that are kept open."""
        self._session.close()
        self._thread.stop()

    def exchange(self, request: Request, seconds: float) -> Response:
        """Send a request and return its answer; see :class:`Transport`."""
        try:
            return self._thread.run(seconds, lambda: self.send(request, seconds))
        except TimeoutError:
            self._session = open_session()  # the old one is busy for as long as the server likes
            raise

    def send(self, request: Request, seconds: float) -> Response:
        """Send a request and return its answer. ``seconds`` bound each wait for the server, not their sum.

        :raises HostedError: when there will be no answer.
        """
        if request.fresh:
            self._session.close()
        try:
            with self._session.send(
                prepared(request),
                allow_redirects=False,
                timeout=(min(MAX_CONNECT, seconds), seconds),
                **self._surroundings(request),
            ) as response:
                headers = response.headers
                return Response(
                    response.status_code,
                    headers.get("Retry-After"),
                    read_body(response),
                    headers.get("Content-Type", ""),
                )
        except (requests.RequestException, OSError, UnicodeError) as error:
            raise translate(error, request) from None

    def _surroundings(self, request: Request) -> Any:
        """Return the proxies and authorities for a server, with those that the environment names.

        The environment is asked once: that takes a quarter of what a call costs.
        """
        server = request.peer
        if server not in self._settled:
            self._settled[server] = requests.Session().merge_environment_settings(
                request.url, dict(request.proxies), True, request.verify, None
            )
        return self._settled[server]


def prepared(request: Request) -> Any:
    """Return a request in the form that a session sends as it is, and adds nothing to.

    Asking each time what the session would add takes another quarter.
    """
    return requests.Request(
        request.method,
        request.url,
        headers={"Accept-Encoding": requests.utils.DEFAULT_ACCEPT_ENCODING, **request.headers},
        params=encoded(request.query),
        json=request.body,
    ).prepare()


def encoded(query: Mapping[str, Any] | None) -> str | None:
    """Return a query with each space as ``%20``, which every server reads; a plus is a space to some only."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return urlencode(given, doseq=True, quote_via=quote, safe="") or None


def open_session() -> Any:
    """Return a session that remembers connections and nothing else: a cookie would outlive its token."""
    # urllib3 warns of certificates that nobody looks at, which somebody asked for. A worker of Ansible is not
    # to write to the terminal by itself, and one of ansible-core 2.18 waits for ever when a thread tries to.
    # This is not done on import, as Ansible takes back what a plugin says of warnings then.
    urllib3.disable_warnings()
    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return session


class CallThread:
    """A thread that makes calls for someone who waits no longer than he wants. It is kept for the next one.

    Time-outs of sockets bound each read, not their sum, and do not bound name resolution at all. A thread
    that can be left behind bounds everything, whatever the other side does. Those of the standard library's
    pools cannot: Python waits for them at its end.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], Any] | None] | None = None
        self._outcomes: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run(self, seconds: float, call: Callable[[], T]) -> T:
        """Run ``call`` and return what it returns, but wait no longer than ``seconds``.

        :raises TimeoutError: when the time is up; the thread ends when its own socket time-outs do.
        """
        if self._calls is None:
            self._calls, self._outcomes = SimpleQueue(), SimpleQueue()
            arguments = (self._calls, self._outcomes)
            threading.Thread(target=make_calls, args=arguments, daemon=True, name="hosted.services").start()
        self._calls.put(call)
        try:
            value, error = self._outcomes.get(timeout=seconds)
        except Empty:
            self.stop()  # what comes later is the outcome of another call
            raise TimeoutError from None
        if error is not None:
            raise error
        result: T = value
        return result

    def stop(self) -> None:
        """Let the thread end when it is done with its call."""
        if self._calls is not None:
            self._calls.put(None)
            self._calls = None


def make_calls(
    calls: SimpleQueue[Callable[[], Any] | None], outcomes: SimpleQueue[tuple[Any, BaseException | None]]
) -> None:
    """Make each call and pass on its outcome, until there is ``None`` instead of one."""
    while (call := calls.get()) is not None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:  # handed over to the caller, whatever it is
            outcomes.put((None, error))


def read_body(response: Any) -> bytes:
    """Read the body whole, up to :data:`MAX_BODY` bytes."""
    parts, size = [], 0
    for chunk in response.iter_content(CHUNK):
        size += len(chunk)
        if size > MAX_BODY:
            raise errors.UnexpectedAnswer(f"the answer is larger than {MAX_BODY // 1024 // 1024} MB")
        parts.append(chunk)
    return b"".join(parts)


def translate(error: Exception, request: Request) -> errors.HostedError:
    """Turn an error of requests into one of ours, by whether the request can have reached the server."""
    reason, server = root_reason(error), origin(request.url)
    of_tls = (requests.exceptions.SSLError, requests.exceptions.ProxyError)
    if isinstance(error, of_tls) and (refused := tls_refusal(error, request)):
        return refused
    if isinstance(error, requests.exceptions.ConnectTimeout) or is_connection_failure(error):
        proxy = isinstance(error, requests.exceptions.ProxyError)
        way, doubt = (" by way of the proxy", ", and the proxy") if proxy else ("", "")
        return errors.ConnectionFailed(
            f"cannot connect to {server}{way}: {reason}. Is base_url right, and the server up{doubt}?"
        )
    invalid = (
        requests.exceptions.InvalidURL,
        requests.exceptions.InvalidHeader,
        requests.exceptions.InvalidProxyURL,
        requests.exceptions.InvalidSchema,
    )
    unsent = isinstance(error, OSError) and error.errno is None  # requests' own: a file that it cannot use
    if isinstance(error, invalid) or (unsent and not isinstance(error, NETWORK_ERRORS)):
        return errors.ConfigurationError(f"cannot send: {reason}")
    return errors.Interrupted(f"the connection broke before the answer was whole: {reason}")


def tls_refusal(error: Exception, request: Request) -> errors.ConfigurationError | None:
    """Return the error for a TLS connection that cannot come about, trying again or not; ``None`` for others.

    It is over before the request is sent.
    """
    said, reason = str(error), root_reason(error)
    if any(name in said for name in NO_AUTHORITIES):
        return errors.ConfigurationError(
            f"no certificate can be read from {str(request.verify)!r}: {reason}. Does ca_path name a file "
            "of certificates in PEM form?"
        )
    if "certificate" in said.lower():
        return errors.CertificateError(
            f"the server's certificate was not accepted: {reason}. "
            "If it is signed by an authority of your own, name its file in ca_path"
        )
    if any(name in said for name in NO_COMMON_TLS):
        return errors.ConfigurationError(
            f"no TLS with {origin(request.url)}: {reason}. Does the server speak https at this address?"
        )
    return None


def origin(url: str) -> str:
    """Return the server of a URL: what a person would look at."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


NO_AUTHORITIES = ("NO_CERTIFICATE_OR_CRL_FOUND", "PEM", "unknown error (_ssl.c")
NO_COMMON_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNSUPPORTED_PROTOCOL", "HANDSHAKE_FAILURE")
"""What OpenSSL calls a greeting that is not TLS, or not one that both sides know."""
NETWORK_ERRORS = (ConnectionError, TimeoutError, *((requests.RequestException,) if requests else ()))


def is_connection_failure(error: Exception) -> bool:
    """Tell whether urllib3 gave up before a connection stood, or a proxy refused to make one.

    It blames the proxy also for a connection that broke after the request went out over it, where the
    platform may have acted.
    """
    cause = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(cause, urllib3.exceptions.ProxyError):
        cause = cause.original_error
        if str(cause).startswith("Tunnel connection failed"):
            return True
    return isinstance(cause, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError))


def root_reason(error: BaseException) -> str:
    """Return the innermost reason of an error of requests, as a short phrase."""
    reason: Any = error
    while True:
        inner = getattr(reason, "reason", None)
        inner = inner or next(
            (arg for arg in getattr(reason, "args", ()) if isinstance(arg, Exception)), None
        )
        if not isinstance(inner, BaseException):
            break
        reason = inner
    said = OPENSSL_CODE.sub("", str(reason))
    return clean(said.rpartition(": ")[2] or type(reason).__name__)
