# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates of the image registry, good and bad: whom the registry's secret and an image are sent to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Run
from integration.proxy_server import ProxyServer
from integration.proxy_server import running as proxy_running
from integration.test_tls import Case
from integration.tls import DAY, Authority, Proxy, TlsFront, running

REGISTRY = "registry.example.test"
REFUSED = (f"the registry {REGISTRY}: the server's certificate was not accepted",)
AS_MODULE = ("authority of its own", "unknown authority")


class Registries(NamedTuple):
    """Proxies that lead to one registry each, by the certificate that it shows, and files of authorities."""

    good: Proxy
    expired: Proxy
    other_host: Proxy
    authority: Path
    stranger: Path
    fronts: dict[str, TlsFront]
    api: str


@pytest.fixture
def registries(sandbox: Sandbox, tmp_path: Path) -> Iterator[Registries]:
    """The registries, running; the platform names them by a host that only the proxies know."""
    folder = tmp_path / "certificates"
    folder.mkdir()
    authority, stranger = Authority(folder, "authority"), Authority(folder, "stranger")
    certificates = {
        "good": authority.issue("good", [REGISTRY]),
        "expired": authority.issue("expired", [REGISTRY], since=-3 * DAY),
        "other_host": authority.issue("other_host", ["elsewhere.example.test"]),
    }
    port = int(sandbox.registry.rpartition(":")[2])
    fronts = {name: TlsFront(path, port) for name, path in certificates.items()}
    proxies = {name: Proxy(front.port) for name, front in fronts.items()}
    renamed = ProxyServer(
        sandbox, change=lambda content: content.replace(sandbox.registry.encode(), REGISTRY.encode())
    )
    with ExitStack() as stack:
        stack.enter_context(running(*fronts.values(), *proxies.values()))
        api = stack.enter_context(proxy_running(renamed)).url
        yield Registries(**proxies, authority=authority.path, stranger=stranger.path, fronts=fronts, api=api)


def cases(registries: Registries) -> dict[str, Case]:
    """Return the cases by name."""
    trusted, stranger = {"ca_path": str(registries.authority)}, {"ca_path": str(registries.stranger)}
    bundle = {"REQUESTS_CA_BUNDLE": str(registries.authority)}
    careless = {"validate_certs": False}
    return {
        "unknown authority": Case("good", {}, REFUSED),
        "ca_path wins over the environment": Case("good", stranger, REFUSED, bundle),
        "expired": Case("expired", trusted, REFUSED),
        "of another host": Case("other_host", trusted, REFUSED),
        "authority of its own": Case("good", trusted),
        "authority in the environment": Case("good", {}, environment=bundle),
        "expired, not looked at": Case("expired", careless),
        "not looked at, whatever the environment says": Case("other_host", careless, environment=bundle),
    }


def push(ansible: Ansible, registries: Registries, chosen: dict[str, Case], in_process: bool) -> Run:
    """Push an image of its own in each case."""
    tasks = []
    for number, (name, case) in enumerate(chosen.items()):
        image = ansible.folder / f"image-{in_process}-{number}.tar"
        build_image(image, {"app/server": name.encode()}, environment={"NUMBER": f"{in_process} {number}"})
        proxy = {"HTTPS_PROXY": f"http://127.0.0.1:{getattr(registries, case.server).port}"}
        options = {"slug": "shop", "path": str(image), "base_url": registries.api, **case.options}
        tasks.append({
            "name": name, "hosted.services.app_image": options,
            "environment": {**proxy, **case.environment}, "ignore_errors": True,
        })  # fmt: skip
    play = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
    return ansible.playbook(json.dumps(play), in_process=in_process).succeed()


@BOTH_WAYS
def test_certificates(in_process: bool, registries: Registries, ansible: Ansible, sandbox: Sandbox) -> None:
    """An image goes to whom the certificate proves to be the registry; others get neither it nor a secret."""
    sandbox.seed({"apps": [{"slug": "shop"}]})
    chosen = cases(registries)
    if not in_process:
        chosen = {name: chosen[name] for name in AS_MODULE}
    run = push(ansible, registries, chosen, in_process)
    pushed = {scan["id"].rpartition("@")[2] for scan in sandbox.control("GET", "/state")["records"]["scan"]}
    arrived = set()
    for name, case in chosen.items():
        assert (run[name].outcome == "failed") is bool(case.says), run[name]
        assert all(words in run[name].message for words in case.says)
        if not case.says:
            assert run[name].result["changed"]
            arrived.add(run[name].result["image"]["digest"])
    assert pushed == arrived
    tries = sum(front.connections for front in registries.fronts.values())
    assert tries <= sum(not case.says for case in chosen.values()) + len(chosen)
