# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Endpoints / Files."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from starlette.responses import Response

from hosted_sandbox.api import bodies, shapes
from hosted_sandbox.api.call import Call, Chapter, Current
from hosted_sandbox.domain import files, lifecycle
from hosted_sandbox.domain.capabilities import require
from hosted_sandbox.domain.errors import AbsentError, RefusedError
from hosted_sandbox.store.records import Service

router = Chapter(tags=["Files"])


def _service(call: Call, key: str) -> Service:
    service = call.service(key)
    require(call.world, service, "files")
    return service


def _place(call: Call, service: Service, place: Path) -> dict[str, str]:
    return {"path": str(place.relative_to(lifecycle.root(call.world, service).resolve()))}


def _key(service: Service, directory: str) -> str:
    return f"{service.id}/{'' if directory in ('.', '/') else directory.strip('/')}"


def _show_late(call: Call, service: Service, directory: str) -> None:
    """Let a directory be listed as it is now for a while, if this platform does."""
    with suppress(AbsentError, RefusedError):  # a write makes the missing ones
        call.world.keep(
            "files", _key(service, directory), lambda: files.entries(call.world, service, directory)
        )


@router.get("/api/resources/{id}/files", name="files.list", response_model=list[shapes.FileEntry])
async def list_files(call: Current, id: str, directory: str = "") -> Response:
    """List a directory."""
    service = _service(call, id)
    found = files.entries(call.world, service, directory)
    return call.json(call.world.shown("files", _key(service, directory), found))


@router.get("/api/resources/{id}/files/contents", name="files.read", response_model=shapes.Content)
async def read_file(call: Current, id: str, path: str) -> Response:
    """Return the text of a file of at most 2 MB."""
    return call.json({"content": files.read(call.world, _service(call, id), path)})


@router.post("/api/resources/{id}/files/write", name="files.write")
async def write_file(call: Current, id: str, body: bodies.Write) -> Response:
    """Create or replace a file."""
    service = _service(call, id)
    _show_late(call, service, body.path.rpartition("/")[0])
    place = files.write(call.world, service, body.path, body.content)
    return call.written(lambda: _place(call, service, place))


@router.post("/api/resources/{id}/files/directory", name="files.directory")
async def make_directory(call: Current, id: str, body: bodies.Directory) -> Response:
    """Create a directory."""
    service = _service(call, id)
    _show_late(call, service, body.root)
    place = files.make_directory(call.world, service, body.root, body.name)
    return call.written(lambda: _place(call, service, place))


@router.put("/api/resources/{id}/files/rename", name="files.rename")
async def rename_file(call: Current, id: str, body: bodies.Rename) -> Response:
    """Rename or move a file or directory."""
    service = _service(call, id)
    _show_late(call, service, body.root)
    place = files.rename(call.world, service, body.root, body.old, body.new)
    return call.written(lambda: _place(call, service, place))


@router.post("/api/resources/{id}/files/delete", name="files.delete")
async def delete_files(call: Current, id: str, body: bodies.Names) -> Response:
    """Delete up to 100 names permanently."""
    service = _service(call, id)
    _show_late(call, service, body.root)
    files.delete(call.world, service, body.root, body.files)
    return call.written(lambda: {"files": body.files})
