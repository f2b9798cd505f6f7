# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The distribution protocol over HTTP: uploads, blobs, manifests, tags, and what each refuses."""

from __future__ import annotations

import hashlib
import json
import socket
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from hosted_sandbox.registry import oci

if TYPE_CHECKING:
    from .conftest import Running

REPOSITORY = "/v2/anna/shop"
UPLOADS = f"{REPOSITORY}/blobs/uploads/"


def digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def push_blob(client: httpx.Client, content: bytes, repository: str = REPOSITORY) -> dict[str, Any]:
    answer = client.post(f"{repository}/blobs/uploads/", params={"digest": digest(content)}, content=content)
    assert answer.status_code == 201
    return {"mediaType": oci.OCI_LAYER, "digest": digest(content), "size": len(content)}


def image(client: httpx.Client, architecture: str = "amd64", **changes: Any) -> bytes:
    config = json.dumps({"os": "linux", "architecture": architecture}).encode()
    manifest = {
        "schemaVersion": 2,
        "mediaType": oci.OCI_MANIFEST,
        "config": push_blob(client, config) | {"mediaType": oci.OCI_CONFIG},
        "layers": [push_blob(client, b"layer")],
    }
    return json.dumps(manifest | changes).encode()


def put(
    client: httpx.Client, body: bytes, reference: str = "v1", media_type: str = oci.OCI_MANIFEST
) -> httpx.Response:
    url = f"{REPOSITORY}/manifests/{reference}"
    return client.put(url, content=body, headers={"Content-Type": media_type})


def codes(answer: httpx.Response) -> list[str]:
    """The error codes of a refusal, whose body has the specification's form."""
    errors = answer.json()["errors"]
    assert all(set(error) == {"code", "message", "detail"} and error["message"] for error in errors)
    return [error["code"] for error in errors]


def start(client: httpx.Client) -> str:
    answer = client.post(UPLOADS)
    assert answer.status_code == 202
    assert answer.headers["Range"] == "0-0"
    return answer.headers["Location"]


def refused(answer: httpx.Response) -> tuple[int, list[str]]:
    return answer.status_code, codes(answer)


@contextmanager
def cut_off(registry: Running, line: str) -> Iterator[None]:
    """Send the begin of a body on a connection that ends with the block."""
    head = f"Authorization: Basic {b64encode(b'anna:s3cret').decode()}\r\nContent-Length: 1000\r\n\r\n"
    with socket.create_connection(("127.0.0.1", registry.port)) as connection:
        connection.sendall(f"{line} HTTP/1.1\r\nHost: {registry.host}\r\n{head}begun".encode())
        yield


class TestAccess:
    def test_without_valid_credentials(self, registry: Running) -> None:
        pairs = (b"anna", b"anna:wrong", b"\xff:\xff")
        basic = ["Basic", "Basic !!!", *(f"Basic {b64encode(pair).decode()}" for pair in pairs)]
        for authorization in (None, *basic, "Bearer nothing", "Digest x"):
            headers = {"Authorization": authorization} if authorization else {}
            answer = httpx.get(f"http://{registry.host}/v2/", headers=headers)
            assert refused(answer) == (401, ["UNAUTHORIZED"]), authorization
            assert answer.headers["WWW-Authenticate"] == 'Basic realm="registry"'

    def test_another_account_s_space_is_closed_whether_it_has_content_or_not(self, registry: Running) -> None:
        """And its blobs cannot be mounted."""
        with registry.client() as anna, registry.client("ben", "pass:word") as ben:
            blob = push_blob(anna, b"hers")
            for path in (f"blobs/{blob['digest']}", "blobs/sha256:" + "0" * 64, "tags/list", "manifests/v1"):
                assert refused(ben.get(f"{REPOSITORY}/{path}")) == (403, ["DENIED"])
            assert ben.post(UPLOADS).status_code == put(ben, b"{}").status_code == 403
            query = {"mount": blob["digest"], "from": "anna/shop"}
            assert ben.post("/v2/ben/shop/blobs/uploads/", params=query).status_code == 202
            assert ben.head(f"/v2/ben/shop/blobs/{blob['digest']}").status_code == 404

    def test_what_is_no_repository_and_no_route(self, registry: Running, client: httpx.Client) -> None:
        for name in ("shop", "anna/shop/deep", "anna/Shop", "anna/..", "anna/%2e%2e", "anna/a..b"):
            answer = client.get(f"/v2/{name}/tags/list")
            assert answer.status_code in (400, 404)
            assert codes(answer) in (["NAME_INVALID"], ["UNSUPPORTED"])
        for path in ("/", "/v2/anna", "/v2/_catalog"):
            assert refused(client.get(path)) == (404, ["UNSUPPORTED"])
        for answer in (client.post(f"{REPOSITORY}/tags/list"), client.delete(f"{REPOSITORY}/manifests/v1")):
            assert refused(answer) == (405, ["UNSUPPORTED"])
        space = registry.secrets["anna", "s3cret"]
        registry.secrets["anna", "s3cret"] = type(space)("anna", {"other"})  # only listed ones open
        assert refused(client.post(UPLOADS)) == (404, ["NAME_UNKNOWN"])
        assert client.post("/v2/anna/other/blobs/uploads/").status_code == 202


