# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Proxies and CAs come from the environment, with the same rules as those of requests."""

from __future__ import annotations

import os
import re
from typing import Any

import pytest
import requests

from ansible_collections.hosted.services.plugins.module_utils._api.proxies import from_environment

PROXY = "http://proxy.example:3128"
URLS = (
    "https://api.example.com/api",
    "https://api.example.com:8443/api",
    "https://10.1.2.3/api",
    "http://registry.example.org",
    "https://[2001:db8::1]:8443/",
    "https:///nothing",
)
NO_PROXIES = (
    None,
    "",
    "*",
    "example.com",
    ".example.com",
    "api.example.com:8443",
    "other.example, registry.example.org",
    "10.1.2.3",
    "10.0.0.0/8,192.168.0.0/16",
    "10.1.2.0/33",
    "10.1.2.9/24",
    "2001:db8::1",
)


@pytest.fixture(autouse=True)
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the settings of whoever runs the tests."""
    for name in [name for name in os.environ if re.search("(?i)_proxy$|_CA_BUNDLE$", name)]:
        monkeypatch.delenv(name)


@pytest.mark.parametrize("no_proxy", NO_PROXIES)
@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("given", [{}, {"no_proxy": "api.example.com"}, {"https": "http://mine:1"}], ids=str)
def test_the_rules_are_those_of_requests(
    url: str, no_proxy: str | None, given: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    if no_proxy is not None:
        monkeypatch.setenv("NO_PROXY", no_proxy)
    of_requests: Any = requests.Session().merge_environment_settings(url, dict(given), None, True, None)
    wanted = requests.utils.select_proxy(url, of_requests["proxies"])
    assert requests.utils.select_proxy(url, from_environment(url, True, given)["proxies"]) == wanted


def test_a_part_of_a_label_is_no_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older versions of requests took it for one."""
    monkeypatch.setenv("HTTPS_PROXY", PROXY)
    monkeypatch.setenv("NO_PROXY", "ple.com")
    assert from_environment(URLS[0], True)["proxies"]["https"] == PROXY


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_the_environment_names_the_authorities(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "/etc/ours.pem")
    verified = {verify: from_environment(URLS[0], verify)["verify"] for verify in (True, False, "/x.pem")}
    assert verified == {True: "/etc/ours.pem", False: False, "/x.pem": "/x.pem"}


def test_the_platform_is_never_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """On macOS the answer would be a crash, since the worker was forked."""

    def crash(*_arguments: object) -> None:
        raise AssertionError("macOS was asked for its proxies")

    for name in ("getproxies", "proxy_bypass", "get_environ_proxies", "should_bypass_proxies"):
        monkeypatch.setattr(requests.utils, name, crash)
    assert from_environment(URLS[0], True)["proxies"] == {}
