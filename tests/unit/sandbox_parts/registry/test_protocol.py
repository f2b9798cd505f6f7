# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The distribution protocol over HTTP: uploads, blobs, manifests, tags, and what each refuses."""

from __future__ import annotations

import hashlib
import json
import socket
from base64 import b64encode
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


class TestAccess:
    @pytest.mark.parametrize(
        "authorization",
        [
            None,
            "Basic",
            "Basic !!!",
            "Basic " + b64encode(b"anna").decode(),
            "Basic " + b64encode(b"anna:wrong").decode(),
            "Basic " + b64encode(b"\xff:\xff").decode(),
            "Bearer nothing",
            "Digest x",
        ],
    )
    def test_without_valid_credentials(self, registry: Running, authorization: str | None) -> None:
        headers = {"Authorization": authorization} if authorization else {}
        answer = httpx.get(f"http://{registry.host}/v2/", headers=headers)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"] == 'Basic realm="registry"'
        assert codes(answer) == ["UNAUTHORIZED"]

    def test_another_account_s_space_is_closed_whether_it_has_content_or_not(self, registry: Running) -> None:
        with registry.client() as anna, registry.client("ben", "pass:word") as ben:
            blob = push_blob(anna, b"hers")
            for path in (f"blobs/{blob['digest']}", "blobs/sha256:" + "0" * 64, "tags/list", "manifests/v1"):
                answer = ben.get(f"{REPOSITORY}/{path}")
                assert answer.status_code == 403
                assert codes(answer) == ["DENIED"]
            assert ben.post(UPLOADS).status_code == 403
            assert put(ben, b"{}").status_code == 403

    def test_a_blob_of_another_account_cannot_be_mounted(self, registry: Running) -> None:
        with registry.client() as anna, registry.client("ben", "pass:word") as ben:
            blob = push_blob(anna, b"hers")
            query = {"mount": blob["digest"], "from": "anna/shop"}
            assert ben.post("/v2/ben/shop/blobs/uploads/", params=query).status_code == 202
            assert ben.head(f"/v2/ben/shop/blobs/{blob['digest']}").status_code == 404

    @pytest.mark.parametrize(
        "name", ["shop", "anna/shop/deep", "anna/Shop", "anna/..", "anna/%2e%2e", "anna/a..b"]
    )
    def test_a_name_that_is_no_repository(self, client: httpx.Client, name: str) -> None:
        answer = client.get(f"/v2/{name}/tags/list")
        assert answer.status_code in (400, 404)
        assert codes(answer) in (["NAME_INVALID"], ["UNSUPPORTED"])

    def test_only_the_listed_repositories_open(self, registry: Running, client: httpx.Client) -> None:
        space = registry.secrets["anna", "s3cret"]
        registry.secrets["anna", "s3cret"] = type(space)("anna", {"other"})
        answer = client.post(UPLOADS)
        assert answer.status_code == 404
        assert codes(answer) == ["NAME_UNKNOWN"]
        assert client.post("/v2/anna/other/blobs/uploads/").status_code == 202

    def test_unknown_routes_and_methods(self, client: httpx.Client) -> None:
        for answer in (client.get("/"), client.get("/v2/anna"), client.get("/v2/_catalog")):
            assert answer.status_code == 404
            assert codes(answer) == ["UNSUPPORTED"]
        for answer in (client.post(f"{REPOSITORY}/tags/list"), client.delete(f"{REPOSITORY}/manifests/v1")):
            assert answer.status_code == 405
            assert codes(answer) == ["UNSUPPORTED"]


class TestTokens:
    def test_flow(self, serve: Any) -> None:
        with serve(login="token") as registry:
            challenge = httpx.get(f"http://{registry.host}/v2/").headers["WWW-Authenticate"]
            realm = f"http://{registry.host}/token"
            assert challenge == f'Bearer realm="{realm}",service="registry"'
            token = httpx.get(realm, auth=("anna", "s3cret")).json()["token"]
            headers = {"Authorization": f"Bearer {token}"}
            assert httpx.get(f"http://{registry.host}/v2/", headers=headers).status_code == 200
            registry.secrets.clear()
            assert httpx.get(f"http://{registry.host}/v2/", headers=headers).status_code == 401

    def test_expired(self, serve: Any) -> None:
        with serve(login="token", token_seconds=0) as registry:
            token = httpx.get(f"http://{registry.host}/token", auth=("anna", "s3cret")).json()["token"]
            headers = {"Authorization": f"Bearer {token}"}
            assert httpx.get(f"http://{registry.host}/v2/", headers=headers).status_code == 401

    def test_wrong_secret(self, serve: Any) -> None:
        with serve(login="token") as registry:
            assert httpx.get(f"http://{registry.host}/token", auth=("anna", "no")).status_code == 401
            assert httpx.get(f"http://{registry.host}/token").status_code == 401


