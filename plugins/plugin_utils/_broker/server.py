# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection broker: a process that keeps connections to the platform open for all tasks of a run.

Ansible forks a worker for each task, and the connections of a worker end with it: each task would pay for
a TLS handshake, 78 ms instead of 26. So the first task of a run forks one more process, which sends the
requests of all tasks, and which ends with the run. Workers reach it through a socket in the run's own
temporary folder, which only the user can enter. The broker knows no routes and retries nothing.

Ansible's own persistent connections (``ansible-connection``) start a second Python for every task, outlive
the run, and pass errors on as text, without their class.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import sys
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from ...module_utils._api.errors import HostedError
from ...module_utils._api.http_transport import HttpTransport

BACKLOG = 128
MAX_IDLE_SECONDS = 30.0
"""The broker closes its idle connections if no task connects for so long. Many servers do after a minute."""
LIFELINE, _LIFELINE_WRITER = os.pipe()
"""Made on import, which is before Ansible forks: the broker reads an end of file when the run's last process
has ended, however it ended. Nobody writes to it, so it is the same in every fork."""


class BrokerDefect(Exception):
    """A defect in the broker. Names the class of the error only, because its text may hold secrets."""


def start_broker(address: str) -> None:
    """Fork the broker: no terminal, no signals of the run, only the files it needs. It can be reached now.

    :raises OSError: if it cannot listen, for example because another worker was quicker.
    """
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(BACKLOG)
        if os.fork():
            return
        try:
            os.setsid()
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            for number in map(int, os.listdir("/dev/fd")):
                if number > 2 and number not in (listener.fileno(), LIFELINE):
                    with suppress(OSError):  # the listing itself was one of them
                        os.close(number)
            nowhere = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(nowhere, number)
            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - Ansible's own are locked in a fork
            serve(listener, LIFELINE)
        finally:
            os._exit(0)


def serve(listener: socket.socket, lifeline: int, idle_seconds: float = MAX_IDLE_SECONDS) -> None:
    """Serve each worker that connects in a thread, until ``lifeline`` has an end of file."""
    transport = HttpTransport()
    with selectors.DefaultSelector() as selector:
        selector.register(listener, selectors.EVENT_READ)
        selector.register(lifeline, selectors.EVENT_READ)
        while lifeline not in (ready := [key.fileobj for key, _events in selector.select(idle_seconds)]):
            if ready:
                worker = Connection(listener.accept()[0].detach())
                threading.Thread(target=serve_worker, args=(worker, transport), daemon=True).start()
            else:
                transport.close()


def serve_worker(worker: Connection, transport: HttpTransport) -> None:
    """Send the requests of a worker. What is passed on is pickled, as between Ansible and its workers."""
    with worker, suppress(OSError, EOFError):  # which is how a worker disconnects
        while True:
            request, seconds = worker.recv()
            try:
                answer: Any = transport.send(request, seconds)
            except HostedError as error:
                answer = error
            except Exception as error:
                answer = BrokerDefect(
                    f"the connection broker failed with {type(error).__name__}, which is a defect of the "
                    "collection; set hosted_keep_connections: false to run without it"
                )
            worker.send(answer)
