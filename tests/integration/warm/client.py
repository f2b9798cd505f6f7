# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the server for a run, and end with its code. This imports very little, so that it starts quickly."""

import _socket
import array
import marshal
import os
import sys

SERVER = globals().get("SERVER", "")
COLD = globals().get("COLD", "")
HEADER = 8


def main() -> int:
    """Return the exit code of the run."""
    if any(name.startswith("PYTHON") for name in os.environ):
        return cold()
    server = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        server.connect(SERVER)
    except OSError:
        return cold()
    mask = os.umask(0)
    request = marshal.dumps((COLD, sys.argv[1:], dict(os.environ), os.getcwd(), mask))
    streams = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))]
    server.sendmsg([len(request).to_bytes(HEADER, "big")], streams)
    server.sendall(request)
    code = int(server.recv(HEADER) or b"1")
    if code < 0:
        os.kill(os.getpid(), -code)
    return code


def cold() -> int:
    """Become the real program."""
    os.execv(COLD, [COLD, *sys.argv[1:]])


os._exit(main())
