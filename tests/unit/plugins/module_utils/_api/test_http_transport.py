# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which connections are used again, what is not carried to the next request, and what is given up."""

from __future__ import annotations

import errno
import json
import os
import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
import requests
import urllib3

from ansible_collections.hosted.services.plugins.module_utils._api import errors, http_transport
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    HttpTransport,
    Request,
    Transport,
)
from ansible_collections.hosted.services.plugins.plugin_utils._broker.client import BrokerClient

Ask = Callable[..., bytes]


class Platform(ThreadingHTTPServer):
    """Keeps connections open and counts them; its answers set a cookie and repeat what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.connections = 0
        self.closed = threading.Semaphore(0)
        self.cookies: list[str] = []

    def shutdown_request(self, request: Any) -> None:
        """Close a connection, and tell."""
        super().shutdown_request(request)
        self.closed.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """Keep quiet about those who hang up before the end of an answer."""


class Answers(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    server: Platform

    def setup(self) -> None:
        super().setup()
        self.server.connections += 1

    def do_GET(self) -> None:
        self.server.cookies += self.headers.get_all("Cookie") or []
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))) or self.path.encode()
        self.send_response(200)
        self.send_header("Set-Cookie", "session=someone; Path=/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = "last" in self.path

    do_POST = do_GET  # noqa: N815 - the library's name

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def platform() -> Iterator[Platform]:
    with Platform() as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(params=["own connections", "kept connections"])
def open_transport(request: pytest.FixtureRequest) -> Callable[[], Transport]:
    """Return what opens a transport."""
    if request.param == "own connections":
        return HttpTransport
    path = request.getfixturevalue("broker")
    return lambda: BrokerClient(path)


@pytest.fixture
def ask(platform: Platform) -> Ask:
    """Return a function that makes a request over a transport."""
    address = f"http://127.0.0.1:{platform.server_port}"

    def ask(over: Transport, path: str = "/", body: object = None, fresh: bool = False) -> bytes:
        method = "GET" if body is None else "POST"
        return over.exchange(Request(method, address + path, body, {}, True, fresh), 60).body

    return ask


def test_what_must_not_be_sent_twice_gets_a_fresh_connection(
    platform: Platform, open_transport: Callable[[], Transport], ask: Ask
) -> None:
    """One that was idle may be closed just now, and a request that fails on it may have been acted on."""
    over = open_transport()
    ask(over)
    assert json.loads(ask(over, body={"a": [1, None, "\ud7ff"]}, fresh=True)) == {"a": [1, None, "\ud7ff"]}
    assert platform.connections == 2
    ask(over)
    assert platform.connections == 2, "the first is as good as before"


def test_no_cookie_is_kept(platform: Platform, open_transport: Callable[[], Transport], ask: Ask) -> None:
    """It would be sent with the next token, on behalf of somebody else."""
    over = open_transport()
    ask(over)
    ask(over)
    assert platform.cookies == []


def test_kept_connections_outlive_those_who_use_them(platform: Platform, broker: str, ask: Ask) -> None:
    for _worker in range(3):
        over = BrokerClient(broker)
        ask(over)
        over.close()
    assert platform.connections == 1


@pytest.mark.parametrize("idle_seconds", [0.05])
def test_a_connection_that_is_idle_for_too_long_is_closed(platform: Platform, broker: str, ask: Ask) -> None:
    """It is closed when its time is up, although nobody makes another request; the broker serves on."""
    over = BrokerClient(broker)
    ask(over)
    assert platform.closed.acquire(timeout=5)
    ask(over)
    assert platform.connections == 2


def test_connections_that_are_checked_otherwise_are_not_shared(
    platform: Platform, broker: str, ask: Ask
) -> None:
    """What was opened without a look at the certificate must not serve a task that wants one."""
    over = BrokerClient(broker)
    address = f"http://127.0.0.1:{platform.server_port}/"
    for verify in (False, True, True):
        over.exchange(Request("GET", address, None, {}, verify, False), 5)
    assert platform.connections == 2


URL = "https://api.example.com/api/order"
POOL = urllib3.HTTPSConnectionPool("api.example.com")
NEW = urllib3.exceptions.NewConnectionError(POOL, "Connection refused")  # type: ignore[arg-type]
LATE = urllib3.exceptions.ConnectTimeoutError(POOL, "timed out")
PROTOCOL = urllib3.exceptions.ProtocolError("Connection aborted.", OSError("reset by peer"))
Wrapped = requests.exceptions.ConnectionError


def given_up(cause: Exception) -> Exception:
    """Return what urllib3 raises instead of an error, as it would try again if it were allowed to."""
    return urllib3.exceptions.MaxRetryError(POOL, URL, cause)


def of_proxy(cause: Exception) -> Exception:
    error = urllib3.exceptions.ProxyError("Cannot connect to proxy", cause)
    return requests.exceptions.ProxyError(given_up(error))


def meaning_of(error: Exception) -> errors.HostedError:
    return http_transport.failure(error, URL, True)


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (
            Wrapped(given_up(NEW)),
            errors.ConnectionFailed,
            "cannot connect to https://api.example.com: Connection refused. Is base_url right, and the "
            "server up?",
        ),
        (requests.exceptions.ConnectTimeout(given_up(LATE)), errors.ConnectionFailed, None),
        (Wrapped(urllib3.exceptions.ClosedPoolError(POOL, "closed")), errors.ConnectionFailed, None),
        (of_proxy(NEW), errors.ConnectionFailed, None),
        (
            of_proxy(OSError("Tunnel connection failed: 403 Forbidden")),
            errors.ConnectionFailed,
            "cannot connect to https://api.example.com by way of the proxy: 403 Forbidden. Is base_url "
            "right, and the server up, and the proxy?",
        ),
        (of_proxy(OSError("Connection reset by peer")), errors.Interrupted, None),
        (
            Wrapped(PROTOCOL),
            errors.Interrupted,
            "the connection broke before the response was complete: reset by peer",
        ),
        (requests.exceptions.ChunkedEncodingError(PROTOCOL), errors.Interrupted, None),
        (requests.exceptions.ReadTimeout("timed out"), errors.Interrupted, None),
        (requests.exceptions.ContentDecodingError("not gzip"), errors.Interrupted, None),
        (
            urllib3.exceptions.HTTPError(),
            errors.Interrupted,
            "the connection broke before the response was complete: HTTPError",
        ),
        (OSError(errno.EIO, "Input/output error"), errors.Interrupted, None),
        (UnicodeError("label empty or too long"), errors.Interrupted, None),
        (requests.exceptions.InvalidURL("no host"), errors.ConfigurationError, "cannot send: no host"),
        (ValueError("Invalid header value b'a line break'"), errors.ConfigurationError, None),
    ],
)
def test_only_a_connection_that_was_never_made_is_a_failed_one(
    error: Exception, kind: type[Exception], message: str | None
) -> None:
    """The call is sent again after it, even if it is an order. The innermost reason is told."""
    meaning = meaning_of(error)
    assert meaning.__class__ is kind
    assert message in (None, meaning.message)


def test_a_value_that_json_cannot_hold_is_not_sent() -> None:
    """And the error is final: a retry would end in the same way."""
    request = Request("POST", "http://127.0.0.1:9/api/order", {"ramGb": float("nan")}, {}, True, True)
    with pytest.raises(errors.ConfigurationError, match="cannot send"):
        HttpTransport().send(request, 1)


# --- The environment --------------------------------------------------------------------------------

PROXY = "http://proxy.example:3128"


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the settings of whoever runs the tests."""
    for name in [name for name in os.environ if re.search("(?i)_proxy$|_CA_BUNDLE$", name)]:
        monkeypatch.delenv(name)


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("url", "no_proxy", "used"),
    [
        ("https://api.example.com/api", "", True),
        ("https://api.example.com/api", "other.example", True),
        ("https://api.example.com/api", "example.com", False),
        ("https://10.1.2.3/api", "10.0.0.0/8", False),
        ("https://127.0.0.1/api", "", False),
        ("https://localhost:8443/api", "", False),
        ("https://[::1]/api", "", False),
    ],
)
def test_a_proxy_is_used_unless_an_exception_holds(
    url: str, no_proxy: str, used: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token never leaves this machine for a server on it."""
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    monkeypatch.setenv("NO_PROXY", no_proxy)
    assert (http_transport.proxies_for(url).get("https") == PROXY) is used


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_environment_names_the_authorities(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """But nothing is loosened or replaced by it, and what does not exist is told before anything is sent."""
    seen: list[Any] = []
    adapter = SimpleNamespace(send=lambda prepared, verify, **how: seen.append(verify))
    monkeypatch.setattr(requests.adapters, "HTTPAdapter", lambda **how: adapter)
    monkeypatch.setenv(name, __file__)
    for verify in (True, False, "/"):
        HttpTransport().open(Request("GET", URL, None, {}, verify), 1)
    assert seen == [__file__, False, "/"]
    monkeypatch.setenv(name, "/missing.pem")
    with pytest.raises(errors.ConfigurationError, match=r"authorities '/missing.pem' does not exist"):
        HttpTransport().open(Request("GET", URL, None, {}, True), 1)
    HttpTransport().open(Request("GET", "http://localhost/", None, {}, True), 1)
    assert seen[3:] == ["/missing.pem"]
