# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection broker: a process that keeps connections to the platform open for all tasks of a run.

Ansible forks a worker for each task, and the connections of a worker end with it. Without the broker, each
task pays for a TCP connection and a TLS handshake before its first response: 78 ms a task instead of 26. So
the first task of a run forks one more process, which sends the requests of all tasks over connections that
stay open, and which ends with the run. Workers reach it through a socket in the run's own temporary folder,
which only the user can enter. The broker knows no routes and retries nothing.

Ansible's own persistent connections (``ansible-connection``, for network_cli and httpapi) do not fit:

* They are connection plugins, so they replace the connection of a host. Here a task runs for ``localhost`` or
  for a host that is reached over SSH or SFTP, and its user decides how.
* There is one process, and one connection, for each host, port and user. The hosts of a play would not share
  the connections to the one platform. A process serves one client at a time.
* For every task, ansible-core starts a second Python that loads the plugins and sends the play context to the
  process. That alone takes about 0.4 s of processor time, more than ten times what there is to save.
* The processes have sockets in the user's home directory and outlive the run until they time out. Errors
  cross as text, without their class and their details, on which retries and messages depend.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import NoReturn

from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    HttpTransport,
    Request,
)
from ansible_collections.hosted.services.plugins.plugin_utils._broker.protocol import (
    decode_request,
    encode_error,
    encode_response,
    socket_address,
)

BACKLOG = 128
MAX_IDLE = 32
"""The number of idle connections that the broker keeps: enough for as many tasks that call at once."""
MAX_IDLE_SECONDS = 30.0
"""The broker closes a connection that is idle for longer. Many servers close one after a minute."""
LIFELINE, _LIFELINE_WRITER = os.pipe()
"""Made on import, which is before Ansible forks: the broker reads an end of file when the run's last process
has ended, however it ended. Nobody writes to it, so it is the same in every fork."""

Peer = tuple[str, bool | str]


def start_broker(path: str) -> None:
    """Fork the broker. It can be reached when this returns.

    :raises OSError: if it cannot listen, for example because another worker was quicker.
    """
    listener = socket.socket(socket.AF_UNIX)
    try:
        with socket_address(path) as address:
            listener.bind(address)
        listener.listen(BACKLOG)
        if os.fork() == 0:
            run_as_daemon(listener)
    finally:
        listener.close()


def run_as_daemon(listener: socket.socket) -> NoReturn:
    """Turn this process into the broker: no terminal, no signals of the run, only the two files it needs."""
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        close_files_except({listener.fileno(), LIFELINE})
        ConnectionBroker(listener, LIFELINE, IdleConnections()).serve()
    finally:
        os._exit(0)


def close_files_except(needed: set[int]) -> None:
    """Close all files of this process, and connect the standard streams to nothing."""
    for number in map(int, os.listdir("/dev/fd")):
        if number > 2 and number not in needed:
            with suppress(OSError):  # the listing itself was one of them
                os.close(number)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nowhere, number)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - Ansible's own are locked in a fork


class IdleConnections:
    """The connections that no request uses now: at most ``limit``, none idle for more than ``seconds``."""

    def __init__(self, limit: int = MAX_IDLE, seconds: float = MAX_IDLE_SECONDS) -> None:
        self.limit = limit
        self.seconds = seconds
        self._idle: list[tuple[float, Peer, HttpTransport]] = []  # the oldest first
        self._lock = threading.Lock()

    def borrow(self, peer: Peer) -> HttpTransport:
        """Return the connection to this server that was used last, or a new one."""
        self.close_expired()
        with self._lock:
            for position in reversed(range(len(self._idle))):
                if self._idle[position][1] == peer:
                    return self._idle.pop(position)[2]
        return HttpTransport()

    def give_back(self, peer: Peer, transport: HttpTransport) -> None:
        """Keep a connection for the next request to the same server."""
        with self._lock:
            self._idle.append((time.monotonic(), peer, transport))
        self.close_expired()

    def close_expired(self) -> None:
        """Close the connections that are idle for too long, and the oldest of those beyond the limit."""
        with self._lock:
            expired = time.monotonic() - self.seconds
            fresh = [entry for entry in self._idle if entry[0] > expired]
            keep = fresh[max(len(fresh) - self.limit, 0) :]
            surplus = self._idle[: len(self._idle) - len(keep)]
            self._idle = keep
        for _since, _peer, transport in surplus:
            transport.close()


class ConnectionBroker:
    """Sends the requests of all who connect to ``listener``, until ``lifeline`` has an end of file."""

    def __init__(self, listener: socket.socket, lifeline: int, idle: IdleConnections) -> None:
        self._listener = listener
        self._lifeline = lifeline
        self._idle = idle

    def serve(self) -> None:
        """Serve each worker in a thread."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._listener, selectors.EVENT_READ)
            selector.register(self._lifeline, selectors.EVENT_READ)
            while not (ready := selector.select(self._idle.seconds)) or self._accept(ready):
                self._idle.close_expired()

    def _accept(self, ready: list[tuple[selectors.SelectorKey, int]]) -> bool:
        """Begin to serve a worker; return whether the run continues."""
        if any(key.fileobj is not self._listener for key, _events in ready):
            return False
        worker = Connection(self._listener.accept()[0].detach())
        threading.Thread(target=self._serve_worker, args=(worker,), daemon=True).start()
        return True

    def _serve_worker(self, worker: Connection) -> None:
        with worker, suppress(OSError, EOFError):  # which is how a worker disconnects
            while True:
                request, seconds = decode_request(worker.recv_bytes())
                worker.send_bytes(self._respond(request, seconds))

    def _respond(self, request: Request, seconds: float) -> bytes:
        """Send a request and return the message for the worker."""
        transport = self._idle.borrow(request.peer)
        try:
            response = transport.send(request, seconds)
        except Exception as error:
            transport.close()
            return encode_error(error)
        self._idle.give_back(request.peer, transport)
        return encode_response(response)