class TestUploads:
    def test_monolithic_post(self, client: httpx.Client) -> None:
        blob = push_blob(client, b"content")
        answer = client.get(f"{REPOSITORY}/blobs/{blob['digest']}")
        assert answer.content == b"content"
        assert answer.headers["Docker-Content-Digest"] == blob["digest"]

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
        assert client.get(f"{REPOSITORY}/blobs/{digest(whole)}").content == whole
        assert client.get(location).status_code == 404

    @pytest.mark.parametrize("announced", ["2-4", "4-6", "0-2", "junk", "3-1"])
    def test_a_chunk_out_of_order(self, client: httpx.Client, announced: str) -> None:
        location = start(client)
        client.patch(location, content=b"one")
        answer = client.patch(location, content=b"two", headers={"Content-Range": announced})
        assert answer.status_code == 416
        assert answer.headers["Range"] == "0-2"
        assert answer.headers["Location"] == location
        assert client.get(location).headers["Range"] == "0-2"

    def test_a_chunk_of_another_size_than_announced_is_taken_back(self, client: httpx.Client) -> None:
        location = start(client)
        answer = client.patch(location, content=b"four", headers={"Content-Range": "0-9"})
        assert answer.status_code == 400
        assert codes(answer) == ["SIZE_INVALID"]
        assert client.put(location, params={"digest": digest(b"x")}, content=b"x").status_code == 201

    def test_a_cut_connection_leaves_what_arrived(self, registry: Running, client: httpx.Client) -> None:
        location = start(client)
        authorization = b64encode(b"anna:s3cret").decode()
        request = (
            f"PATCH {location} HTTP/1.1\r\nHost: {registry.host}\r\nAuthorization: Basic {authorization}\r\n"
            "Content-Length: 1000\r\n\r\n"
        )
        with socket.create_connection(("127.0.0.1", registry.port)) as connection:
            connection.sendall(request.encode() + b"begun")
            while client.get(location).headers["Range"] != "0-4":
                pass
        headers = {"Content-Range": "5-9"}
        assert client.patch(location, content=b"ended", headers=headers).status_code == 202
        answer = client.put(location, params={"digest": digest(b"begunended")})
        assert answer.status_code == 201

    def test_a_whole_blob_that_is_cut_off_leaves_nothing(
        self, registry: Running, client: httpx.Client
    ) -> None:
        authorization = b64encode(b"anna:s3cret").decode()
        request = (
            f"POST {UPLOADS}?digest={digest(b'begun')} HTTP/1.1\r\nHost: {registry.host}\r\n"
            f"Authorization: Basic {authorization}\r\nContent-Length: 1000\r\n\r\n"
        )
        uploads = registry.storage / "anna/shop/uploads"
        with socket.create_connection(("127.0.0.1", registry.port)) as connection:
            connection.sendall(request.encode() + b"begun")
            while not uploads.is_dir() or not list(uploads.iterdir()):
                pass
        while list(uploads.iterdir()):
            pass
        assert client.head(f"{REPOSITORY}/blobs/{digest(b'begun')}").status_code == 404

    @pytest.mark.parametrize("asked", ["sha256:" + "0" * 64, "sha256:12", "md5:" + "0" * 32, None])
    def test_a_wrong_digest(self, client: httpx.Client, asked: str | None) -> None:
        answer = client.put(start(client), params={"digest": asked} if asked else {}, content=b"content")
        assert answer.status_code == 400
        assert codes(answer) == ["DIGEST_INVALID"]
        assert client.head(f"{REPOSITORY}/blobs/{digest(b'content')}").status_code == 404

    def test_mount(self, client: httpx.Client) -> None:
        blob = push_blob(client, b"shared")
        query = {"mount": blob["digest"], "from": "anna/shop"}
        answer = client.post("/v2/anna/other/blobs/uploads/", params=query)
        assert answer.status_code == 201
        assert client.get(answer.headers["Location"]).content == b"shared"

    @pytest.mark.parametrize(
        "query",
        [
            {"mount": "sha256:" + "0" * 64, "from": "anna/shop"},
            {"mount": "junk", "from": "anna/shop"},
            {"mount": "sha256:" + "0" * 64, "from": "anna/../shop"},
            {"mount": "sha256:" + "0" * 64},
        ],
    )
    def test_a_mount_that_fails_becomes_an_upload(self, client: httpx.Client, query: dict[str, str]) -> None:
        answer = client.post("/v2/anna/other/blobs/uploads/", params=query)
        assert answer.status_code == 202
        assert client.get(answer.headers["Location"]).status_code == 204


