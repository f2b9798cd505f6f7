# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fork for each request, and tell whoever asked how the fork ended."""

from __future__ import annotations

import marshal
import os
import selectors
import signal
import socket
import sys
import time
from dataclasses import dataclass
from typing import NoReturn

HEADER = 8


@dataclass(frozen=True)
class Request:
    """What a run was started with, and its standard streams."""

    program: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    mask: int
    streams: list[int]

    def enter(self) -> None:
        """Let all of it be this process's own."""
        for number, stream in enumerate(self.streams):
            os.dup2(stream, number)
            os.close(stream)
        os.environ.clear()
        os.environ.update(self.environment)
        os.umask(self.mask)
        os.chdir(self.folder)
        time.tzset()

    def execute(self) -> NoReturn:
        """Become the real program."""
        os.execv(self.program, [self.program, *self.arguments])


class Server:
    """Forks for requests, and tells whoever asked how the fork ended."""

    def __init__(self, path: str) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(64)
        self.selector = selectors.DefaultSelector()
        self.selector.register(0, selectors.EVENT_READ)
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.runs: dict[int, tuple[int, socket.socket]] = {}

    def serve(self) -> Request:
        """Go on until whoever started this process ends; in each fork, return what it was asked for."""
        while True:
            for key, _events in self.selector.select():
                if key.fd == 0:
                    sys.exit()
                if key.fd in self.runs:
                    self.report(key.fd)
                elif key.data is not None:  # whoever asked for this run was killed
                    self.selector.unregister(key.fileobj)
                    os.kill(key.data, signal.SIGKILL)
                elif request := self.accept():
                    return request

    def accept(self) -> Request | None:
        """Fork for a request; return it in the fork."""
        connection, _address = self.listener.accept()
        header, streams, _flags, _from = socket.recv_fds(connection, HEADER, 3)
        missing = int.from_bytes(header, "big")
        body = b""
        while len(body) < missing:
            body += connection.recv(missing - len(body))
        child = os.fork()
        if child == 0:
            connection.close()
            self.close()
            program, arguments, environment, folder, mask = marshal.loads(body)
            return Request(program, arguments, environment, folder, mask, streams)
        for stream in streams:
            os.close(stream)
        handle = os.pidfd_open(child)
        self.runs[handle] = (child, connection)
        self.selector.register(handle, selectors.EVENT_READ)
        self.selector.register(connection, selectors.EVENT_READ, child)
        return None

    def report(self, handle: int) -> None:
        """Tell how a run ended."""
        child, connection = self.runs.pop(handle)
        self.selector.unregister(handle)
        os.close(handle)
        _child, status = os.waitpid(child, 0)
        if connection in self.selector.get_map():
            self.selector.unregister(connection)
            connection.sendall(b"%d" % os.waitstatus_to_exitcode(status))
        connection.close()

    def close(self) -> None:
        """Let go of everything, in a fork."""
        self.selector.close()
        self.listener.close()
        for handle, (_child, connection) in self.runs.items():
            os.close(handle)
            connection.close()
