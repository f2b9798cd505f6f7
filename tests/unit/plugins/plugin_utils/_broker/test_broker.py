# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where there is no keeper, and what is said when it goes. What it does is tested with what it serves."""

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
from ansible_collections.hosted.services.plugins.plugin_utils._broker.broker import (
    LONGEST_ADDRESS,
    KeeperFailure,
    KeptWire,
    as_address,
    wire_of_run,
)

REQUEST = Request("GET", "http://127.0.0.1:1/api", None, None, {}, True, {}, False)
SECONDS = 20


@pytest.fixture
def folder() -> Iterator[str]:
    """A folder that is not as deep as pytest's own."""
    with tempfile.TemporaryDirectory() as path:
        yield path


@pytest.fixture
def listener(folder: str) -> Iterator[socket.socket]:
    """A socket where a keeper would listen."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(os.path.join(folder, "hosted.services"))
        yield listener


def test_something_else_in_its_place_is_left_alone(folder: str) -> None:
    path = os.path.join(folder, "hosted.services")
    with open(path, "w", encoding="utf-8") as file:
        file.write("not a socket")
    assert isinstance(wire_of_run(folder), HttpTransport)
    assert os.path.getsize(path) == len("not a socket")


def test_a_folder_that_is_gone_is_no_obstacle(folder: str) -> None:
    assert isinstance(wire_of_run(os.path.join(folder, "gone")), HttpTransport)


def test_one_that_was_killed_is_not_waited_for(folder: str, listener: socket.socket) -> None:
    listener.close()
    assert isinstance(wire_of_run(folder), HttpTransport)


def test_one_that_is_there_is_used(folder: str, listener: socket.socket) -> None:
    listener.listen()
    wire = wire_of_run(folder)
    assert isinstance(wire, KeptWire)
    clone = wire.clone()
    assert isinstance(clone, KeptWire)
    wire.close()
    clone.close()


def test_one_that_ends_in_the_middle_leaves_the_outcome_open(folder: str, listener: socket.socket) -> None:
    """The request may have been on its way: only the state of the platform can tell."""
    listener.listen()
    wire = wire_of_run(folder)
    listener.accept()[0].close()
    with pytest.raises(errors.Interrupted, match="ended in the middle"):
        wire.exchange(REQUEST, SECONDS)
    listener.close()
    with pytest.raises(errors.ConnectionFailed, match="is gone"):
        wire.exchange(REQUEST, SECONDS)
    assert isinstance(wire.clone(), HttpTransport)


def test_an_answer_that_comes_too_late_is_not_taken_for_the_next(
    folder: str, listener: socket.socket
) -> None:
    listener.listen()
    wire = wire_of_run(folder)
    late = listener.accept()[0]
    with pytest.raises(TimeoutError):
        wire.exchange(REQUEST, 0.01)
    assert late.recv(65536), "the request"
    assert late.recv(65536) == b"", "and then nobody waits any more"
    late.close()


@pytest.mark.parametrize("depth", [1, 3])
def test_an_address_is_short_however_deep_the_folder_is(folder: str, depth: int) -> None:
    deep = os.path.join(folder, *["x" * 100] * depth)
    os.makedirs(deep)
    path = os.path.join(deep, "hosted.services")
    with socket.socket(socket.AF_UNIX) as listener, socket.socket(socket.AF_UNIX) as client:
        with as_address(path) as address:
            assert len(address) <= LONGEST_ADDRESS
            listener.bind(address)
        listener.listen()
        with as_address(path) as address:
            client.connect(address)
    assert os.path.exists(path)


def test_a_defect_is_told_by_its_kind_alone(keeper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not taken for a connection that broke, after which the call would be made again."""

    def fail(wire: HttpTransport, request: Request, seconds: float) -> Response:
        raise ValueError("the text holds a secret")

    wire = KeptWire(keeper)
    with monkeypatch.context() as patch, pytest.raises(KeeperFailure, match=r"^ValueError$"):
        patch.setattr(HttpTransport, "send", fail)
        wire.exchange(REQUEST, SECONDS)
    with pytest.raises(errors.ConnectionFailed, match="cannot connect"):  # it serves on
        wire.exchange(REQUEST, SECONDS)
    wire.close()
