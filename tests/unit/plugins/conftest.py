# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What tests of several layers share."""

from __future__ import annotations

import os
import socket
import tempfile
import threading
from collections.abc import Iterator

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._broker.broker import Keeper


@pytest.fixture
def keeper() -> Iterator[str]:
    """Run a keeper of connections in a thread and return where it listens."""
    lifeline, end = os.pipe()
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as listener:
        path = os.path.join(folder, "keeper")  # pytest's own folders are too deep for a socket's address
        listener.bind(path)
        listener.listen()
        thread = threading.Thread(target=Keeper(listener, lifeline).serve)
        thread.start()
        yield path
        os.close(end)
        thread.join(5)
        assert not thread.is_alive(), "it ends with its lifeline"
    os.close(lifeline)