class TestTokens:
    @pytest.mark.parametrize("seconds", [300, 0])
    def test_flow(self, serve: Any, seconds: float) -> None:
        with serve(login="token", token_seconds=seconds) as registry:
            challenge = httpx.get(f"http://{registry.host}/v2/").headers["WWW-Authenticate"]
            realm = f"http://{registry.host}/token"
            assert challenge == f'Bearer realm="{realm}",service="registry"'
            assert httpx.get(realm).status_code == httpx.get(realm, auth=("anna", "no")).status_code == 401
            token = httpx.get(realm, auth=("anna", "s3cret")).json()["token"]
            headers = {"Authorization": f"Bearer {token}"}
            opened = httpx.get(f"http://{registry.host}/v2/", headers=headers).status_code
            assert opened == (200 if seconds else 401)
            registry.secrets.clear()
            assert httpx.get(f"http://{registry.host}/v2/", headers=headers).status_code == 401


class TestUploads:
    def test_chunks(self, client: httpx.Client) -> None:
        location = start(client)
        for first, chunk in ((0, b"one"), (3, b"two")):
            headers = {"Content-Range": f"{first}-{first + 2}"}
            answer = client.patch(location, content=chunk, headers=headers)
            assert answer.status_code == 202
            location = answer.headers["Location"]
            assert answer.headers["Range"] == f"0-{first + 2}"
        status = client.get(location)
        assert (status.status_code, status.headers["Range"]) == (204, "0-5")
        whole = b"onetwothree"
        headers = {"Content-Range": "6-10"}
        answer = client.put(location, params={"digest": digest(whole)}, content=b"three", headers=headers)
        assert answer.status_code == 201
        answer = client.get(f"{REPOSITORY}/blobs/{digest(whole)}")
        assert (answer.content, answer.headers["Docker-Content-Digest"]) == (whole, digest(whole))
        assert client.get(location).status_code == 404

    def test_a_chunk_out_of_order(self, client: httpx.Client) -> None:
        """Or of another size than announced: what is there stays."""
        location = start(client)
        client.patch(location, content=b"one")
        for announced in ("2-4", "4-6", "0-2", "junk", "3-1"):
            answer = client.patch(location, content=b"two", headers={"Content-Range": announced})
            assert (answer.status_code, answer.headers["Range"]) == (416, "0-2"), announced
            assert answer.headers["Location"] == location
            assert client.get(location).headers["Range"] == "0-2"
        answer = client.patch(location, content=b"four", headers={"Content-Range": "3-9"})
        assert refused(answer) == (400, ["SIZE_INVALID"])
        assert client.put(location, params={"digest": digest(b"onex")}, content=b"x").status_code == 201

    def test_a_cut_connection_leaves_what_arrived(self, registry: Running, client: httpx.Client) -> None:
        location = start(client)
        with cut_off(registry, f"PATCH {location}"):
            while client.get(location).headers["Range"] != "0-4":
                pass
        headers = {"Content-Range": "5-9"}
        assert client.patch(location, content=b"ended", headers=headers).status_code == 202
        answer = client.put(location, params={"digest": digest(b"begunended")})
        assert answer.status_code == 201

    def test_a_whole_blob_that_is_cut_off_leaves_nothing(
        self, registry: Running, client: httpx.Client
    ) -> None:
        uploads = registry.storage / "anna/shop/uploads"
        with cut_off(registry, f"POST {UPLOADS}?digest={digest(b'begun')}"):
            while not uploads.is_dir() or not list(uploads.iterdir()):
                pass
        while list(uploads.iterdir()):
            pass
        assert client.head(f"{REPOSITORY}/blobs/{digest(b'begun')}").status_code == 404

    def test_a_wrong_digest(self, client: httpx.Client) -> None:
        for asked in ("sha256:" + "0" * 64, "sha256:12", "md5:" + "0" * 32, None):
            answer = client.put(start(client), params={"digest": asked} if asked else {}, content=b"content")
            assert refused(answer) == (400, ["DIGEST_INVALID"])
            assert client.head(f"{REPOSITORY}/blobs/{digest(b'content')}").status_code == 404

    def test_a_mount_that_fails_becomes_an_upload(self, client: httpx.Client) -> None:
        url, none = "/v2/anna/other/blobs/uploads/", "sha256:" + "0" * 64
        for mount, place in (
            (none, "anna/shop"),
            ("junk", "anna/shop"),
            (none, "anna/../shop"),
            (none, None),
        ):
            answer = client.post(url, params={"mount": mount, **({"from": place} if place else {})})
            assert answer.status_code == 202
            assert client.get(answer.headers["Location"]).status_code == 204
        blob = push_blob(client, b"shared")
        answer = client.post(url, params={"mount": blob["digest"], "from": "anna/shop"})
        assert answer.status_code == 201
        assert client.get(answer.headers["Location"]).content == b"shared"


