# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Messages come out as they went in, and the address of a socket is short."""

from __future__ import annotations

import os
import socket
import tempfile
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Request, Response
from ansible_collections.hosted.services.plugins.plugin_utils._broker.protocol import (
    MAX_ADDRESS,
    decode_request,
    decode_response,
    encode_error,
    encode_request,
    encode_response,
    socket_address,
)


def test_a_request_crosses_whole() -> None:
    request = Request(
        "POST", "https://a/b", {"q": ["x", None]}, {"n": [1, "\ud7ff"]}, {"H": "v"}, "/ca", {}, True
    )
    assert decode_request(encode_request(request, 2.5)) == (request, 2.5)


@pytest.mark.parametrize("body", [b"", b"\n", b"\xff\x00\n{}\n"])
def test_a_response_crosses_whole(body: bytes) -> None:
    response = Response(429, "3", body, "text/html", "Thu, 26 Nov 2026 04:00:00 GMT")
    assert decode_response(encode_response(response)) == response


def instances_of_all_errors() -> list[errors.HostedError]:
    """Return one error of each class, with every attribute set, whatever its class takes."""
    found = []
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.HostedError):
            error: Any = kind.__new__(kind)
            errors.HostedError.__init__(error, "no", hint={"at": [1, "x"]})
            error.retry_after = 7.5
            found.append(error)
    return found


@pytest.mark.parametrize("raised", instances_of_all_errors(), ids=lambda error: type(error).__name__)
def test_every_error_crosses_whole(raised: errors.HostedError) -> None:
    with pytest.raises(errors.HostedError) as caught:
        decode_response(encode_error(raised))
    assert type(caught.value) is type(raised)
    assert vars(caught.value) == vars(raised)
    assert str(caught.value) == str(raised)


def test_an_error_of_a_class_that_only_the_broker_knows_crosses_as_its_base() -> None:
    class Special(errors.Interrupted):
        """Not in the module of errors."""

    with pytest.raises(errors.Interrupted) as caught:
        decode_response(encode_error(Special("reset", path=b"x")))
    assert caught.value.__class__ is errors.Interrupted
    assert caught.value.message == "reset"


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
