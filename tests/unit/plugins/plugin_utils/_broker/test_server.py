# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A broker of its own process: it serves, keeps its connection, and ends with the run."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    HttpTransport,
    Request,
)
from ansible_collections.hosted.services.plugins.plugin_utils._broker import server
from ansible_collections.hosted.services.plugins.plugin_utils._broker.client import BrokerClient
from ansible_collections.hosted.services.plugins.plugin_utils._broker.server import IdleConnections

RUN = """
import os, sys
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Request
from ansible_collections.hosted.services.plugins.plugin_utils._broker import client

folder, url = sys.argv[1:]
for _worker in range(2):
    broker = client.connect_to_broker(folder)
    assert isinstance(broker, client.BrokerClient)
    response = broker.exchange(Request("GET", url, None, None, {}, True, {}, False), 20)
    print(response.status, response.body.decode())
    broker.close()
"""


class Peers(BaseHTTPRequestHandler):
    """Tells each request by which connection it came."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        body = str(self.client_address[1]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    """A server that keeps connections open."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Peers) as peers:
        peers.daemon_threads = True
        thread = threading.Thread(target=peers.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{peers.server_port}/"
        peers.shutdown()
        thread.join()


def listeners(folder: str) -> list[str]:
    """Return the sockets in a folder on which some process listens, as the kernel lists them."""
    with open("/proc/net/unix", encoding="utf-8") as table:
        lines = [line.split() for line in table if folder in line]
    return [fields[-1] for fields in lines if fields[3] == "00010000"]  # SO_ACCEPTCON


@pytest.mark.skipif(not os.path.exists("/proc/net/unix"), reason="only Linux lists its sockets there")
def test_the_broker_of_a_run_serves_its_workers_and_ends_with_it(url: str) -> None:
    with tempfile.TemporaryDirectory() as folder:  # pytest's own is too deep for a socket
        command = [sys.executable, "-c", RUN, folder, url]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
        first, second = done.stdout.splitlines()
        assert first.startswith("200 ") and second == first, "both came by one connection"
        until = time.monotonic() + 300
        while listeners(folder) and time.monotonic() < until:
            time.sleep(0.02)
        assert listeners(folder) == []
        assert os.listdir(folder), "it did listen there"


CLOSE = """
import os, sys
from ansible_collections.hosted.services.plugins.plugin_utils._broker.server import close_files_except

result = int(sys.argv[1])
of_the_run = os.open("/", os.O_RDONLY)
close_files_except({result})
print("nobody reads this")
files = []
for number in os.listdir("/dev/fd"):
    try:
        files.append(os.readlink(f"/dev/fd/{number}"))
    except FileNotFoundError:  # the listing itself
        pass
os.write(result, " ".join(files).encode())
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="only Linux tells what a file is")
def test_the_broker_keeps_no_file_of_the_run() -> None:
    """Whoever reads what the run prints would wait for the broker as well."""
    reader, writer = os.pipe()
    pipe = os.readlink(f"/proc/self/fd/{writer}")
    command = [sys.executable, "-c", CLOSE, str(writer)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=300, pass_fds=[writer])
    os.close(writer)
    with os.fdopen(reader) as result:
        assert set(result.read().split()) == {os.devnull, pipe}
    assert done.stdout == b""


# --- Idle connections -----------------------------------------------------------------------------------

ONE, OTHER = ("http://one.example.com", True), ("http://other.example.com", True)


class Noted(HttpTransport):
    """A connection that notes that it was closed."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = threading.Event()

    def close(self) -> None:
        self.closed.set()
        super().close()


def test_a_request_gets_the_connection_to_its_server_that_was_used_last() -> None:
    idle = IdleConnections()
    first, second, elsewhere = Noted(), Noted(), Noted()
    for peer, transport in ((ONE, first), (ONE, second), (OTHER, elsewhere)):
        idle.give_back(peer, transport)
    assert [idle.borrow(ONE), idle.borrow(ONE)] == [second, first]
    assert not isinstance(idle.borrow(ONE), Noted), "all of them are in use"
    assert idle.borrow(OTHER) is elsewhere
    assert not any(transport.closed.is_set() for transport in (first, second, elsewhere))


def test_of_too_many_connections_the_oldest_are_closed() -> None:
    idle = IdleConnections(limit=2)
    made = [Noted() for _connection in range(4)]
    for transport in made:
        idle.give_back(ONE, transport)
    assert [transport.closed.is_set() for transport in made] == [True, True, False, False]
    assert [idle.borrow(ONE), idle.borrow(ONE)] == made[:1:-1]


def test_a_connection_that_was_idle_for_too_long_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server may have closed it."""
    now = [1000.0]
    monkeypatch.setattr(server, "time", SimpleNamespace(monotonic=lambda: now[0]))
    idle = IdleConnections(seconds=30)
    old, new = Noted(), Noted()
    idle.give_back(ONE, old)
    now[0] += 29
    idle.give_back(ONE, new)
    now[0] += 2
    assert idle.borrow(OTHER) is not new
    assert (old.closed.is_set(), new.closed.is_set()) == (True, False)
    assert idle.borrow(ONE) is new


@pytest.fixture
def idle() -> IdleConnections:
    """Idle connections that are soon idle for too long."""
    return IdleConnections(seconds=0.05)


def test_a_broker_that_nobody_calls_closes_its_connections_and_serves_on(
    broker: str, idle: IdleConnections
) -> None:
    transport = Noted()
    idle.give_back(ONE, transport)
    assert transport.closed.wait(20)
    with closing(BrokerClient(broker)) as client, pytest.raises(errors.ConnectionFailed):
        client.exchange(Request("GET", "http://127.0.0.1:1/", None, None, {}, True, {}, False), 20)
