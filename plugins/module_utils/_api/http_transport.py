# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends requests to the platform and to image registries, bounded in time and size. Knows no routes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import urlsplit
from urllib.request import getproxies_environment

from . import errors
from .bounded_call import run_bounded
from .connection import is_loopback
from .libraries import requests, urllib3
from .text import clean

MAX_BODY = 256 * 1024 * 1024
"""The largest response in bytes, unpacked: a list of a million entries is smaller."""
MAX_CONNECT = 10.0
MAX_IDLE = 32
"""The number of idle connections that are kept: enough for as many tasks that call at once."""
CHUNK = 64 * 1024
OPENSSL_CODE = re.compile(r"^\[\w+(: \w+)?\] ")
NO_AUTHORITIES = ("NO_CERTIFICATE_OR_CRL_FOUND", "PEM", "unknown error (_ssl.c")
NO_COMMON_TLS = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNSUPPORTED_PROTOCOL", "HANDSHAKE_FAILURE")
"""OpenSSL's names for a peer that does not speak TLS, or no version of it that both sides support."""


@dataclass(frozen=True)
class Request:
    """An HTTP request. ``body`` is sent as JSON; ``verify`` is the argument of requests.

    ``fresh`` opens a new connection: a kept one that the server has just closed shows only when a request
    fails on it, and then it is unknown whether the server acted.
    """

    method: str
    url: str
    body: Any
    headers: Mapping[str, str]
    verify: bool | str
    fresh: bool = False


