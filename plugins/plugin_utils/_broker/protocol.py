# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The messages between workers and the connection broker, and the address of its socket.

A message is one JSON line. The line of a response is followed by the body as the platform sent it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._api import errors
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Request, Response

MAX_ADDRESS = 100
"""The longest address of a socket that every system allows, in bytes."""


class BrokerDefect(Exception):
    """A defect in the broker. Names the class of the error only, because its text may hold secrets."""


def encode_request(request: Request, seconds: float) -> bytes:
    """Return the message that :func:`decode_request` reads."""
    return json.dumps([vars(request), seconds]).encode()


def decode_request(message: bytes) -> tuple[Request, float]:
    """Return a request and the seconds that it may take."""
    fields, seconds = json.loads(message)
    return Request(**fields), seconds


def encode_response(response: Response) -> bytes:
    """Return the message that :func:`decode_response` returns as a response."""
    fields = dict(vars(response))
    body: bytes = fields.pop("body")
    return json.dumps(fields).encode() + b"\n" + body


def encode_error(error: Exception) -> bytes:
    """Return the message that makes :func:`decode_response` raise the same error."""
    if not isinstance(error, errors.HostedError):
        return json.dumps({"defect": type(error).__name__}).encode()
    name = next(kind.__name__ for kind in type(error).__mro__ if vars(errors).get(kind.__name__) is kind)
    return json.dumps({"error": name, "state": vars(error)}, default=str).encode()


def decode_response(message: bytes) -> Response:
    """Return the platform's response, or raise the error that the broker met instead.

    :raises HostedError: of the class, and with the message, details and other attributes, that it has there.
    :raises BrokerDefect: when the broker met an error that is not one of the collection's.
    """
    line, _separator, body = message.partition(b"\n")
    fields = json.loads(line)
    if "defect" in fields:
        raise BrokerDefect(
            f"the connection broker failed with {fields['defect']}, which is a defect of the collection; "
            "set hosted_keep_connections: false to run without it"
        )
    if "error" in fields:
        raise restore_error(fields["error"], fields["state"])
    return Response(body=body, **fields)


def restore_error(name: str, state: dict[str, Any]) -> errors.HostedError:
    """Return an error as it was, whatever arguments its class takes."""
    kind: type[errors.HostedError] = vars(errors)[name]
    error = kind.__new__(kind)
    error.args = (state["message"],)
    vars(error).update(state)
    return error


@contextmanager
def socket_address(path: str) -> Iterator[str]:
    """Yield a name of the socket at ``path`` that is short enough for an address, however deep it is."""
    if len(os.fsencode(path)) <= MAX_ADDRESS:
        yield path
        return
    folder, name = os.path.split(path)
    handle = os.open(folder, os.O_RDONLY)
    try:
        yield f"/dev/fd/{handle}/{name}"
    finally:
        os.close(handle)
