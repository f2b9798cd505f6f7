# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a connection may be: no token in the clear, no setting that cannot work, no secret in an error."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.connection import Connection, is_loopback
from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError

URL = "https://api.example.com"


def connection(**settings: Any) -> Connection:
    return Connection(**{"base_url": URL, "token": "tok-1", **settings})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (URL, URL),
        (URL + "/", URL),
        (URL + "//", URL),
        (URL + "/hosting/v1/", URL + "/hosting/v1"),
        ("https://api.example.com:8443", "https://api.example.com:8443"),
        ("HTTPS://API.example.com", "HTTPS://API.example.com"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://127.3.2.1", "http://127.3.2.1"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("http://localhost", "http://localhost"),
        ("http://LocalHost:1", "http://LocalHost:1"),
    ],
)
def test_urls_that_are_taken(given: str, kept: str) -> None:
    assert connection(base_url=given).base_url == kept


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ("", "must look like"),
        ("api.example.com", "must look like"),
        ("ftp://api.example.com", "must look like"),
        ("https://", "must look like"),
        ("https:///path", "must look like"),
        ("file:///etc/passwd", "must look like"),
        ("https://api.example.com:0", "must look like"),
        ("https://api.example.com:70000", "not a URL"),
        ("https://[::1", "not a URL"),
        ("https://api.example.com?a=b", "query or a fragment"),
        ("https://api.example.com?", "query or a fragment"),
        ("https://api.example.com#x", "query or a fragment"),
        ("https://api.example.com#", "query or a fragment"),
        (" https://api.example.com", "spaces"),
        ("https://api.example.com ", "spaces"),
        ("https://api.example.com\n", "control characters"),
        ("http://127.0.0.1\n:80", "control characters"),
        ("https://api.example.com\\x", "backslashes"),
        ("http://api.example.com", "sent unencrypted"),
        ("http://192.168.1.1", "sent unencrypted"),
        ("http://0.0.0.0", "sent unencrypted"),
        ("http://localhost.example.com", "sent unencrypted"),
        ("http://127.0.0.1.example.com", "sent unencrypted"),
        ("http://[::ffff:192.0.2.1]", "sent unencrypted"),
    ],
)
def test_urls_that_are_refused(given: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint):
        connection(base_url=given)


@pytest.mark.parametrize(
    "given",
    [
        "https://me:hunter2@api.example.com",
        "http://hunter2@api.example.com",
        "https://me:hunter2",
        "x://a:hunter2@b",
    ],
)
def test_a_password_in_the_url_is_refused_and_not_shown(given: str) -> None:
    with pytest.raises(ConfigurationError, match="base_url") as caught:
        connection(base_url=given)
    assert "hunter2" not in str(caught.value)


def test_plain_http_is_allowed_by_name_only() -> None:
    assert connection(base_url="http://nas.lan", allow_http_hosts=("nas.lan",)).base_url == "http://nas.lan"
    with pytest.raises(ConfigurationError, match=r"add 'www.nas.lan' to allow_http_hosts"):
        connection(base_url="http://www.nas.lan", allow_http_hosts=("nas.lan",))


@pytest.mark.parametrize(
    ("token", "complaint"),
    [
        ("", "token is empty"),
        ("one\ntwo", "token has 2 lines"),
        ("one\r\ntwo\r\nthree", "token has 3 lines"),
        ("one\u2028two", "token has 2 lines"),
        ("one two", "a space"),
        (" onetwo", "a space"),
        ("onetwo\n", "control character"),
        ("one\x00two", "control character"),
        ("one\x7ftwo", "control character"),
        ("onetw\u00f6", "not ASCII"),
    ],
)
def test_tokens_that_are_refused_and_not_shown(token: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        connection(token=token)
    assert "two" not in str(caught.value)


def test_the_token_is_not_in_the_representation() -> None:
    assert "tok-1" not in repr(connection())


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        ({"auth_header": ""}, "auth_header is ''"),
        ({"auth_header": "Bad Header"}, "auth_header is 'Bad Header'"),
        ({"auth_header": "X:"}, "auth_header"),
        ({"auth_header": "X\r\nY"}, "auth_header"),
        ({"auth_scheme": "X\r\nEvil: 1"}, "auth_scheme"),
        ({"auth_scheme": "B\u00e4rer"}, "auth_scheme"),
        ({"timeout": 0}, "timeout is 0 seconds"),
        ({"timeout": -1}, "timeout is -1 seconds"),
        ({"timeout": float("nan")}, "timeout is nan"),
        ({"timeout": float("inf")}, "timeout is inf"),
        ({"retries": -1}, "retries is -1"),
    ],
)
def test_settings_that_cannot_work(settings: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigurationError, match=complaint) as caught:
        connection(**settings)
    assert "tok-1" not in str(caught.value)


@pytest.mark.parametrize("host", ["127.1", "localhost.", "2130706433", "", "::ffff:127.0.0.1"])
def test_a_host_that_only_looks_local_is_not_taken_for_it(host: str) -> None:
    assert not is_loopback(host)