@dataclass(frozen=True)
class Response:
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
        """

    def clone(self) -> Transport:
        """Return a transport with its own connections, for another thread."""

    def close(self) -> None:
        """Close all idle connections."""


@dataclass
class HttpTransport:
    """Sends requests over connections that it keeps open, for any thread.

    It is an adapter of requests, with its pools, TLS and proxies. A session would do more: read ``~/.netrc``,
    keep cookies, which outlive their token, follow redirects, and ask macOS for proxies.
    """

    _adapters: dict[bool | str, Any] = field(default_factory=dict)
    """By what checks certificates: a connection that was not checked is for nobody who asks for that."""

    def clone(self) -> HttpTransport:
        return HttpTransport()

    def close(self) -> None:
        for adapter in list(self._adapters.values()):  # others may add one meanwhile
            adapter.close()

    def exchange(self, request: Request, seconds: float) -> Response:
        return run_bounded(seconds, lambda: self.send(request, seconds))

    def send(self, request: Request, seconds: float) -> Response:
        """Exchange, where ``seconds`` bounds each wait for the server, not their sum."""
        try:
            with self.open(request, seconds, most=MAX_BODY) as response:
                got, after = response.headers, response.headers.get("Retry-After")
                said = got.get("Content-Type", ""), got.get("Date", "")
                return Response(response.status_code, after, response.content, *said)
        except (OSError, ValueError, urllib3.exceptions.HTTPError) as error:  # those of requests are OSErrors
            raise failure(error, request.url, request.verify) from None

    def open(self, request: Request, seconds: float, data: Any = None, most: int | None = None) -> Any:
        """Send a request, or bytes; return the response of requests, with its body of ``most`` bytes.

        Without ``most``, the body is left to be read. No redirect is followed, and nothing is sent twice.
        """
        verify, url = request.verify, request.url
        headers = {"Accept-Encoding": requests.utils.DEFAULT_ACCEPT_ENCODING, **request.headers}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
            data = json.dumps(request.body, allow_nan=False).encode()
        if verify is True:  # the environment may name the authorities
            verify = os.environ.get("REQUESTS_CA_BUNDLE") or os.environ.get("CURL_CA_BUNDLE") or True
        elif verify is False:  # which the user asked for
            urllib3.disable_warnings()
        if isinstance(verify, str) and url.startswith("https:") and not os.path.exists(verify):
            raise errors.ConfigurationError(
                f"cannot send: the file of certificate authorities {verify!r} does not exist"
            )
        adapter = requests.adapters.HTTPAdapter(pool_maxsize=MAX_IDLE)
        if not request.fresh:
            adapter = self._adapters.setdefault(verify, adapter)
        response = adapter.send(
            requests.Request(request.method, url, headers, data=data).prepare(),
            stream=True,
            timeout=(min(MAX_CONNECT, seconds), seconds),
            verify=verify,
            proxies=getproxies_environment() and proxies_for(url),
        )
        if most is not None:
            parts = bytearray()
            for part in response.iter_content(CHUNK):
                parts += part
                if len(parts) > most:
                    response.close()
                    raise errors.UnexpectedAnswer(f"the response is larger than {most // 1024 // 1024} MB")
            response._content = bytes(parts)  # noqa: SLF001 - as requests keeps it
        return response


def proxies_for(url: str) -> dict[str, str]:
    """Return the ``proxies`` argument of an adapter: those of the environment, unless ``NO_PROXY`` holds.

    What is sent to this machine does not leave it. Without proxies in the environment, requests would ask
    macOS for some, which crashes in a forked process (https://github.com/python/cpython/issues/75999).
    """
    found: dict[str, str] = getproxies_environment()
    if not found or is_loopback(urlsplit(url).hostname or ""):
        return {}
    return {} if requests.utils.should_bypass_proxies(url, no_proxy=None) else found


# --- Failures ---------------------------------------------------------------------------------------


def failure(error: Exception, url: str, verify: bool | str, address: str = "base_url") -> errors.HostedError:
    """Return what an exception of requests means: above all, whether the request can have reached the server.

    :param address: what names the server, for the user to check.
    """
    reason, server = root_reason(error), "{0.scheme}://{0.netloc}".format(urlsplit(url))
    proxy = isinstance(error, requests.exceptions.ProxyError)
    of_tls = proxy or isinstance(error, requests.exceptions.SSLError)
    if of_tls and (refused := tls_refusal(str(error), reason, server, verify)):
        return errors.ConfigurationError(refused)  # which no retry can fix
    if was_never_connected(error):
        way, doubt = (" by way of the proxy", ", and the proxy") if proxy else ("", "")
        return errors.ConnectionFailed(
            f"cannot connect to {server}{way}: {reason}. Is {address} right, and the server up{doubt}?"
        )
    # An invalid URL, header or body. A character that cannot be encoded may be found later, and a header of
    # the response that is invalid is found once the request was sent.
    of_response = bool(error.args) and isinstance(error.args[0], urllib3.exceptions.InvalidHeader)
    if isinstance(error, ValueError) and not (of_response or isinstance(error, UnicodeError)):
        return errors.ConfigurationError(f"cannot send: {reason}")
    return errors.Interrupted(f"the connection broke before the response was complete: {reason}")


def tls_refusal(said: str, reason: str, server: str, verify: bool | str) -> str:
    """Return what to say of a TLS handshake; nothing for other errors."""
    if any(name in said for name in NO_AUTHORITIES):
        named = f"no certificate can be read from {str(verify)!r}: {reason}"
        return f"{named}. Does ca_path name a file of certificates in PEM form?"
    if "certificate" in said.lower():
        refused = f"the server's certificate was not accepted: {reason}"
        return f"{refused}. If it is signed by an authority of your own, name its file in ca_path"
    if any(name in said for name in NO_COMMON_TLS):
        return f"no TLS with {server}: {reason}. Does the server speak https at this address?"
    return ""


def was_never_connected(error: Exception) -> bool:
    """Tell whether no connection was made for a request, or a proxy refused to make one.

    A proxy is also blamed if the connection breaks after the request was sent through it: the platform may
    have acted.
    """
    cause, of_urllib3 = error.args[0] if error.args else error, urllib3.exceptions
    cause = getattr(cause, "reason", cause)
    if isinstance(cause, of_urllib3.ProxyError):
        cause = cause.original_error
        if str(cause).startswith("Tunnel connection failed"):
            return True
    never = of_urllib3.NewConnectionError, of_urllib3.ConnectTimeoutError, of_urllib3.ClosedPoolError
    return isinstance(cause, never)


def root_reason(error: BaseException) -> str:
    """Return the message of the innermost exception in one of requests, which wraps those of urllib3."""
    reason: Any = error
    while isinstance(reason, BaseException):
        innermost = reason
        found = [getattr(reason, "reason", None), *reason.args]
        reason = next((each for each in found if isinstance(each, Exception)), None)
    said = OPENSSL_CODE.sub("", str(innermost))
    return clean(said.rpartition(": ")[2] or type(innermost).__name__)
