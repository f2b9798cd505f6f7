# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""HTTP transport: sends one request and returns its response, bounded in time and size. Knows no routes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from . import errors
from .call_thread import CallThread
from .libraries import urllib3
from .pools import open_pools, origin
from .text import clean

MAX_BODY = 256 * 1024 * 1024
"""The largest response in bytes, unpacked: a list of a million entries is smaller."""
MAX_CONNECT = 10.0
CHUNK = 64 * 1024
OPENSSL_CODE = re.compile(r"^\[\w+(: \w+)?\] ")


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
    date: str = ""


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
    """Sends requests over its own connections, which it keeps open."""

    def __init__(self) -> None:
        self._pools: dict[tuple[str, bool | str], Any] = {}
        """The pool manager of each server. Opening one reads the environment, which takes a while."""
        self._thread = CallThread()

    def clone(self) -> HttpTransport:
        """Return a transport with its own connections, for another thread."""
        return HttpTransport()

    def close(self) -> None:
        """Close all open connections."""
        self._close_connections()
        self._thread.stop()

    def _close_connections(self) -> None:
        for pools in self._pools.values():
            pools.clear()

    def exchange(self, request: Request, seconds: float) -> Response:
        """Send a request and return its response; see :meth:`Transport.exchange`."""
        try:
            return self._thread.run(seconds, lambda: self.send(request, seconds))
        except TimeoutError:
            self._pools = {}  # the abandoned thread still uses the old ones
            raise

    def send(self, request: Request, seconds: float) -> Response:
        """Send a request and return its response. ``seconds`` bounds each wait for the server, not their sum.

        :raises HostedError: if the exchange fails.
        """
        if request.fresh:
            self._close_connections()
        try:
            peer = request.peer
            pools = self._pools.get(peer)
            if pools is None:
                pools = self._pools[peer] = open_pools(request.url, request.verify, request.proxies)
            response = send_with(pools, request, seconds)
            try:
                headers = response.headers
                return Response(
                    response.status,
                    headers.get("Retry-After"),
                    read_body(response),
                    headers.get("Content-Type", ""),
                    headers.get("Date", ""),
                )
            finally:
                response.close()
        except (urllib3.exceptions.HTTPError, OSError, ValueError) as error:
            raise translate(error, request) from None


def send_with(pools: Any, request: Request, seconds: float) -> Any:
    """Send a request with a pool manager of urllib3. Return its response, whose body is not read yet.

    Cookies are not kept: they would outlive their token. A redirect is not followed, and nothing is retried.
    """
    query = encode_query(request.query)
    headers = {**ACCEPTED, **request.headers}
    body = None
    if request.body is not None:
        body = json.dumps(request.body, allow_nan=False).encode()
        headers["Content-Type"] = "application/json"
    return pools.request(
        request.method,
        f"{request.url}?{query}" if query else request.url,
        headers=headers,
        body=body,
        redirect=False,
        retries=False,
        preload_content=False,
        timeout=urllib3.Timeout(connect=min(MAX_CONNECT, seconds), read=seconds),
    )


def encode_query(query: Mapping[str, Any] | None) -> str | None:
    """Return a query string with spaces as ``%20``: not every server decodes a plus. Omits null values."""
    given = {name: value for name, value in (query or {}).items() if value is not None}
    return urlencode(given, doseq=True, quote_via=quote, safe="") or None


def read_body(response: Any) -> bytes:
    """Read the whole body.

    :raises UnexpectedAnswer: if it has more than :data:`MAX_BODY` bytes.
    """
    parts, size = [], 0
    for chunk in response.stream(CHUNK, decode_content=True):
        size += len(chunk)
        if size > MAX_BODY:
            raise errors.UnexpectedAnswer(f"the response is larger than {MAX_BODY // 1024 // 1024} MB")
        parts.append(chunk)
    return b"".join(parts)


def translate(error: Exception, request: Request) -> errors.HostedError:
    """Convert an exception of urllib3, by whether the request can have reached the server."""
    reason, server = root_reason(error), origin(request.url)
    proxy = isinstance(error, urllib3.exceptions.ProxyError)
    of_tls = proxy or isinstance(error, urllib3.exceptions.SSLError)
    if of_tls and (refused := tls_refusal(error, request)):
        return refused
    if is_connection_failure(error):
        way, doubt = (" by way of the proxy", ", and the proxy") if proxy else ("", "")
        return errors.ConnectionFailed(
            f"cannot connect to {server}{way}: {reason}. Is base_url right, and the server up{doubt}?"
        )
    # An invalid URL, header or body. A character that cannot be encoded may be found later.
    sent = (UnicodeError, urllib3.exceptions.ProtocolError)
    if isinstance(error, ValueError) and not isinstance(error, sent):
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
        return errors.ConfigurationError(
            f"the server's certificate was not accepted: {reason}. "
            "If it is signed by an authority of your own, name its file in ca_path"
        )
    if any(name in said for name in NO_COMMON_TLS):
        return errors.ConfigurationError(
            f"no TLS with {origin(request.url)}: {reason}. Does the server speak https at this address?"
        )
    return None


NO_AUTHORITIES = ("NO_CERTIFICATE_OR_CRL_FOUND", "PEM", "unknown error (_ssl.c")
NO_COMMON_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNSUPPORTED_PROTOCOL", "HANDSHAKE_FAILURE")
"""OpenSSL's names for a peer that does not speak TLS, or no version of it that both sides support."""
ACCEPTED = urllib3.util.make_headers(accept_encoding=True) if urllib3 else {}
"""The header that names the compressions which urllib3 can undo."""


def is_connection_failure(error: Exception) -> bool:
    """Tell whether urllib3 failed to connect, or a proxy refused to. ``error`` may be one of requests.

    urllib3 also raises ``ProxyError`` if the connection breaks after the request was sent through the proxy.
    That is no connection failure: the platform may have acted.
    """
    cause = getattr(error.args[0], "reason", error) if error.args else error
    if isinstance(cause, urllib3.exceptions.ProxyError):
        cause = cause.original_error
        if str(cause).startswith("Tunnel connection failed"):
            return True
    return isinstance(cause, (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError))


def root_reason(error: BaseException) -> str:
    """Return the message of the innermost exception in an error of urllib3 or requests."""
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
