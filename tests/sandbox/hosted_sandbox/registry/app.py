# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The OCI distribution protocol, pull and push, as a plain ASGI application for a port of its own.

The platform's specification asks for the standard protocol with credentials of the account that open only its
own space (sections Registry credentials and Authentication). Everything else follows the OCI distribution
specification: blob uploads in one piece or in chunks that can be resumed, mounts between repositories of the
account, manifests and indexes in OCI and Docker form, tag lists in pages, and error bodies
``{errors: [{code, message, detail}]}``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hosted_sandbox.registry.access import Accounts, AccountSpace, Gate, Login, check_repository
from hosted_sandbox.registry.content_api import ContentApi
from hosted_sandbox.registry.errors import RegistryError, bad_request
from hosted_sandbox.registry.oci import is_component
from hosted_sandbox.registry.store import RegistryStore, Repository
from hosted_sandbox.registry.upload_api import UploadApi

Handler = Callable[[Request, Repository], Awaitable[Response]]
_NAME_PARTS = 2


def create_registry(
    storage: Path,
    accounts: Accounts,
    on_push: Callable[[str, str], None],
    *,
    login: Login = "basic",
    token_seconds: float = 300.0,
) -> ASGIApp:
    """Build the registry over the folder `storage`.

    `accounts` returns the space of a username and secret. `on_push` is called with repository and digest in
    the event loop's thread once a manifest is stored, before the response; it should be short, and it is
    called again if the same manifest is sent again. After a crash between the two, `RegistryStore.held` lists
    what was missed.
    `login` chooses the challenge: ``basic``, or ``token`` for the bearer tokens of most public registries.
    """
    store = RegistryStore(storage)
    gate = Gate(accounts, login, token_seconds)

    async def base(request: Request) -> Response:
        gate.space(request)
        return JSONResponse({})

    async def token(request: Request) -> Response:
        return gate.token(request)

    def guarded(handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            return await handler(request, _repository(store, gate.space(request), request))

        return handle

    routes = [Route("/v2/", base), Route("/token", token)]
    routes += [
        Route(f"/v2/{{name:path}}/{path}", guarded(handler), methods=[method])
        for method, path, handler in _table(UploadApi(store), ContentApi(on_push))
    ]
    return _versioned(Starlette(routes=routes, exception_handlers=_FAILURES))


def _table(uploads: UploadApi, content: ContentApi) -> list[tuple[str, str, Handler]]:
    """Build the routes of a repository; a GET route also handles HEAD."""
    return [
        ("POST", "blobs/uploads/", uploads.start),
        ("GET", "blobs/uploads/{upload}", uploads.status),
        ("PATCH", "blobs/uploads/{upload}", uploads.append),
        ("PUT", "blobs/uploads/{upload}", uploads.finish),
        ("DELETE", "blobs/uploads/{upload}", uploads.cancel),
        ("GET", "blobs/{digest}", content.get_blob),
        ("GET", "manifests/{reference}", content.get_manifest),
        ("PUT", "manifests/{reference}", content.put_manifest),
        ("GET", "tags/list", content.list_tags),
    ]


def _repository(store: RegistryStore, space: AccountSpace, request: Request) -> Repository:
    name = request.path_params["name"]
    parts = name.split("/")
    if len(parts) != _NAME_PARTS or not all(is_component(part) for part in parts):
        raise bad_request("NAME_INVALID", "a repository is named <project>/<slug>", {"name": name})
    check_repository(space, *parts)
    return store.repository(*parts)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RegistryError)
    return error.response()


async def _no_route(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    message = "the registry has no such route or method"
    return RegistryError(HTTPStatus(error.status_code), "UNSUPPORTED", message).response()


async def _cut_off(_request: Request, _error: Exception) -> Response:
    """Handle a client that disconnected. What arrived of an upload stays, so that it can be resumed."""
    return bad_request("BLOB_UPLOAD_INVALID", "the connection was cut").response()


_FAILURES = {RegistryError: _refused, HTTPException: _no_route, ClientDisconnect: _cut_off}


def _versioned(app: ASGIApp) -> ASGIApp:
    """Add the header by which older clients know the protocol."""

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        async def send_versioned(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Docker-Distribution-API-Version"] = "registry/2.0"
            await send(message)

        await app(scope, receive, send_versioned)

    return application
