# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registries that keep to the distribution protocol in other ways than the sandbox's own."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ansible_collections.hosted.services.plugins.module_utils._api import registry, uploads
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConfigurationError,
    HostedError,
    RateLimited,
    Redirected,
    Refused,
    ServerFailure,
    UnexpectedAnswer,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import RegistryCredentials
from unit.sandbox_parts.registry.conftest import serving

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONTENT = os.urandom(1000)
DIGEST = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"

Headers = list[tuple[bytes, bytes]]
Answer = tuple[int, Headers, bytes]


@dataclass
class Odd:
    """A registry whose answers are changed on their way, and the requests that came in."""

    host: str = ""
    seen: list[tuple[str, str]] = field(default_factory=list)
    answer: Callable[[str, str], Answer | None] = lambda method, path: None
    """What is answered in place of the registry."""
    headers: Callable[[str, Headers], Headers] = lambda method, headers: headers
    """What becomes of the headers of its own answers."""
    cut: list[int] = field(default_factory=list)
    """The pieces of uploads, counted from 1, of which half arrives before the connection breaks."""
    secret: str = "s3cret"

    def around(self, app: ASGIApp) -> ASGIApp:
        async def changed(scope: Scope, receive: Receive, send: Send) -> None:
            method, path = scope["method"], scope["path"]
            self.seen.append((method, path))
            instead = self.answer(method, path)
            if instead is not None:
                status, headers, body = instead
                await send({"type": "http.response.start", "status": status, "headers": headers})
                await send({"type": "http.response.body", "body": body})
                return

            broken = method == "PATCH" and len(self.calls("PATCH")) in self.cut

            async def send_changed(message: Message) -> None:
                if broken:
                    return  # what is answered then is the server's own 500
                if message["type"] == "http.response.start":
                    message["headers"] = self.headers(method, list(message["headers"]))
                await send(message)

            await app(scope, self.receiving(method, receive), send_changed)

        return changed

    def receiving(self, method: str, receive: Receive) -> Receive:
        """Return how the registry gets the body: only the first half of a piece that is to be cut."""
        if method != "PATCH" or len(self.calls("PATCH")) not in self.cut:
            return receive
        halved = False

        async def half() -> Message:
            nonlocal halved
            if halved:
                return {"type": "http.disconnect"}
            message = await receive()
            halved = True
            body = message.get("body", b"")
            return {**message, "body": body[: len(body) // 2], "more_body": True}

        return half

    def repository(self, slug: str = "shop", **options: Any) -> registry.Repository:
        """Log in, as a task does."""
        login = {"host": self.host, "project": "anna", "username": "anna", "secret": self.secret}
        return registry.Repository(RegistryCredentials(**login), slug, 5, **options)

    def calls(self, *methods: str) -> list[str]:
        """Return the methods of what was asked of the repository, narrowed to some."""
        asked = [method for method, path in self.seen if path != "/v2/"]
        return [method for method in asked if not methods or method in methods]


@contextmanager
def odd(folder: Path, **behavior: Any) -> Iterator[Odd]:
    """Run a registry that behaves in some other way."""
    strange = Odd(**behavior)
    with serving(folder / "registry", around=strange.around) as running:
        strange.host = running.host
        yield strange


def without(*names: bytes) -> Callable[[str, Headers], Headers]:
    """Return a change that takes headers away."""
    return lambda method, headers: [(name, value) for name, value in headers if name.lower() not in names]


def file_of(folder: Path, content: bytes = CONTENT) -> uploads.Content:
    """Write a part of an image; return what opens it."""
    (folder / "part").write_bytes(content)
    return lambda: (folder / "part").open("rb")


def push(repository: registry.Repository, folder: Path, tag: str) -> str:
    """Push an image of one layer under a tag, and return its digest."""
    repository.send_blob(file_of(folder), DIGEST, len(CONTENT))
    part = {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": DIGEST, "size": len(CONTENT)}
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": part, "layers": []}
    content = json.dumps(manifest).encode()
    repository.put_manifest(content, MANIFEST, tag)
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def test_the_digest_of_a_tag_is_that_of_its_manifest(tmp_path: Path) -> None:
    """The protocol lets a registry leave out the header that names it."""
    with odd(tmp_path, headers=without(b"docker-content-digest")) as strange:
        repository = strange.repository()
        digest = push(repository, tmp_path, "v1")
        assert repository.digest_of("v1") == digest
        assert repository.digest_of(digest) == digest
        assert repository.digest_of("v2") is None


def test_a_manifest_keeps_its_type_where_the_answer_does_not_name_it(tmp_path: Path) -> None:
    """It is put under another tag with the type that it names itself."""

    def plain(method: str, headers: Headers) -> Headers:
        return [*without(b"content-type")(method, headers), (b"content-type", b"application/json")]

    with odd(tmp_path, headers=plain) as strange:
        repository = strange.repository()
        digest = push(repository, tmp_path, "v1")
        content, media_type = repository.manifest(digest)
        assert media_type == MANIFEST
        repository.put_manifest(content, media_type, "v2")
        assert repository.digest_of("v2") == digest


def test_a_manifest_that_is_another_one_is_not_passed_on(tmp_path: Path) -> None:
    """A registry that converts manifests would give a tag to an image that nobody scanned."""

    def another(method: str, path: str) -> Answer | None:
        return (
            (200, [(b"content-type", MANIFEST.encode())], b"{}")
            if method == "GET" and "sha256" in path
            else None
        )

    with odd(tmp_path, answer=another) as strange:
        repository = strange.repository()
        with pytest.raises(UnexpectedAnswer, match="does not match digest"):
            repository.manifest(push(repository, tmp_path, "v1"))


@pytest.mark.parametrize(
    ("status", "said"),
    [(405, "read-only"), (401, "registry credentials"), (403, "registry credentials"), (413, "too large")],
)
def test_a_refusal_without_a_reason_is_told_with_what_it_means(
    tmp_path: Path, status: int, said: str
) -> None:
    """Once, without the address of the upload: what registries put there opens it."""
    state = [(b"location", b"/v2/anna/shop/blobs/uploads/1?_state=SECRETSTATE"), (b"content-length", b"0")]

    def refuse(method: str, path: str) -> Answer | None:
        if method == "POST" and status in (401, 413):
            return 202, state, b""
        return (status, [], b"") if method in ("POST", "PATCH") else None

    with odd(tmp_path, answer=refuse) as strange:
        repository = strange.repository()
        with pytest.raises(Refused) as refused:
            repository.send_blob(file_of(tmp_path), DIGEST, len(CONTENT))
    assert f"refused ({status})" in refused.value.message and said in refused.value.message
    assert "SECRETSTATE" not in refused.value.message and "line 1" not in refused.value.message
    assert refused.value.status == status
    assert len(strange.calls("POST")) <= 3, "logging in again is all that is repeated"


def test_an_upload_without_an_address_is_told(tmp_path: Path) -> None:
    """In our words, not in those of a decoder."""
    with odd(tmp_path, headers=without(b"location")) as strange:
        repository = strange.repository()
        with pytest.raises(UnexpectedAnswer, match="where to send"):
            repository.send_blob(file_of(tmp_path), DIGEST, len(CONTENT))


def test_an_upload_elsewhere_is_told_without_its_state(tmp_path: Path) -> None:
    """The credentials go to the registry alone."""

    def elsewhere(method: str, headers: Headers) -> Headers:
        if method != "POST":
            return headers
        there = (b"location", b"https://cdn.example.com/up?_state=SECRETSTATE")
        return [*without(b"location")(method, headers), there]

    with odd(tmp_path, headers=elsewhere) as strange, pytest.raises(ConfigurationError) as refused:
        strange.repository().send_blob(file_of(tmp_path), DIGEST, len(CONTENT))
    assert "cdn.example.com" in refused.value.message and "SECRETSTATE" not in refused.value.message


def test_a_part_that_is_kept_elsewhere_is_there(tmp_path: Path) -> None:
    """A registry over an object store answers with a redirect to it."""

    def stored(method: str, path: str) -> Answer | None:
        there = [(b"location", b"https://store.example.com/part?signature=1")]
        return (307, there, b"") if method == "HEAD" and "/blobs/" in path else None

    with odd(tmp_path, answer=stored) as strange:
        assert strange.repository().has_blob(DIGEST)


def test_an_upload_goes_on_where_it_was_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What arrived is not sent again: the registry is asked how much that is."""
    monkeypatch.setattr(uploads, "CHUNK", 400)
    with odd(tmp_path, cut=[2]) as strange:
        repository = strange.repository()
        repository.send_blob(file_of(tmp_path), DIGEST, len(CONTENT))
        assert repository.has_blob(DIGEST)
    assert len(strange.calls("POST")) == 1
    assert strange.calls("PATCH", "GET", "PUT") == ["PATCH", "PATCH", "GET", "PATCH", "PUT"]


def test_an_upload_that_is_forgotten_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry need not keep what came before a cut."""
    monkeypatch.setattr(uploads, "CHUNK", 400)

    def forget(method: str, path: str) -> Answer | None:
        return (404, [], b"") if method == "GET" and "/uploads/" in path else None

    with odd(tmp_path, cut=[2], answer=forget) as strange:
        repository = strange.repository()
        repository.send_blob(file_of(tmp_path), DIGEST, len(CONTENT))
        assert repository.has_blob(DIGEST)
    assert len(strange.calls("POST")) == 2


def test_pieces_are_as_large_as_the_registry_wants(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may name the least size of a piece when an upload begins."""
    monkeypatch.setattr(uploads, "CHUNK", 100)

    def least(method: str, headers: Headers) -> Headers:
        return [*headers, (b"oci-chunk-min-length", b"600")]

    with odd(tmp_path, headers=least) as strange:
        strange.repository().send_blob(file_of(tmp_path), DIGEST, len(CONTENT))
    assert len(strange.calls("PATCH")) == 2


def test_a_piece_that_was_taken_in_part_is_made_up_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The range of the answer says how far the registry is."""
    monkeypatch.setattr(uploads, "CHUNK", 1000)

    class Cutting(Odd):
        def receiving(self, method: str, receive: Receive) -> Receive:
            if method != "PATCH" or len(self.calls("PATCH")) > 1:
                return receive

            async def half() -> Message:
                message = await receive()
                return {**message, "body": message["body"][:500], "more_body": False}

            return half

        def around(self, app: ASGIApp) -> ASGIApp:
            inner = super().around(app)

            async def unannounced(scope: Scope, receive: Receive, send: Send) -> None:
                scope["headers"] = [pair for pair in scope["headers"] if pair[0] != b"content-range"]
                await inner(scope, receive, send)

            return unannounced

    strange = Cutting()
    with serving(tmp_path / "registry", around=strange.around) as running:
        strange.host = running.host
        repository = strange.repository()
        repository.send_blob(file_of(tmp_path), DIGEST, len(CONTENT))
        assert repository.has_blob(DIGEST)
    assert len(strange.calls("PATCH")) == 2


@pytest.mark.parametrize("login", ["basic", "token"])
def test_a_login_that_is_refused_is_told_as_that(tmp_path: Path, login: Any) -> None:
    """Not as a registry that cannot be reached, and without the secret."""
    strange = Odd(secret="wrong-secret")
    with serving(tmp_path / "registry", login, around=strange.around) as running:
        strange.host = running.host
        with pytest.raises(Refused) as refused:
            strange.repository().digest_of("v1")
    assert refused.value.status == 401 and "registry credentials" in refused.value.message
    assert "wrong-secret" not in refused.value.message


def test_what_a_registry_asks_for_reaches_the_pause(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float | None] = []

    def pause(error: HostedError, failures: int) -> float:
        asked.append(error.pause_asked)
        return 0.0

    monkeypatch.setattr(registry, "pause_before_retry", pause)
    answer = (429, [(b"retry-after", b"7"), (b"content-length", b"0")], b"")
    with odd(tmp_path) as strange:
        repository = strange.repository()
        strange.answer = lambda method, path: answer
        with pytest.raises(RateLimited, match="too many requests"):
            repository.has_blob(DIGEST)
    assert asked == [7.0, 7.0]


def refusing(status: int, *headers: tuple[bytes, bytes]) -> Callable[[str, str], Answer | None]:
    """Return what answers all but the login with a status."""
    return lambda method, path: None if path == "/v2/" else (status, [*headers], b"")


@pytest.mark.parametrize("status", [408, 500])
@pytest.mark.parametrize("retries", [0, 2])
def test_a_failure_is_retried_as_often_as_the_task_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, retries: int, status: int
) -> None:
    pauses: list[str] = []
    monkeypatch.setattr(registry, "pause_before_retry", lambda error, failures: 0.01)
    with odd(tmp_path, answer=refusing(status)) as strange:
        with pytest.raises(ServerFailure):
            strange.repository(retries=retries, on_pause=pauses.append).has_blob(DIGEST)
        assert strange.calls("HEAD") == ["HEAD"] * (retries + 1)
    assert len(pauses) == retries and all(f"the registry failed ({status})" in line for line in pauses)


def test_a_redirect_is_told_with_where_it_leads(tmp_path: Path) -> None:
    where = b"https://elsewhere.test/v2/x?signature=s3cret"
    with (
        odd(tmp_path, answer=refusing(307, (b"location", where))) as strange,
        pytest.raises(Redirected, match=r"a redirect \(307\) to https://elsewhere.test/v2/x, which is not"),
    ):
        strange.repository().digest_of("v1")


def test_a_manifest_whose_answer_was_lost_may_be_there(tmp_path: Path) -> None:
    with odd(tmp_path, answer=refusing(500)) as strange:
        repository = strange.repository(retries=0)
        with pytest.raises(ServerFailure, match="Whether 'v1' names the new image now is unknown"):
            repository.put_manifest(b"{}", registry.MANIFEST_TYPES[0], "v1")


def test_each_request_is_logged_without_its_secrets(tmp_path: Path) -> None:
    lines: list[str] = []
    with odd(tmp_path) as strange:
        strange.repository(log=lines.append).send_blob(file_of(tmp_path), DIGEST, len(CONTENT))
    assert re.fullmatch(r"GET http://[^ ]*/v2/ -> \d+ in \d+ ms", lines[0])
    methods = [line.partition(" ")[0] for line in lines]
    assert methods[-1] == "PUT" and "PATCH" in methods
    assert not any("?" in line or strange.secret in line for line in lines)


@pytest.mark.parametrize("host", ["", "/", "[", "]", "[::", "a:b", "a:99999", "node]:1", "a@b:c"])
def test_a_registry_without_a_host_name_is_refused(host: str) -> None:
    credentials = RegistryCredentials(host=host, project="p", username="u", secret="s3cret")
    with pytest.raises(UnexpectedAnswer, match="which is not a host name"):
        registry.Repository(credentials, "shop", 5)


@pytest.mark.parametrize("address", ["http://[", "https://127.0.0.1:x/token"])
def test_a_token_server_with_no_valid_address_cannot_be_reached(tmp_path: Path, address: str) -> None:
    challenge = f'Bearer realm="{address}",service="registry"'.encode()
    answer = (401, [(b"www-authenticate", challenge), (b"content-length", b"0")], b"")
    words = "an invalid address|cannot send"
    with (
        odd(tmp_path, answer=lambda method, path: answer) as strange,
        pytest.raises(HostedError, match=words),
    ):
        strange.repository().has_blob(DIGEST)


def test_a_registry_takes_a_blob_over_from_another_repository(tmp_path: Path) -> None:
    with odd(tmp_path) as strange:
        source, target = strange.repository(), strange.repository("shop-staging")
        push(source, tmp_path, "v1")
        strange.seen.clear()
        assert target.mount_blob(DIGEST, source.path)
        assert target.has_blob(DIGEST)
        assert strange.calls() == ["POST", "HEAD"]


@pytest.mark.parametrize("status", [202, 403])
def test_a_registry_that_does_not_is_sent_the_blob(status: int, tmp_path: Path) -> None:
    """It may begin an upload, which is canceled, or refuse. Then the blob is read and sent, in pieces."""

    def unable(method: str, path: str) -> Answer | None:
        begun = [(b"location", b"/v2/anna/shop-staging/blobs/uploads/begun")] if status == 202 else []
        mounts = method == "POST" and strange.calls("POST") == ["POST"]
        return (status, begun, b"") if mounts else None

    with odd(tmp_path) as strange:
        source, target = strange.repository(), strange.repository("shop-staging")
        push(source, tmp_path, "v1")
        strange.seen.clear()
        strange.answer = unable
        assert not target.mount_blob(DIGEST, source.path)
        assert not target.has_blob(DIGEST)
        target.send_blob(lambda: source.open_blob(DIGEST), DIGEST, len(CONTENT))
        assert target.has_blob(DIGEST)
        canceled = [path for method, path in strange.seen if method == "DELETE"]
        assert canceled == (["/v2/anna/shop-staging/blobs/uploads/begun"] if status == 202 else [])


def test_a_blob_that_breaks_off_on_its_way_is_sent_on(tmp_path: Path) -> None:
    """The upload goes on at the byte that arrived last, and the rest is requested from there."""
    with odd(tmp_path) as strange:
        source, target = strange.repository(), strange.repository("shop-staging")
        push(source, tmp_path, "v1")
        strange.seen.clear()
        strange.cut = [1]
        target.send_blob(lambda: source.open_blob(DIGEST), DIGEST, len(CONTENT))
        assert target.has_blob(DIGEST)
        assert len([path for method, path in strange.seen if method == "GET" and DIGEST in path]) == 2
