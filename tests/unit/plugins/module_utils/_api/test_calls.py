# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls over real sockets to a server that misbehaves on command: what is sent again, and what never."""

from __future__ import annotations

import json
import logging
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors, responses
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import HttpTransport
from ansible_collections.hosted.services.plugins.module_utils._api.text import HIDDEN
from ansible_collections.hosted.services.plugins.plugin_utils._broker.client import BrokerClient

TOKEN = "tok-4f/9a+77"
RETRIES = 2
Answer = Callable[[socket.socket], None]


class Server:
    """Reads one request a connection, notes it, and answers by the next function of the script."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.requests: list[bytes] = []
        self.script: list[Answer] = []
        self.over = threading.Event()
        self.threads: list[threading.Thread] = []
        self._start(self._accept)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def begin(self, *script: Answer) -> None:
        self.requests.clear()
        self.script = list(script)

    def close(self) -> None:
        self.over.set()
        with suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for thread in self.threads:
            thread.join(5)

    def _start(self, run: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=run, args=arguments, daemon=True)
        self.threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while not self.over.is_set():
            try:
                connection, _address = self.listener.accept()
            except OSError:
                return
            self._start(self._serve, connection)

    def _serve(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.settimeout(5)
            if connection.recv(1, socket.MSG_PEEK) == b"\x16":  # a TLS greeting
                reply(400)(connection)
            elif request := self._read(connection):
                self.requests.append(request)
                # The last answer of the script is good for all that follows.
                answer = self.script.pop(0) if len(self.script) > 1 else self.script[0]
                answer(connection)

    @staticmethod
    def _read(connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            if not (part := connection.recv(65536)):
                return b""
            data += part
        head, _blank, body = data.partition(b"\r\n\r\n")
        length = next(
            (
                int(line.split(b":")[1])
                for line in head.split(b"\r\n")
                if line.lower().startswith(b"content-length:")
            ),
            0,
        )
        while len(body) < length:
            body += connection.recv(65536)
        return head + b"\r\n\r\n" + body

    # --- Answers ------------------------------------------------------------------------------------------

    def no_answer(self, connection: socket.socket) -> None:
        self.over.wait(10)

    def drip(self, data: bytes, at_once: int = 0) -> Answer:
        def answer(connection: socket.socket) -> None:
            connection.sendall(data[:at_once])
            for byte in data[at_once:]:
                if self.over.wait(0.05):
                    return
                connection.sendall(bytes([byte]))

        return answer


def reply(status: int = 200, body: Any = None, **headers: str) -> Answer:
    """Answer with JSON, or with ``body`` as it is when it is bytes."""
    data = body if isinstance(body, bytes) else json.dumps({"email": "me"} if body is None else body).encode()
    fields = {"Content-Length": str(len(data)), "Connection": "close"}
    fields |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"HTTP/1.1 {status} x", *(f"{name}: {value}" for name, value in fields.items()), "", ""]
    return lambda connection: connection.sendall("\r\n".join(lines).encode() + data)


def reset(connection: socket.socket) -> None:
    """Close with an RST instead of an answer."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def hang_up(connection: socket.socket) -> None:
    """Close in good order, but without an answer."""


def reset_in_the_body(connection: socket.socket) -> None:
    connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"email"')
    time.sleep(0.05)
    reset(connection)


OK = reply()
CUT_OFF = reply(200, b'{"email": "m', Content_Length="200")
HALF = reply(200, b'{"email": "m')
HTML = reply(200, b"<html>Log in to the hotel's network</html>", Content_Type="text/html")


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def lines() -> list[str]:
    return []


Open = Callable[..., Client]


@pytest.fixture(params=["own connections", "kept connections"])
def connect(
    request: pytest.FixtureRequest, server: Server, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Open]:
    """Return a function that opens a transport to the server, whose retries come without a pause."""
    kept = request.param == "kept connections"
    path = request.getfixturevalue("broker") if kept else ""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy", "NETRC"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(responses, "pause_before_retry", lambda error, failures: 0.0)
    opened: list[Client] = []

    def connect(**settings: Any) -> Client:
        defaults = {"base_url": server.url, "token": TOKEN, "timeout": 5, "retries": RETRIES}
        transport = BrokerClient(path) if kept else HttpTransport()
        opened.append(Client(Connection(**{**defaults, **settings}), lines.append, transport))
        return opened[-1]

    yield connect
    for made in opened:
        made.close()