class TestManifests:
    def test_put_and_get_by_tag_and_digest(self, client: httpx.Client) -> None:
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

    def test_negotiation(self, client: httpx.Client) -> None:
        put(client, image(client))
        url = f"{REPOSITORY}/manifests/v1"
        answer = client.get(url, headers={"Accept": oci.DOCKER_MANIFEST})
        assert (answer.status_code, codes(answer)) == (404, ["MANIFEST_UNKNOWN"])
        for accept in (f"{oci.DOCKER_MANIFEST}, {oci.OCI_MANIFEST};q=0.5", "*/*", "application/*"):
            assert client.get(url, headers={"Accept": accept}).status_code == 200

    def test_a_push_is_announced(self, registry: Running, client: httpx.Client) -> None:
        body = image(client, "arm64")
        put(client, body, digest(body))
        put(client, body, "v1")
        assert registry.pushes == [("anna/shop", digest(body))] * 2
        assert registry.store.repository("anna", "shop").image(digest(body)).platforms == ("linux/arm64",)

    def test_index(self, registry: Running, client: httpx.Client) -> None:
        bodies = [image(client, architecture) for architecture in ("amd64", "arm64")]
        for body in bodies:
            put(client, body, digest(body))
        entries = [
            {"mediaType": oci.OCI_MANIFEST, "digest": digest(body), "size": len(body)} for body in bodies
        ]
        index = json.dumps({"schemaVersion": 2, "manifests": entries}).encode()
        answer = put(client, index, "v1", oci.OCI_INDEX)
        assert answer.status_code == 201
        pushed = registry.store.repository("anna", "shop").image(registry.pushes[-1][1])
        assert pushed.platforms == ("linux/amd64", "linux/arm64")
        assert client.get(f"{REPOSITORY}/manifests/v1").headers["Content-Type"] == oci.OCI_INDEX

    def test_every_missing_part_is_named(self, registry: Running, client: httpx.Client) -> None:
        missing = [
            {"mediaType": oci.OCI_LAYER, "digest": f"sha256:{number * 64}", "size": 1} for number in "12"
        ]
        answer = put(client, image(client, layers=missing))
        assert answer.status_code == 400
        assert codes(answer) == ["MANIFEST_BLOB_UNKNOWN"] * 2
        named = [error["detail"]["digest"] for error in answer.json()["errors"]]
        assert named == [entry["digest"] for entry in missing]
        assert registry.pushes == []
        assert client.get(f"{REPOSITORY}/manifests/v1").status_code == 404

    @pytest.mark.parametrize(
        "changes",
        [
            {"schemaVersion": 1},
            {"mediaType": "application/vnd.docker.distribution.manifest.v1+json"},
            {"mediaType": oci.DOCKER_MANIFEST},
            {"config": None},
            {"layers": {}},
            {"layers": [{"digest": "sha256:1", "size": 1, "mediaType": oci.OCI_LAYER}]},
            {"layers": [{"digest": digest(b"layer"), "size": 1, "mediaType": oci.OCI_LAYER}]},
        ],
    )
    def test_invalid(self, client: httpx.Client, changes: dict[str, Any]) -> None:
        answer = put(client, image(client, **changes))
        assert (answer.status_code, codes(answer)) == (400, ["MANIFEST_INVALID"])

    def test_references(self, client: httpx.Client) -> None:
        body = image(client)
        assert codes(put(client, body, "sha256:" + "0" * 64)) == ["DIGEST_INVALID"]
        for reference in ("-v1", "a" * 129, "sha256:12"):
            assert codes(put(client, body, reference)) == ["MANIFEST_INVALID"]
            assert codes(client.get(f"{REPOSITORY}/manifests/{reference}")) == ["MANIFEST_UNKNOWN"]

    def test_too_large(self, client: httpx.Client) -> None:
        answer = put(client, b" " * (4 * 1024 * 1024 + 1))
        assert (answer.status_code, codes(answer)) == (413, ["SIZE_INVALID"])

    def test_a_tag_moves_and_the_old_digest_stays(self, client: httpx.Client) -> None:
        old, new = image(client), image(client, "arm64")
        put(client, old)
        put(client, new)
        assert client.get(f"{REPOSITORY}/manifests/v1").content == new
        assert client.get(f"{REPOSITORY}/manifests/{digest(old)}").content == old


class TestTags:
    def test_pages(self, client: httpx.Client) -> None:
        body = image(client)
        for tag in ("c", "a", "b", "d"):
            put(client, body, tag)
        url: str | None = f"{REPOSITORY}/tags/list?n=3"
        pages = []
        while url:
            answer = client.get(url)
            pages.append(answer.json()["tags"])
            url = answer.links.get("next", {}).get("url")
        assert pages == [["a", "b", "c"], ["d"]]
        assert client.get(f"{REPOSITORY}/tags/list").json() == {
            "name": "anna/shop",
            "tags": ["a", "b", "c", "d"],
        }
        assert client.get(f"{REPOSITORY}/tags/list?last=b").json()["tags"] == ["c", "d"]
        assert client.get(f"{REPOSITORY}/tags/list?n=0").json()["tags"] == []
        assert client.get(f"{REPOSITORY}/tags/list?n=x").status_code == 400

    def test_nothing_pushed(self, client: httpx.Client) -> None:
        answer = client.get(f"{REPOSITORY}/tags/list")
        assert (answer.status_code, codes(answer)) == (404, ["NAME_UNKNOWN"])
