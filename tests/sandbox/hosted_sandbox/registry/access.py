# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Access to the registry: Basic credentials, or the bearer tokens that they are exchanged for."""

from __future__ import annotations

import base64
import binascii
import secrets
import time
from collections.abc import Callable, Container
from dataclasses import dataclass
from http import HTTPStatus
from typing import Literal

from starlette.requests import Request
from starlette.responses import JSONResponse

from hosted_sandbox.registry.errors import RegistryError, not_found

Login = Literal["basic", "token"]


@dataclass(frozen=True)
class AccountSpace:
    """The part of the registry that one account can access (spec, section Registry credentials).

    `project` is the first part of its repository paths. `slugs`, if given, are the only
    repositories there; None lets a push create any repository.
    """

    project: str
    slugs: Container[str] | None = None


Accounts = Callable[[str, str], AccountSpace | None]
"""Returns the space of a username and secret, or None if they are wrong."""


class Gate:
    """Checks the credentials of each request.

    With `login` ``basic`` the client sends them every time; with ``token`` it must exchange them at
    ``/token`` for a bearer token of `token_seconds`, as most public registries do. Basic is accepted in both.
    """

    def __init__(self, accounts: Accounts, login: Login, token_seconds: float) -> None:
        self._accounts = accounts
        self._login = login
        self._token_seconds = token_seconds
        self._tokens: dict[str, tuple[str, str, float]] = {}

    def space(self, request: Request) -> AccountSpace:
        """Return the space of the caller, or raise 401 UNAUTHORIZED with the challenge to log in."""
        scheme, __, value = request.headers.get("authorization", "").partition(" ")
        pair = {"basic": _basic, "bearer": self._bearer}.get(scheme.lower(), _nothing)(value.strip())
        space = self._accounts(*pair) if pair else None
        if space is None:
            raise self._unauthorized(request)
        return space

    def token(self, request: Request) -> JSONResponse:
        """``GET /token``: exchange Basic credentials for a bearer token.

        The token represents the credentials, not the account: they are checked again with every
        request, so a changed secret revokes the tokens made from the old one.
        """
        pair = _basic(request.headers.get("authorization", "").partition(" ")[2].strip())
        if pair is None or self._accounts(*pair) is None:
            raise _refusal('Basic realm="registry"')
        now = time.monotonic()
        self._tokens = {token: entry for token, entry in self._tokens.items() if entry[2] > now}
        token = secrets.token_urlsafe(32)
        self._tokens[token] = (*pair, now + self._token_seconds)
        return JSONResponse({"token": token, "access_token": token, "expires_in": int(self._token_seconds)})

    def _bearer(self, token: str) -> tuple[str, str] | None:
        username, secret, expiry = self._tokens.get(token, ("", "", 0.0))
        return (username, secret) if time.monotonic() < expiry else None

    def _unauthorized(self, request: Request) -> RegistryError:
        if self._login == "basic":
            return _refusal('Basic realm="registry"')
        realm = request.url.replace(path="/token", query="")
        return _refusal(f'Bearer realm="{realm}",service="registry"')


def check_repository(space: AccountSpace, project: str, slug: str) -> None:
    """Refuse a repository outside `space`: 403 DENIED for another project, 404 for an unknown slug.

    The response for another account's project is the same whether the repository exists or not.
    """
    if project != space.project:
        message = "these credentials open their own project only"
        raise RegistryError(HTTPStatus.FORBIDDEN, "DENIED", message, {"project": project})
    if space.slugs is not None and slug not in space.slugs:
        raise not_found("NAME_UNKNOWN", "no application has this name", {"name": f"{project}/{slug}"})


def _basic(value: str) -> tuple[str, str] | None:
    try:
        username, colon, secret = base64.b64decode(value, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return (username, secret) if colon else None


def _nothing(_value: str) -> None:
    return None


def _refusal(challenge: str) -> RegistryError:
    return RegistryError(
        HTTPStatus.UNAUTHORIZED,
        "UNAUTHORIZED",
        "log in with the account's registry credentials",
        headers={"WWW-Authenticate": challenge},
    )
