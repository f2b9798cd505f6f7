# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP transport: sends one request and returns its response, bounded in time and size. Knows no routes."""

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
from .proxies import from_environment
from .text import clean

MAX_BODY = 64 * 1024 * 1024
MAX_CONNECT = 10.0
CHUNK = 64 * 1024
OPENSSL_CODE = re.compile(r"^\[\w+(: \w+)?\] ")

T = TypeVar("T")


@dataclass(frozen=True)
class Request:
    """An HTTP request. ``verify`` and ``proxies`` are those of requests; ``body`` is sent as JSON.

    ``fresh`` opens a new connection: a kept one that the server has just closed shows only when a request
    fails on it, and then it is unknown whether the server acted.
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
        """The key for sharing a connection: the server, and how its certificate is verified."""
        return origin(self.url), self.verify


@dataclass(frozen=True)
class Response:
    """A complete HTTP response."""

    status: int
    retry_after: str | None
    body: bytes
    content_type: str = ""


class Transport(Protocol):
    """Sends requests, one at a time."""

    def exchange(self, request: Request, seconds: float) -> Response:
        """Send a request and return its response.

        :raises TimeoutError: if no complete response arrives within ``seconds``.
        :raises HostedError: if the exchange fails.
        """

    def clone(self) -> Transport:
        """Return a transport with its own connections, for another thread."""

    def close(self) -> None:
        """Close all open connections."""


class HttpTransport:
    """Sends requests over its own session of requests, which keeps connections open."""

    def __init__(self) -> None:
        self._session = open_session()
        self._thread = CallThread()
        self._settled: dict[tuple[str, bool | str], dict[str, Any]] = {}

    def clone(self) -> HttpTransport:
        """Return a transport with its own connections, for another thread."""
        return HttpTransport()

    def close(self) -> None:
        """Close all open connections."""
        self._session.close()
        self._thread.stop()

    def exchange(self, request: Request, seconds: float) -> Response:
        """Send a request and return its response; see :meth:`Transport.exchange`."""
        try:
            return self._thread.run(seconds, lambda: self.send(request, seconds))
        except TimeoutError:
            self._session = open_session()  # the abandoned thread still uses the old one
            raise

    def send(self, request: Request, seconds: float) -> Response:
        """Send a request and return its response. ``seconds`` bounds each wait for the server, not their sum.

        :raises HostedError: if the exchange fails.
        """
        if request.fresh:
            self._session.close()
        try:
            with self._session.send(
                prepare_request(request),
                allow_redirects=False,
                timeout=(min(MAX_CONNECT, seconds), seconds),
                stream=True,
                **self._server_settings(request),
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

    def _server_settings(self, request: Request) -> dict[str, Any]:
        """Return the proxies and CAs for a server, including those of the environment.

        Cached per server: reading the environment takes a quarter of the time of a call.
        """
        server = request.peer
        if server not in self._settled:
            self._settled[server] = from_environment(request.url, request.verify, request.proxies)
        return self._settled[server]


def prepare_request(request: Request) -> Any:
    """Return a prepared request, which a session sends unchanged.

    Letting the session merge its own settings takes another quarter of the time of a call.
    """
    return requests.Request(
        request.method,
        request.url,
        headers={"Accept-Encoding": requests.utils.DEFAULT_ACCEPT_ENCODING, **request.headers},
        params=encode_query(request.query),
        json=request.body,
    ).prepare()


def encode_query(query: Mapping[str, Any] | None) -> str | None:
    """Return a query string with spaces as ``%20``: not every server decodes a plus. Omits null values."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return urlencode(given, doseq=True, quote_via=quote, safe="") or None


def open_session() -> Any:
    """Return a session that stores no cookies: a cookie would outlive its token."""
    # urllib3 warns about unverified certificates, which the user asked for. An Ansible worker must not write
    # to the terminal itself; in ansible-core 2.18, it hangs if one of its threads does. Disabling the
    # warnings on import has no effect, because Ansible restores the filters after it loads a plugin.
    urllib3.disable_warnings()
    session = requests.Session()
    session.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
    return session


