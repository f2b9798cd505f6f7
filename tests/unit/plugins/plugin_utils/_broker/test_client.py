# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The worker without a broker, and with one that ends. For requests see ``_api/test_http_transport.py``."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    HttpTransport,
    Request,
    Response,
)
from ansible_collections.hosted.services.plugins.plugin_utils._broker.client import (
    BrokerClient,
    connect_to_broker,
)
from ansible_collections.hosted.services.plugins.plugin_utils._broker.server import BrokerDefect

REQUEST = Request("GET", "http://127.0.0.1:1/api", None, {}, True, False)
SECONDS = 300


@pytest.fixture
def folder() -> Iterator[str]:
    """A folder that is not as deep as pytest's own."""
    with tempfile.TemporaryDirectory() as path:
        yield path


@pytest.fixture
def listener(folder: str) -> Iterator[socket.socket]:
    """A socket where a broker would listen."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.join(folder, "hosted.services"))
        yield listener


def test_one_that_is_there_is_used(folder: str, listener: socket.socket) -> None:
    listener.listen()
    transport = connect_to_broker(folder)
    assert isinstance(transport, BrokerClient)
    clone = transport.clone()
    assert isinstance(clone, BrokerClient)
    transport.close()
    clone.close()


def test_one_that_ends_in_the_middle_leaves_the_outcome_open(folder: str, listener: socket.socket) -> None:
    """The request may have been on its way: only the state of the platform can tell."""
    listener.listen()
    transport = connect_to_broker(folder)
    listener.accept()[0].close()
    with pytest.raises(errors.Interrupted, match="the connection broker ended before"):
        transport.exchange(REQUEST, SECONDS)
    listener.close()
    with pytest.raises(errors.ConnectionFailed, match="is gone"):
        transport.exchange(REQUEST, SECONDS)
    assert isinstance(transport.clone(), HttpTransport)


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(
    folder: str, listener: socket.socket
) -> None:
    listener.listen()
    transport = connect_to_broker(folder)
    late = listener.accept()[0]
    with pytest.raises(TimeoutError):
        transport.exchange(REQUEST, 0.01)
    assert late.recv(65536), "the request"
    assert late.recv(65536) == b"", "and then nobody waits any more"
    late.close()


def test_a_defect_is_told_by_its_kind_alone(broker: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a connection that broke, after which the call would be made again."""

    def fail(transport: HttpTransport, request: Request, seconds: float) -> Response:
        raise ValueError("the text holds a secret")

    transport = BrokerClient(broker)
    with monkeypatch.context() as patch, pytest.raises(BrokerDefect) as caught:
        patch.setattr(HttpTransport, "send", fail)
        transport.exchange(REQUEST, SECONDS)
    assert "ValueError" in str(caught.value)
    assert "secret" not in str(caught.value)
    with pytest.raises(errors.ConnectionFailed, match="cannot connect"):  # it serves on
        transport.exchange(REQUEST, SECONDS)
    transport.close()
