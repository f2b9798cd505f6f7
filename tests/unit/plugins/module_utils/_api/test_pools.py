# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pools of connections use the proxy, the login and the CAs that requests would use."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import requests
import urllib3

from ansible_collections.hosted.services.plugins.module_utils._api import errors, pools

URL = "https://api.example.com/api"
PROXIES: tuple[dict[str, str], ...] = (
    {},
    {"https": "http://proxy.example:3128"},
    {"http": "http://proxy.example:3128"},
    {"all": "proxy.example:3128"},
    {"https": ""},
    {"https": "http://one:1", "https://api.example.com": "http://two:2"},
    {"all": "http://one:1", "all://api.example.com": "http://two:2"},
)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the settings of whoever runs the tests."""
    for name in [name for name in os.environ if re.search("(?i)_proxy$|_CA_BUNDLE$", name)]:
        monkeypatch.delenv(name)


def pool_of_requests(verify: bool | str, proxies: dict[str, str]) -> Any:
    """Return the pool of connections that requests would use."""
    adapter: Any = requests.adapters.HTTPAdapter()
    prepared = requests.Request("GET", URL).prepare()
    pool = adapter.get_connection_with_tls_context(prepared, verify, proxies=proxies)
    adapter.cert_verify(pool, URL, verify, None)
    return pool


def own_pool(verify: bool | str, proxies: dict[str, str]) -> Any:
    """Return the pool of connections that the collection uses."""
    opened = pools.open_pools(URL, verify, proxies)
    return opened.pool if isinstance(opened, pools.DirectPool) else opened.connection_from_url(URL)


def settings_of(pool: Any) -> Any:
    return pool.proxy, pool.proxy_headers, pool.cert_reqs, pool.ca_certs, pool.ca_cert_dir


@pytest.mark.parametrize("verify", [True, False, "a file", "a folder"])
@pytest.mark.parametrize("proxies", PROXIES, ids=str)
def test_the_choice_is_that_of_requests(proxies: dict[str, str], verify: bool | str, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").touch()
    verify = {"a file": str(tmp_path / "ca.pem"), "a folder": str(tmp_path)}.get(str(verify), verify)
    own = own_pool(verify, proxies)
    wanted = pool_of_requests(verify, proxies)
    assert settings_of(own)[:2] == settings_of(wanted)[:2]
    assert [str(each).removeprefix("CERT_") for each in settings_of(own)[2:3]] == [
        str(wanted.cert_reqs).removeprefix("CERT_")
    ]
    if verify is not False:
        assert settings_of(own)[3:] == settings_of(wanted)[3:]


def test_a_proxy_is_logged_in_to_as_requests_does() -> None:
    proxies = {"https": "http://some%40one:p%3Aw@proxy.example:3128"}
    own = own_pool(True, proxies)
    headers = {name.lower(): value for name, value in own.proxy_headers.items()}
    wanted = {name.lower(): value for name, value in pool_of_requests(True, proxies).proxy_headers.items()}
    assert headers == wanted
    assert "proxy-authorization" in headers


@pytest.mark.parametrize("proxy", ["http://", "http://:3128"])
def test_a_proxy_without_a_host_is_refused(proxy: str) -> None:
    with pytest.raises((errors.ConfigurationError, urllib3.exceptions.LocationParseError)):
        pools.open_pools(URL, True, {"https": proxy})


def test_a_missing_library_for_socks_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "urllib3.contrib.socks", None)
    with pytest.raises(errors.ConfigurationError, match="pip install PySocks"):
        pools.open_pools(URL, True, {"https": "socks5://me:secret@127.0.0.1:1080"})


def test_a_socks_proxy_gets_the_login(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    library = SimpleNamespace(SOCKSProxyManager=lambda *how, **tls: seen.append((how, tls)))
    monkeypatch.setitem(sys.modules, "urllib3.contrib.socks", library)
    pools.open_pools(URL, False, {"https": "socks5h://me:p%3Aw@127.0.0.1:1080"})
    pools.open_pools(URL, False, {"https": "socks5h://127.0.0.1:1080"})
    assert [how[1:] for how, _tls in seen] == [("me", "p:w"), (None, None)]
    assert [tls for _how, tls in seen] == [{"cert_reqs": "CERT_NONE"}] * 2


@pytest.mark.parametrize(
    ("url", "server"),
    [
        ("https://a.example:8443/b?c", "https://a.example:8443"),
        ("http://a.example?b", "http://a.example"),
        ("http://[::1]:3#d", "http://[::1]:3"),
        ("http://a.example", "http://a.example"),
    ],
)
def test_the_origin_ends_before_the_path(url: str, server: str) -> None:
    assert pools.origin(url) == server


def test_missing_authorities_are_named(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.pem")
    with pytest.raises(errors.ConfigurationError, match=r"missing\.pem' does not exist"):
        pools.open_pools(URL, missing)
    pools.open_pools("http://127.0.0.1/api", missing)