# --- What is sent again ---------------------------------------------------------------------------------

ROUTE_OF = {
    r.Idempotency.READ: (r.WHOAMI, {}),
    r.Idempotency.IDEMPOTENT: (r.SCALE, {"id": "s"}),
    r.Idempotency.LAST_WINS: (r.SFTP_PASSWORD, {"id": "s"}),
    r.Idempotency.CREATE: (r.ORDER, {}),
    r.Idempotency.ACT: (r.SUSPEND, {"id": "s"}),
    r.Idempotency.NEVER: (replace(r.DATABASE_QUERY, min_timeout=0), {"id": "s"}),
}
AGAIN = (r.Idempotency.READ, r.Idempotency.IDEMPOTENT, r.Idempotency.LAST_WINS)
OPEN_ENDINGS: dict[str, tuple[Answer, type[errors.HostedError]]] = {
    "reset": (reset, errors.Interrupted),
    "hang up": (hang_up, errors.Interrupted),
    "reset in the body": (reset_in_the_body, errors.Interrupted),
    "cut-off body": (CUT_OFF, errors.Interrupted),
    "500": (reply(500, {"message": "oops"}), errors.ServerFailure),
    "502": (reply(502, b"<html>Bad gateway</html>"), errors.ServerFailure),
    "503": (reply(503, b""), errors.ServerFailure),
    "504": (reply(504, b""), errors.ServerFailure),
    "408": (reply(408, {"message": "Request Timeout"}), errors.ServerFailure),
    "no HTTP": (lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9\r\n"), errors.Interrupted),
}
REFUSALS: dict[str, tuple[Answer, type[errors.HostedError]]] = {
    "400": (reply(400, {"message": "no"}), errors.BadRequest),
    "401": (reply(401, {"message": "no"}), errors.TokenRejected),
    "403": (reply(403, {"message": "no"}), errors.AccessDenied),
    "404": (reply(404, {"message": "no"}), errors.NotFoundResponse),
    "410": (reply(410, {"message": "no"}), errors.NotFoundResponse),
    "409": (reply(409, {"message": "no"}), errors.Conflict),
    "418": (reply(418, {"message": "no"}), errors.Refused),
    "422": (reply(422, {"message": "no"}), errors.Unprocessable),
    "423": (reply(423, {"message": "no"}), errors.Locked),
    "425": (reply(425, {"message": "no"}), errors.Locked),
    "301": (reply(301, b"", Location="http://127.0.0.1:1/"), errors.Redirected),
    "307": (reply(307, b"", Location="http://127.0.0.1:1/"), errors.Redirected),
}


def outcome(sender: Client, repeat: r.Idempotency) -> errors.HostedError:
    route, ids = ROUTE_OF[repeat]
    with pytest.raises(errors.HostedError) as caught:
        sender.call(route, ids, body={"a": 1} if route.method != "GET" else None)
    assert caught.value.message.startswith(f"{route}: ")
    assert str(caught.value) == caught.value.message
    return caught.value


@pytest.mark.parametrize("repeat", ROUTE_OF, ids=lambda repeat: repeat.name)
def test_an_open_outcome_is_tried_again_only_where_twice_does_no_harm(
    server: Server, connect: Open, repeat: r.Idempotency
) -> None:
    for ending, (answer, kind) in OPEN_ENDINGS.items():
        server.begin(answer)
        error = outcome(connect(), repeat)
        assert error.__class__ is kind, ending
        assert isinstance(error, errors.CallOutcomeUnknown)
        assert len(server.requests) == (1 + RETRIES if repeat in AGAIN else 1), ending


@pytest.mark.parametrize("repeat", ROUTE_OF, ids=lambda repeat: repeat.name)
def test_a_refusal_is_final(server: Server, connect: Open, repeat: r.Idempotency) -> None:
    """But one of a retry leaves open what the lost attempt did."""
    for ending, (answer, kind) in REFUSALS.items():
        server.begin(answer)
        error = outcome(connect(), repeat)
        assert (error.__class__, len(server.requests)) == (kind, 1), ending
        if isinstance(error, errors.Refused):
            assert error.status == error.details["status"] == int(ending)
        if repeat in AGAIN and repeat is not r.Idempotency.READ:
            server.begin(reset, answer)
            error = outcome(connect(), repeat)
            assert error.__class__ is kind, ending
            assert (error.nothing_done, error.effect_unknown) == (False, True)
            assert "An earlier attempt, whose response was lost, may have been carried out" in error.message


@pytest.mark.parametrize("repeat", ROUTE_OF, ids=lambda repeat: repeat.name)
def test_a_refused_connection_is_tried_again_by_every_call(
    server: Server, connect: Open, lines: list[str], repeat: r.Idempotency
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
    error = outcome(connect(base_url=f"http://127.0.0.1:{port}"), repeat)
    assert error.__class__ is errors.ConnectionFailed
    assert "Is base_url right" in error.message
    assert len(lines) == 1 + RETRIES


@pytest.mark.parametrize("repeat", ROUTE_OF, ids=lambda repeat: repeat.name)
def test_success_that_is_not_json(server: Server, connect: Open, repeat: r.Idempotency) -> None:
    """A page for people is not from the API: what stands before it may not have passed the call on."""
    route, ids = ROUTE_OF[repeat]
    for body in (HALF, HTML):
        server.begin(body)
        if isinstance(route.answer, r.Undocumented) and body is HALF:
            # It may be anything; what was reached is read again.
            assert connect().call(route, ids) is None
            assert len(server.requests) == 1
        else:
            assert outcome(connect(), repeat).__class__ is errors.CallOutcomeUnknown
            assert len(server.requests) == (1 + RETRIES if repeat in AGAIN else 1)


# --- Time -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("repeat", [r.Idempotency.READ, r.Idempotency.NEVER], ids=lambda repeat: repeat.name)
@pytest.mark.parametrize("ending", ["no answer", "drip of headers", "drip of the body", "many headers"])
def test_the_deadline_holds_whatever_the_server_does(
    server: Server, connect: Open, repeat: r.Idempotency, ending: str
) -> None:
    # Each of these is a good answer in the end: a deadline that does not hold ends without an error.
    slow = b'HTTP/1.1 200 OK\r\nContent-Length: 60\r\n\r\n{"email": "' + b"x" * 47 + b'"}'
    many = b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10 + b"Content-Length: 2\r\n\r\n{}"
    server.script = [
        {
            "no answer": server.no_answer,
            "drip of headers": server.drip(slow),
            "drip of the body": server.drip(slow, at_once=45),
            "many headers": server.drip(many),
        }[ending]
    ]
    error = outcome(connect(timeout=0.6), repeat)
    assert error.__class__ is errors.Interrupted
    assert "no complete response" in error.message or "timed out" in error.message
    assert 1 <= len(server.requests) <= (1 + RETRIES if repeat is r.Idempotency.READ else 1)


def test_a_call_that_takes_long_by_nature_is_given_the_time(server: Server, connect: Open) -> None:
    def late(connection: socket.socket) -> None:
        time.sleep(1)
        OK(connection)

    server.script = [late]
    assert connect(timeout=0.2).call(r.ORDER, {}, body={}) == {"email": "me"}


@pytest.mark.parametrize("timeout, seconds_left", [(30, 4), (4, 1)])
def test_nothing_is_written_in_the_last_seconds(
    server: Server, connect: Open, monkeypatch: pytest.MonkeyPatch, timeout: float, seconds_left: float
) -> None:
    """The retry would be cut off before its response: that the first was refused is known, and is told."""
    monkeypatch.setattr(responses, "pause_before_retry", lambda error, failures: timeout - seconds_left)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    server.script = [reply(429, {"message": "slow down"}), OK]
    error = outcome(connect(timeout=timeout), r.Idempotency.NEVER)
    assert error.__class__ is errors.RateLimited and not error.effect_unknown
    assert len(server.requests) == 1
    server.script = [reply(429, {"message": "slow down"}), OK]
    assert connect(timeout=timeout).call(*ROUTE_OF[r.Idempotency.READ]) == {"email": "me"}
    assert len(server.requests) == 3


def test_a_pause_beyond_the_deadline_is_not_begun(
    server: Server, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(responses, "pause_before_retry", lambda error, failures: 3600.0)
    server.script = [reply(429, {"message": "later"}, Retry_After="3600"), OK]
    error = outcome(connect(), r.Idempotency.READ)
    assert isinstance(error, errors.RateLimited)
    assert error.pause_asked == 3600
    assert "asks for a pause of 3600 seconds: later" in error.message
    assert len(server.requests) == 1


def test_the_pause_is_what_was_asked_for_with_a_little_more_and_a_ceiling(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise it is random up to a bound that doubles, of clients that failed together."""
    for asked, most in ((7.0, 8.0), (0.0, 1.0), (99999.0, responses.MAX_RETRY_AFTER + 1)):
        for number in range(1, 10):
            pause = responses.pause_before_retry(errors.RateLimited("x", asked), number)
            assert min(asked, responses.MAX_RETRY_AFTER) <= pause <= most
    bounds = {1: 0.25, 2: 0.5, 3: 1, 6: 8, 7: 10, 10**5: 10}
    for failures, bound in bounds.items():
        assert 0 <= responses.pause_before_retry(errors.Interrupted("x"), failures) <= bound
    monkeypatch.setattr("random.uniform", lambda low, high: high)
    for failures, bound in bounds.items():
        assert responses.pause_before_retry(errors.Interrupted("x"), failures) == bound
        # A limit of requests begins with a longer one.
        assert responses.pause_before_retry(errors.RateLimited("x"), failures) == min(8 * bound, 10)


# --- The request and the token --------------------------------------------------------------------------


def header(request: bytes, name: str) -> list[str]:
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return [line.partition(": ")[2] for line in lines if line.lower().startswith(name.lower() + ":")]


def test_a_request_as_it_leaves(server: Server, connect: Open) -> None:
    server.script = [OK]
    connect(base_url=server.url + "/v1/").call(r.SNAPSHOT_DELETE, {"id": "a b", "name": "x/../y?z#\u00e9%"})
    connect().call(r.USAGE, {"id": "s"}, {"range": None})
    connect().call(r.FILES, {"id": "s"}, {"directory": "/a b&c"})
    connect().call(r.POWER, {"id": "s"}, body={"signal": "start"})
    first = [request.split(b"\r\n")[0].decode() for request in server.requests]
    assert first == [
        "DELETE /v1/api/resources/a%20b/snapshots/x%2F..%2Fy%3Fz%23%C3%A9%25 HTTP/1.1",
        "GET /api/resources/s/usage HTTP/1.1",
        "GET /api/resources/s/files?directory=%2Fa%20b%26c HTTP/1.1",
        "POST /api/resources/s/power HTTP/1.1",
    ]
    assert json.loads(server.requests[3].partition(b"\r\n\r\n")[2]) == {"signal": "start"}
    assert header(server.requests[3], "Content-Type") == ["application/json"]
    assert header(server.requests[0], "Accept") == ["application/json"]


def test_how_the_token_is_sent(
    server: Server, connect: Open, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A netrc does not replace it."""
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password other\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    for name, value, settings in (
        ("Authorization", f"Bearer {TOKEN}", {}),
        ("Authorization", f"Token {TOKEN}", {"auth_scheme": "Token"}),
        ("Authorization", TOKEN, {"auth_scheme": ""}),
        ("X-Api-Key", TOKEN, {"auth_header": "X-Api-Key", "auth_scheme": ""}),
    ):
        server.begin(OK)
        connect(**settings).call(r.WHOAMI, {})
        assert header(server.requests[0], name) == [value]
        assert server.requests[0].count(TOKEN.encode()) == 1
        assert b"Basic" not in server.requests[0]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_the_token_follows_no_redirect(server: Server, connect: Open, status: int) -> None:
    other = Server()
    try:
        other.script = [OK]
        server.script = [reply(status, b"", Location=other.url + "/api/apps/whoami")]
        error = outcome(connect(), r.Idempotency.READ)
        assert f"redirect ({status})" in error.message
        assert other.requests == []
    finally:
        other.close()


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (reply(303, b"", Location="/api/apps"), "redirect (303)"),  # what many servers send after a form
        (b"HTTP/1.1 201 Created\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}", ""),
        (b"HTTP/1.1 103 Early Hints\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", ""),
    ],
    ids=["see other", "two lengths", "no final response"],
)
def test_a_creation_whose_answer_makes_no_sense_may_have_happened(
    server: Server, connect: Open, answer: Answer | bytes, said: str
) -> None:
    """The request was sent, so it is not taken for one that was not, and is not repeated."""
    sent = (lambda connection: connection.sendall(answer)) if isinstance(answer, bytes) else answer
    server.script = [sent]
    error = outcome(connect(), r.Idempotency.CREATE)
    assert isinstance(error, errors.CallOutcomeUnknown) and said in error.message
    assert len(server.requests) == 1


def test_a_proxy_of_the_environment_is_used_for_other_hosts(
    server: Server, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", server.url)
    server.script = [OK]
    connect(base_url="http://nas.test", allow_http_hosts=("nas.test",)).call(r.WHOAMI, {})
    assert server.requests[0].startswith(b"GET http://nas.test/api/apps/whoami ")


def test_a_server_that_speaks_no_tls_is_not_blamed_for_its_certificate(server: Server, connect: Open) -> None:
    server.script = [OK]
    error = outcome(
        connect(base_url=server.url.replace("http:", "https:"), retries=0, timeout=20), r.Idempotency.READ
    )
    assert isinstance(error, errors.ConfigurationError), "it will not get better by trying again"
    assert "no TLS with https://" in error.message
    assert "ca_path" not in error.message


LEAKS: dict[str, Answer] = {
    "message": reply(400, {"statusCode": 400, "message": f"bad token {TOKEN}"}),
    "message in base64": reply(401, {"message": "bad dG9rLTRmLzlhKzc3"}),
    "message URL-encoded": reply(403, {"message": "bad tok-4f%2F9a%2B77"}),
    "message cut in the middle": reply(500, {"message": "x" * 990 + TOKEN}),
    "list of messages": reply(400, {"message": [f"bad {TOKEN}"]}),
    "status line": lambda connection: connection.sendall(b"HTTP/9 " + TOKEN.encode() + b"\r\n\r\n"),
    "redirect": reply(302, b"", Location=f"http://x/{TOKEN}"),
}


def test_the_token_is_in_no_error_and_no_log(
    server: Server, connect: Open, lines: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    for name, answer in LEAKS.items():
        server.begin(answer)
        with caplog.at_level(logging.DEBUG):
            error = outcome(connect(retries=0), r.Idempotency.READ)
        shown = " ".join([str(error), repr(error), error.message, str(error.details), *lines, caplog.text])
        for part in (TOKEN, TOKEN[:9], "dG9rLTRmLzlhKzc3", "tok-4f%2F9a%2B77"):
            assert part not in shown, name


OTHER_FORMS = [
    (b"No port is\nleft\n", "No port is left"),
    (b'"No port is left"', "No port is left"),
    (b'{"message": ["No port", "is left"]}', "No port; is left"),
    (b'{"why": "No port"}', '{"why": "No port"}'),
    (
        b"<html><head><style>p {}</style></head><body><h1>Blocked</h1></body></html>",
        "a web page, as proxies send: Blocked",
    ),
    (b"no " + TOKEN.encode() + b" here", f"no {HIDDEN} here"),
    (b"x" * 5000, "x" * 1000 + " \u2026"),
]


def test_a_reason_of_any_form_is_shown(server: Server, connect: Open) -> None:
    """The form of an error is shown for some routes only, and gateways have others."""
    for body, said in OTHER_FORMS:
        server.begin(reply(409, body))
        error = outcome(connect(), r.Idempotency.IDEMPOTENT)
        assert error.message.partition(": ")[2] == f"the platform refused (409): {said}"