class TestManifests:
    def test_put_and_get_by_tag_and_digest(self, client: httpx.Client) -> None:
        """A tag moves, and the old digest stays."""
        body = image(client)
        answer = put(client, body)
        assert answer.status_code == 201
        assert answer.headers["Docker-Content-Digest"] == digest(body)
        for url in (answer.headers["Location"], f"{REPOSITORY}/manifests/v1"):
            for read in (client.get(url), client.get(url, headers={"Accept": oci.OCI_MANIFEST})):
                assert read.content == body
                assert read.headers["Content-Type"] == oci.OCI_MANIFEST
                assert read.headers["Docker-Content-Digest"] == digest(body)
            head = client.head(url)
            assert (head.status_code, head.headers["Content-Length"]) == (200, str(len(body)))
        answer = client.get(url, headers={"Accept": oci.DOCKER_MANIFEST})
        assert refused(answer) == (404, ["MANIFEST_UNKNOWN"])
        for accept in (f"{oci.DOCKER_MANIFEST}, {oci.OCI_MANIFEST};q=0.5", "*/*", "application/*"):
            assert client.get(url, headers={"Accept": accept}).status_code == 200
        put(client, new := image(client, "arm64"))
        assert client.get(url).content == new
        assert client.get(f"{REPOSITORY}/manifests/{digest(body)}").content == body

    def test_a_push_is_announced(self, registry: Running, client: httpx.Client) -> None:
        """Of an image as of an index."""
        bodies = [image(client, architecture) for architecture in ("amd64", "arm64")]
        for body in bodies:
            put(client, body, digest(body))
        put(client, bodies[1], "v1")
        announced = [digest(bodies[0]), digest(bodies[1]), digest(bodies[1])]
        assert registry.pushes == [("anna/shop", each) for each in announced]
        repository = registry.store.repository("anna", "shop")
        assert repository.image(digest(bodies[1])).platforms == ("linux/arm64",)
        entries = [
            {"mediaType": oci.OCI_MANIFEST, "digest": digest(body), "size": len(body)} for body in bodies
        ]
        index = json.dumps({"schemaVersion": 2, "manifests": entries}).encode()
        assert put(client, index, "v1", oci.OCI_INDEX).status_code == 201
        assert repository.image(registry.pushes[-1][1]).platforms == ("linux/amd64", "linux/arm64")
        assert client.get(f"{REPOSITORY}/manifests/v1").headers["Content-Type"] == oci.OCI_INDEX

    def test_every_missing_part_is_named(self, registry: Running, client: httpx.Client) -> None:
        missing = [
            {"mediaType": oci.OCI_LAYER, "digest": f"sha256:{number * 64}", "size": 1} for number in "12"
        ]
        answer = put(client, image(client, layers=missing))
        assert refused(answer) == (400, ["MANIFEST_BLOB_UNKNOWN"] * 2)
        named = [error["detail"]["digest"] for error in answer.json()["errors"]]
        assert named == [entry["digest"] for entry in missing]
        assert registry.pushes == []
        assert client.get(f"{REPOSITORY}/manifests/v1").status_code == 404

    def test_what_is_refused(self, client: httpx.Client) -> None:
        changes: tuple[dict[str, Any], ...] = (
            {"schemaVersion": 1},
            {"mediaType": "application/vnd.docker.distribution.manifest.v1+json"},
            {"mediaType": oci.DOCKER_MANIFEST},
            {"config": None},
            {"layers": {}},
            {"layers": [{"digest": "sha256:1", "size": 1, "mediaType": oci.OCI_LAYER}]},
            {"layers": [{"digest": digest(b"layer"), "size": 1, "mediaType": oci.OCI_LAYER}]},
        )
        for change in changes:
            assert refused(put(client, image(client, **change))) == (400, ["MANIFEST_INVALID"]), change
        body = image(client)
        assert codes(put(client, body, "sha256:" + "0" * 64)) == ["DIGEST_INVALID"]
        for reference in ("-v1", "a" * 129, "sha256:12"):
            assert codes(put(client, body, reference)) == ["MANIFEST_INVALID"]
            assert codes(client.get(f"{REPOSITORY}/manifests/{reference}")) == ["MANIFEST_UNKNOWN"]
        assert refused(put(client, b" " * (4 * 1024 * 1024 + 1))) == (413, ["SIZE_INVALID"])


class TestTags:
    def test_pages(self, client: httpx.Client) -> None:
        first: str = f"{REPOSITORY}/tags/list"
        assert refused(client.get(first)) == (404, ["NAME_UNKNOWN"])
        body = image(client)
        for tag in ("c", "a", "b", "d"):
            put(client, body, tag)
        url: str | None = f"{first}?n=3"
        pages = []
        while url:
            answer = client.get(url)
            pages.append(answer.json()["tags"])
            url = answer.links.get("next", {}).get("url")
        assert pages == [["a", "b", "c"], ["d"]]
        assert client.get(first).json() == {"name": "anna/shop", "tags": ["a", "b", "c", "d"]}
        assert client.get(f"{first}?last=b").json()["tags"] == ["c", "d"]
        assert client.get(f"{first}?n=0").json()["tags"] == []
        assert client.get(f"{first}?n=x").status_code == 400
