# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Routes for the content of a repository: blobs, manifests and tags."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response

from hosted_sandbox.registry.errors import RegistryError, bad_request, not_found
from hosted_sandbox.registry.oci import Manifest, ManifestError, is_digest, is_tag, parse_manifest
from hosted_sandbox.registry.store import Repository, manifest_digest

MAX_MANIFEST_BYTES = 4 * 1024 * 1024


class ContentApi:
    """The blob, manifest and tag routes of one registry. What is pushed stays: nothing is deleted."""

    def __init__(self, on_push: Callable[[str, str], None]) -> None:
        self._on_push = on_push

    async def get_blob(self, request: Request, repository: Repository) -> Response:
        """``GET`` and ``HEAD`` of a blob, whole or a range of it."""
        digest = _known_blob(request, repository)
        return FileResponse(
            repository.blobs.path(digest),
            headers={"Docker-Content-Digest": digest},
            media_type="application/octet-stream",
        )

    async def get_manifest(self, request: Request, repository: Repository) -> Response:
        """``GET`` and ``HEAD`` of a manifest by tag or digest, in the form it was pushed in."""
        digest = _known_manifest(request, repository)
        body, manifest = repository.manifest(digest)
        if not _accepts(request, manifest.media_type):
            message = f"the manifest is {manifest.media_type}, which the Accept header leaves out"
            raise not_found("MANIFEST_UNKNOWN", message)
        return Response(body, headers={"Docker-Content-Digest": digest}, media_type=manifest.media_type)

    async def put_manifest(self, request: Request, repository: Repository) -> Response:
        """``PUT`` of a manifest (201). Its blobs must already exist."""
        body = await _body(request)
        manifest = _parsed(body, request.headers.get("content-type"))
        reference = request.path_params["reference"]
        digest, tag = _target(body, reference)
        _check_references(manifest, repository)
        repository.put_manifest(body, digest, tag)
        self._on_push(repository.name, digest)
        headers = {
            "Location": f"/v2/{repository.name}/manifests/{digest}",
            "Docker-Content-Digest": digest,
        }
        return Response(status_code=HTTPStatus.CREATED, headers=headers)

    async def list_tags(self, request: Request, repository: Repository) -> Response:
        """``GET`` of ``{name, tags}``, at most ``n`` of them after ``last``, with a Link to the next page."""
        if not repository.exists():
            raise not_found("NAME_UNKNOWN", "nothing was pushed here yet", {"name": repository.name})
        last = request.query_params.get("last", "")
        tags = [tag for tag in repository.tags() if tag > last]
        limit = request.query_params.get("n")
        if limit is None:
            return JSONResponse({"name": repository.name, "tags": tags})
        if not limit.isdecimal():
            raise bad_request("UNSUPPORTED", "n is not a number", {"n": limit})
        page = tags[: int(limit)]
        headers = {}
        if page and len(page) < len(tags):
            query = urlencode({"n": limit, "last": page[-1]})
            headers["Link"] = f'</v2/{repository.name}/tags/list?{query}>; rel="next"'
        return JSONResponse({"name": repository.name, "tags": page}, headers=headers)


def _known_blob(request: Request, repository: Repository) -> str:
    digest: str = request.path_params["digest"]
    if not is_digest(digest):
        raise bad_request("DIGEST_INVALID", "this is not a sha256 or sha512 digest", {"digest": digest})
    if not repository.blobs.path(digest).is_file():
        raise not_found("BLOB_UNKNOWN", "the repository has no such blob", {"digest": digest})
    return digest


def _known_manifest(request: Request, repository: Repository) -> str:
    reference: str = request.path_params["reference"]
    digest: str | None = None
    if is_digest(reference):
        digest = reference
    elif is_tag(reference):
        digest = repository.tagged(reference)
    if digest is None or not repository.has_manifest(digest):
        raise not_found("MANIFEST_UNKNOWN", "the repository has no such manifest", {"reference": reference})
    return digest


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_MANIFEST_BYTES:
            message = f"a manifest has at most {MAX_MANIFEST_BYTES} bytes"
            raise RegistryError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "SIZE_INVALID", message)
    return bytes(body)


def _parsed(body: bytes, content_type: str | None) -> Manifest:
    try:
        return parse_manifest(body, (content_type or "").partition(";")[0].strip() or None)
    except ManifestError as error:
        raise bad_request("MANIFEST_INVALID", str(error)) from error


def _target(body: bytes, reference: str) -> tuple[str, str | None]:
    """Return the digest and the tag of a manifest that is pushed."""
    if is_tag(reference):
        return manifest_digest(body, ""), reference
    if not is_digest(reference):
        raise bad_request("MANIFEST_INVALID", "this is neither a tag nor a digest", {"reference": reference})
    digest = manifest_digest(body, reference)
    if digest != reference:
        raise bad_request("DIGEST_INVALID", f"the manifest's digest is {digest}", {"digest": reference})
    return digest, None


def _check_references(manifest: Manifest, repository: Repository) -> None:
    missing = [blob.digest for blob in manifest.blobs if not repository.blobs.path(blob.digest).is_file()]
    missing += [child.digest for child in manifest.children if not repository.has_manifest(child.digest)]
    if missing:
        message = "the manifest refers to content that is not in the repository"
        details = ({"digest": digest} for digest in dict.fromkeys(missing))
        raise bad_request("MANIFEST_BLOB_UNKNOWN", message, *details)
    for part in (*manifest.blobs, *manifest.children):
        if repository.blobs.path(part.digest).stat().st_size != part.size:
            raise bad_request("MANIFEST_INVALID", "a part has another size", {"digest": part.digest})


def _accepts(request: Request, media_type: str) -> bool:
    wanted = ",".join(request.headers.getlist("accept"))
    kinds = {kind.partition(";")[0].strip() for kind in wanted.split(",")} - {""}
    return not kinds or not kinds.isdisjoint({media_type, "*/*", "application/*"})
