# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A broker of its own process: it serves, keeps its connection, and ends with the run."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._broker.server import (
    MAX_ADDRESS,
    socket_address,
)

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


@pytest.mark.parametrize("depth", [1, 3])
def test_an_address_is_short_however_deep_the_folder_is(depth: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        deep = os.path.join(folder, *["x" * 100] * depth)
        os.makedirs(deep)
        path = os.path.join(deep, "hosted.services")
        with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
            with socket_address(path) as address:
                assert len(address) <= MAX_ADDRESS
                listener.bind(address)
            listener.listen()
            with socket_address(path) as address:
                client.connect(address)
        assert os.path.exists(path)
