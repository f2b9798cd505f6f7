# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a registry asks for a login, and who is told the secret then; `test_registry.py` has the rest."""

from __future__ import annotations

import base64
import contextlib
import io
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    ConfigurationError,
    Refused,
    UnexpectedAnswer,
)
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    HttpTransport,
    Request,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import RegistryCredentials
from ansible_collections.hosted.services.plugins.module_utils._api.registry import Repository

ROOT = "https://registry.example/v2/"
BASIC = f"Basic {base64.b64encode('anna:s3crét'.encode()).decode()}"
CHALLENGE = 'Bearer realm="https://tokens.example/token",service="registry",scope="repository:anna/shop:pull"'


class Registry:
    """Answers in the place of requests, and keeps what was asked."""

    def __init__(self, challenge: str, *tokens: Any) -> None:
        self.challenge = challenge
        self.tokens = list(tokens)
        self.valid = BASIC if challenge.startswith("Basic") else ""
        self.asked: list[tuple[str, str, str | None]] = []
        self.queries: list[dict[str, list[str]]] = []

    def open(self, request: Request, seconds: float, data: Any = None, most: int | None = None) -> Any:
        assert (request.verify, seconds) == (True, 5)
        parts, authorization = urlsplit(request.url), request.headers.get("Authorization")
        self.asked.append((request.method, f"{parts.netloc}{parts.path}", authorization))
        if parts.netloc == "tokens.example":
            self.queries.append(parse_qs(parts.query))
            told = self.tokens.pop(0)
            return answer(403 if told is None else 200, json.dumps(told))
        allowed = authorization is not None and authorization == self.valid
        return answer(200 if allowed else 401, "{}", {"Www-Authenticate": self.challenge})


def answer(status: int, body: str, headers: Mapping[str, str] | None = None) -> requests.Response:
    response = requests.Response()
    response.status_code, response.raw = status, io.BytesIO(body.encode())
    response.headers.update(headers or {})
    return response


def session(monkeypatch: pytest.MonkeyPatch, registry: Registry) -> Repository:
    monkeypatch.setattr(HttpTransport, "open", registry.open)
    login = {"host": "registry.example", "project": "anna", "username": "anna", "secret": "s3crét"}
    return Repository(RegistryCredentials(**login), "shop", 5)


def test_basic_is_sent_at_once_where_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry('Basic realm="x"')
    opened = session(monkeypatch, registry)
    for _request in range(2):
        assert opened.request("HEAD", f"{ROOT}x").status_code == 200
    assert [login for _method, _place, login in registry.asked] == [None, BASIC, BASIC]


