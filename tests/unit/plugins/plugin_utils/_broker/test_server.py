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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

RUN = """
import os, sys
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Request
from ansible_collections.hosted.services.plugins.plugin_utils._broker import client

folder, url = sys.argv[1:]
for _worker in range(2):
    broker = client.connect_to_broker(folder)
    assert isinstance(broker, client.BrokerClient)
    response = broker.exchange(Request("GET", url, None, {}, True, False), 20)
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
@pytest.mark.parametrize("depth", [0, 3])
def test_the_broker_of_a_run_serves_its_workers_and_ends_with_it(url: str, depth: int) -> None:
    """However deep the folder is: the path of its socket may be longer than what an address can hold."""
    with tempfile.TemporaryDirectory() as short:  # pytest's own is too deep for a socket
        folder = os.path.join(short, *["x" * 100] * depth)
        os.makedirs(folder, exist_ok=True)
        command = [sys.executable, "-c", RUN, folder, url]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
        first, second = done.stdout.splitlines()
        assert first.startswith("200 ") and second == first, "both came by one connection"
        until = time.monotonic() + 300
        while listeners(short) and time.monotonic() < until:
            time.sleep(0.02)
        assert listeners(short) == []
        assert os.listdir(folder), "it did listen there"


LEAVE = """
import os, sys
from ansible_collections.hosted.services.plugins.plugin_utils._broker import client

folder, of_the_run = sys.argv[1], int(sys.argv[2])
assert isinstance(client.connect_to_broker(folder), client.BrokerClient)
for number in (1, 2, of_the_run):
    os.close(number)
sys.stdin.read()
"""


def test_the_broker_keeps_no_file_of_the_run() -> None:
    """Whoever reads what the run prints would wait for the broker as well."""
    reader, writer = os.pipe()
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.Popen(
            [sys.executable, "-c", LEAVE, folder, str(writer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=[writer],
        )
        assert run.stdin and run.stdout and run.stderr
        os.close(writer)
        ends = [os.fdopen(reader, "rb"), run.stdout, run.stderr]
        assert [each.read() for each in ends] == [b"", b"", b""], "while the run goes on, and its broker"
        run.stdin.close()
        assert run.wait(300) == 0
        assert os.listdir(folder), "it did listen there"
        for each in ends:
            each.close()
