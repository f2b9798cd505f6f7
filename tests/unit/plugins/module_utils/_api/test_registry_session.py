# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How a registry asks for a login, and who is told the secret then; `test_registry.py` has the rest."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Refused, UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._api.models import RegistryCredentials
from ansible_collections.hosted.services.plugins.module_utils._api.registry_session import RegistrySession

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

    def request(self, method: str, url: str, headers: Mapping[str, str], **more: Any) -> Any:
        assert more["allow_redirects"] is False and more["timeout"] == (5, 5)
        parts, authorization = urlsplit(url), headers.get("Authorization")
        self.asked.append((method, f"{parts.netloc}{parts.path}", authorization))
        if parts.netloc == "tokens.example":
            self.queries.append(parse_qs(parts.query))
            told = self.tokens.pop(0)
            return answer(403 if told is None else 200, json.dumps(told))
        allowed = authorization is not None and authorization == self.valid
        return answer(200 if allowed else 401, "{}", {"Www-Authenticate": self.challenge})


def answer(status: int, body: str, headers: Mapping[str, str] | None = None) -> requests.Response:
    response = requests.Response()
    response.status_code, response._content = status, body.encode()
    response.headers.update(headers or {})
    return response


def session(monkeypatch: pytest.MonkeyPatch, registry: Registry) -> RegistrySession:
    monkeypatch.setattr(requests.Session, "request", registry.request)
    login = {"host": "registry.example", "project": "anna", "username": "anna", "secret": "s3crét"}
    return RegistrySession(RegistryCredentials(**login), True, 5)


def test_basic_is_sent_at_once_where_the_root_asked_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry('Basic realm="x"')
    opened = session(monkeypatch, registry)
    opened.look(ROOT)
    assert opened.request("HEAD", f"{ROOT}x").status_code == 200
    assert registry.asked == [("GET", "registry.example/v2/", None), ("HEAD", "registry.example/v2/x", BASIC)]


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


@pytest.mark.parametrize("challenge", ["", "Negotiate", 'Digest realm="x"'])
def test_another_kind_of_login_is_left_to_the_caller(challenge: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry(challenge)
    assert session(monkeypatch, registry).request("HEAD", f"{ROOT}x").status_code == 401
    assert len(registry.asked) == 1


def test_wrong_credentials_are_sent_once(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = Registry('Basic realm="x"')
    registry.valid = "Basic another"
    opened = session(monkeypatch, registry)
    opened.look(ROOT)
    assert opened.request("HEAD", f"{ROOT}x").status_code == 401
    assert len(registry.asked) == 2


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


def test_a_token_server_that_returns_something_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnexpectedAnswer, match="no JSON object"):
        session(monkeypatch, Registry(CHALLENGE, ["token"])).request("HEAD", f"{ROOT}x")