def test_a_token_is_bought_once_and_again_when_it_has_expired(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the secret, from the server that the registry names, for the scope that it names."""
    registry = Registry(CHALLENGE, {"token": "one"}, {"access_token": "two"})
    registry.valid = "Bearer one"
    opened = session(monkeypatch, registry)
    for valid in ("Bearer one", "Bearer one", "Bearer two"):
        registry.valid = valid
        assert opened.request("HEAD", f"{ROOT}x").status_code == 200
    blob, tokens = "registry.example/v2/x", "tokens.example/token"
    assert [(place, login) for _method, place, login in registry.asked] == [
        (blob, None), (tokens, BASIC), (blob, "Bearer one"),
        (blob, "Bearer one"),
        (blob, "Bearer one"), (tokens, BASIC), (blob, "Bearer two"),
    ]  # fmt: skip
    assert registry.queries == [{"service": ["registry"], "scope": ["repository:anna/shop:pull"]}] * 2


@pytest.mark.parametrize(
    ("told", "said"), [(None, "answered 403"), ({}, "returned no token"), ({"token": 5}, "returned no token")]
)
def test_a_token_server_that_gives_none_refuses(
    told: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = session(monkeypatch, Registry(CHALLENGE, told))
    with pytest.raises(
        Refused, match=f"does not accept the account's registry credentials.*{said}"
    ) as refused:
        opened.request("HEAD", f"{ROOT}x")
    assert refused.value.status == 401 and "s3crét" not in refused.value.message


# --- Where the secret goes ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("realm", "sent"),
    [
        ("https://tokens.example/token", True),
        ("tokens.example/token", True),
        ("http://tokens.example/token?secret=1", False),
        ("http://127.0.0.1.example/token", False),
        ("ftp://tokens.example/token", False),
        ("http:///token", False),
    ],
)
def test_the_secret_is_sent_encrypted_or_to_this_machine(
    realm: str, sent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = Registry(f'Bearer realm="{realm}"', {"token": "one"})
    opened = session(monkeypatch, registry)
    if sent:
        with contextlib.suppress(Refused, UnexpectedAnswer, ValueError):
            opened.request("HEAD", f"{ROOT}x")
        assert registry.asked[1][2] == BASIC
        return
    with pytest.raises(
        ConfigurationError, match="which is not https; the registry's secret is not"
    ) as refused:
        opened.request("HEAD", f"{ROOT}x")
    assert [login for _method, _place, login in registry.asked] == [None]
    assert f"leads to {realm.partition('?')[0]}, which" in refused.value.message


@pytest.mark.parametrize(
    "url", ["https://cdn.example/v2/x?state=s3cret", "https://registry.example:8443/v2/x"]
)
def test_nothing_is_sent_to_another_server(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry('Basic realm="x"')
    with pytest.raises(
        ConfigurationError, match=r"registry.example wants the upload at .*; not sent"
    ) as refused:
        session(monkeypatch, registry).request("PUT", url, {}, b"content")
    assert registry.asked == [] and "s3cret" not in refused.value.message


def test_an_unencrypted_registry_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry('Basic realm="x"')
    with pytest.raises(ConfigurationError, match="which is not https"):
        session(monkeypatch, registry).request("GET", "http://registry.example/v2/")
    assert registry.asked == []


def test_a_store_that_a_blob_is_in_is_not_told_the_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address that the registry names carries its own signature; the next one may only be encrypted."""
    registry = Registry('Basic realm="registry"')
    asked = session(monkeypatch, registry)
    stored = "https://store.example/blob?signature=1"
    plain = registry.open

    def answering(request: Request, *how: Any) -> Any:
        if urlsplit(request.url).netloc == "store.example":
            registry.asked.append((request.method, request.url, request.headers.get("Authorization")))
            return answer(200, "content")
        told = plain(request, *how)
        return answer(307, "", {"Location": stored}) if told.ok and "/blobs/" in request.url else told

    monkeypatch.setattr(HttpTransport, "open", staticmethod(answering))
    found = asked.download(f"{ROOT}anna/shop/blobs/sha256:0", {"Range": "bytes=5-"})
    assert found.text == "content"
    assert registry.asked[-2][2] == BASIC and registry.asked[-1] == ("GET", stored, None)
    stored = "http://store.example/blob"
    with pytest.raises(ConfigurationError, match="not https"):
        asked.download(f"{ROOT}anna/shop/blobs/sha256:0", {})


def test_an_upload_that_was_cut_off_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    arrived: list[bytes] = []

    def taking(request: Request, _seconds: float, data: Any = None, _most: int | None = None) -> Any:
        told = answer(201, "", {"Location": "/u/1?_state=x"})
        told.url = request.url
        if request.method == "PUT":
            assert (
                request.url == "https://registry.example/u/1?_state=x&digest=sha256%3A0" and len(data) == 10
            )
            arrived.append(b"".join(data))
            if len(arrived) == 1:
                raise requests.ConnectionError("cut")
        return told

    opened = session(monkeypatch, Registry(""))
    monkeypatch.setattr(HttpTransport, "open", staticmethod(taking))
    opened.send_blob(lambda: io.BytesIO(b"0123456789"), "sha256:0", 10)
    assert arrived == [b"0123456789"] * 2