class CallThread:
    """A reusable daemon thread that makes calls with a total timeout.

    Socket timeouts bound each read, not their sum, and do not bound name resolution at all. A daemon thread
    can be abandoned whatever it waits for. The threads of ``concurrent.futures`` cannot: Python joins them
    on exit.
    """

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], Any] | None] | None = None
        self._outcomes: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def run(self, seconds: float, call: Callable[[], T]) -> T:
        """Run ``call`` in the thread and return its result, or raise its exception.

        :raises TimeoutError: after ``seconds``. The abandoned thread ends with its own socket timeouts.
        """
        if self._calls is None:
            self._calls, self._outcomes = SimpleQueue(), SimpleQueue()
            arguments = (self._calls, self._outcomes)
            threading.Thread(target=make_calls, args=arguments, daemon=True, name="hosted.services").start()
        self._calls.put(call)
        try:
            value, error = self._outcomes.get(timeout=seconds)
        except Empty:
            self.stop()  # its late outcome must not pass for that of the next call
            raise TimeoutError from None
        if error is not None:
            raise error
        result: T = value
        return result

    def stop(self) -> None:
        """End the thread after its current call."""
        if self._calls is not None:
            self._calls.put(None)
            self._calls = None


def make_calls(
    calls: SimpleQueue[Callable[[], Any] | None], outcomes: SimpleQueue[tuple[Any, BaseException | None]]
) -> None:
    """Make each call and queue its outcome, until ``None`` arrives."""
    while (call := calls.get()) is not None:
        try:
            outcomes.put((call(), None))
        except BaseException as error:  # the caller raises it in its own thread
            outcomes.put((None, error))


def read_body(response: Any) -> bytes:
    """Read the whole body.

    :raises UnexpectedAnswer: if it has more than :data:`MAX_BODY` bytes.
    """
    parts, size = [], 0
    for chunk in response.iter_content(CHUNK):
        size += len(chunk)
        if size > MAX_BODY:
            raise errors.UnexpectedAnswer(f"the response is larger than {MAX_BODY // 1024 // 1024} MB")
        parts.append(chunk)
    return b"".join(parts)


def translate(error: Exception, request: Request) -> errors.HostedError:
    """Convert an exception of requests, by whether the request can have reached the server."""
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
    unsent = isinstance(error, OSError) and error.errno is None  # raised by requests for an unusable CA file
    if isinstance(error, invalid) or (unsent and not isinstance(error, NETWORK_ERRORS)):
        return errors.ConfigurationError(f"cannot send: {reason}")
    return errors.Interrupted(f"the connection broke before the response was complete: {reason}")


def tls_refusal(error: Exception, request: Request) -> errors.ConfigurationError | None:
    """Return the error for a TLS handshake that no retry can fix; ``None`` for other errors.

    The handshake fails before the request is sent.
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
    """Return the scheme, host and port of a URL."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


NO_AUTHORITIES = ("NO_CERTIFICATE_OR_CRL_FOUND", "PEM", "unknown error (_ssl.c")
NO_COMMON_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNSUPPORTED_PROTOCOL", "HANDSHAKE_FAILURE")
"""OpenSSL's names for a peer that does not speak TLS, or no version of it that both sides support."""
NETWORK_ERRORS = (ConnectionError, TimeoutError, *((requests.RequestException,) if requests else ()))


def is_connection_failure(error: Exception) -> bool:
    """Tell whether urllib3 failed to connect, or a proxy refused to.

    urllib3 also raises ``ProxyError`` if the connection breaks after the request was sent through the proxy.
    That is no connection failure: the platform may have acted.
    """
    cause = getattr(error.args[0], "reason", None) if error.args else None
    if isinstance(cause, urllib3.exceptions.ProxyError):
        cause = cause.original_error
        if str(cause).startswith("Tunnel connection failed"):
            return True
    return isinstance(cause, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError))


def root_reason(error: BaseException) -> str:
    """Return the message of the innermost exception in an error of requests."""
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
