# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Routes for uploads: start, whole or in chunks, resume, finish, cancel, mount."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from weakref import WeakValueDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from hosted_sandbox.registry.errors import RegistryError, bad_request, not_found
from hosted_sandbox.registry.oci import is_digest
from hosted_sandbox.registry.store import RegistryStore, Repository, Upload

_UPLOAD_ID = re.compile(r"[0-9a-f]{32}")
_CHUNK_RANGE = re.compile(r"(?:bytes[ =])?(\d+)-(\d+)(?:/(?:\d+|\*))?")


class UploadApi:
    """The upload routes of one registry. Each upload has one writer at a time; others wait."""

    def __init__(self, store: RegistryStore) -> None:
        self._store = store
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def start(self, request: Request, repository: Repository) -> Response:
        """``POST``: start an upload (202), upload a blob (``digest``, 201) or mount one (``mount``, 201)."""
        mounted = request.query_params.get("mount")
        if mounted is not None and self._mount(repository, mounted, request.query_params.get("from", "")):
            return _created(repository, mounted)
        if "digest" not in request.query_params:
            return _progress(repository, repository.start_upload(), HTTPStatus.ACCEPTED)
        digest = _asked_digest(request)
        upload = repository.start_upload()
        try:
            await _receive(request, repository, upload)
        except (ClientDisconnect, RegistryError):
            # No client knows its address, so no client can resume it.
            upload.discard()
            raise
        return await _finish(repository, upload, digest)

    async def status(self, request: Request, repository: Repository) -> Response:
        """``GET``: tell how much has arrived (204), for a client that resumes."""
        return _progress(repository, _open(request, repository), HTTPStatus.NO_CONTENT)

    async def append(self, request: Request, repository: Repository) -> Response:
        """``PATCH``: append the next chunk (202), or 416 if it does not start where the last one ended."""
        upload = _open(request, repository)
        async with self._turn(upload):
            await _receive(request, repository, upload)
            return _progress(repository, upload, HTTPStatus.ACCEPTED)

    async def finish(self, request: Request, repository: Repository) -> Response:
        """``PUT``: append the last chunk, which may be empty, and check the digest (201)."""
        digest = _asked_digest(request)
        upload = _open(request, repository)
        async with self._turn(upload):
            await _receive(request, repository, upload)
            return await _finish(repository, upload, digest)

    async def cancel(self, request: Request, repository: Repository) -> Response:
        """``DELETE``: discard what arrived (204)."""
        _open(request, repository).discard()
        return Response(status_code=HTTPStatus.NO_CONTENT)

    def _turn(self, upload: Upload) -> asyncio.Lock:
        return self._locks.setdefault(upload.id, asyncio.Lock())

    def _mount(self, repository: Repository, digest: str, source: str) -> bool:
        project, __, slug = source.partition("/")
        if project != repository.project or not is_digest(digest):
            return False
        try:
            return repository.mount(self._store.repository(project, slug), digest)
        except ValueError:
            return False


def _open(request: Request, repository: Repository) -> Upload:
    identifier = request.path_params["upload"]
    upload = repository.upload(identifier)
    if not _UPLOAD_ID.fullmatch(identifier) or not upload.exists():
        raise not_found("BLOB_UPLOAD_UNKNOWN", "no upload is open under this address", {"upload": identifier})
    return upload


def _asked_digest(request: Request) -> str:
    digest = request.query_params.get("digest", "")
    if not is_digest(digest):
        raise bad_request("DIGEST_INVALID", "a sha256 or sha512 digest is needed", {"digest": digest})
    return digest


async def _receive(request: Request, repository: Repository, upload: Upload) -> None:
    """Append the body. A partial chunk stays after a disconnect; one that contradicts its range does not."""
    if not upload.exists():
        # It was finished or canceled while this request waited.
        raise not_found("BLOB_UPLOAD_UNKNOWN", "the upload has ended", {"upload": upload.id})
    start = upload.size
    expected = _expected_bytes(request, repository, upload, start)
    # Unbuffered, so that what has arrived survives the process; a write to the page cache is too short to be
    # worth a thread.
    with upload.path.open("ab", buffering=0) as file:
        async for chunk in request.stream():
            file.write(chunk)
    received = upload.size - start
    if expected is not None and received != expected:
        upload.truncate(start)
        message = f"Content-Range announces {expected} bytes and the body has {received}"
        raise bad_request("SIZE_INVALID", message)


def _expected_bytes(request: Request, repository: Repository, upload: Upload, start: int) -> int | None:
    announced = request.headers.get("content-range")
    if announced is None:
        return None
    match = _CHUNK_RANGE.fullmatch(announced)
    first, last = (int(number) for number in match.groups()) if match else (-1, -1)
    if first != start or last < first:
        status = HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE
        message = f"the next chunk begins at byte {start}"
        raise RegistryError(status, "BLOB_UPLOAD_INVALID", message, headers=_position(repository, upload))
    return last - first + 1


async def _finish(repository: Repository, upload: Upload, digest: str) -> Response:
    if not await run_in_threadpool(repository.finish_upload, upload, digest):
        message = "the content has another digest; the upload was dropped"
        raise bad_request("DIGEST_INVALID", message, {"digest": digest})
    return _created(repository, digest)


def _created(repository: Repository, digest: str) -> Response:
    headers = {"Location": f"/v2/{repository.name}/blobs/{digest}", "Docker-Content-Digest": digest}
    return Response(status_code=HTTPStatus.CREATED, headers=headers)


def _progress(repository: Repository, upload: Upload, status: HTTPStatus) -> Response:
    return Response(status_code=status, headers=_position(repository, upload))


def _position(repository: Repository, upload: Upload) -> dict[str, str]:
    return {
        "Location": f"/v2/{repository.name}/blobs/uploads/{upload.id}",
        # The format cannot express "nothing yet": use the first byte, as in the specification's example.
        "Range": f"0-{max(upload.size - 1, 0)}",
        "Docker-Upload-UUID": upload.id,
    }
