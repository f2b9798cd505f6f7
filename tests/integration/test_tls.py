# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real certificates, good and bad, and proxies: whom token, secret and image go to, and what is said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, Run
from integration.inventory.conftest import Inventory
from integration.proxy_server import ProxyServer
from integration.proxy_server import running as proxy_running
from integration.results import compare
from integration.tls import DAY, HOST, REGISTRY, Authority, Proxy, TlsFront, port_of, running

AS_MODULE_TOO = ("authority in the environment", "unknown authority", "expired, not looked at")
PUSHED_AS_MODULE = ("authority of its own", "unknown authority")
PROXIED_AS_MODULE = ("through it", "another name", "around it")
PROXY_LOGIN = "proxy-user:proxy-Secret99"


class Tls(NamedTuple):
    """Servers before a port of the sandbox, by the certificate that they show, and files of authorities."""

    fronts: dict[str, TlsFront]
    authority: Path
    stranger: Path
    own_certificate: Path

    @property
    def connections(self) -> int:
        return sum(front.connections for front in self.fronts.values())


@contextmanager
def serving(folder: Path, port: int) -> Iterator[Tls]:
    folder.mkdir()
    authority, stranger = Authority(folder, "authority"), Authority(folder, "stranger")
    certificates = {
        "good": authority.issue("good"),
        "own": authority.issue("own", own=True),
        "expired": authority.issue("expired", since=-3 * DAY),
        "early": authority.issue("early", since=DAY),
        "other_host": authority.issue("other_host", ["elsewhere.example.test"]),
    }
    fronts = {name: TlsFront(path, port) for name, path in certificates.items()}
    with running(*fronts.values()):
        yield Tls(fronts, authority.path, stranger.path, certificates["own"])


@pytest.fixture
def tls(sandbox: Sandbox, tmp_path: Path) -> Iterator[Tls]:
    with serving(tmp_path / "certificates", port_of(sandbox)) as tls:
        yield tls


@pytest.fixture
def proxy(tls: Tls) -> Iterator[Proxy]:
    proxy = Proxy(tls.fronts["good"].port)
    with running(proxy):
        yield proxy


class Case(NamedTuple):
    """Which server, with which options and environment, and what the error says; none: it works."""

    server: str
    options: dict[str, Any]
    says: tuple[str, ...] = ()
    environment: dict[str, str] = {}  # noqa: RUF012 - of a named tuple, never changed


def cases(tls: Tls, folder: Path, host: str = "127.0.0.1") -> dict[str, Case]:
    """Return the cases by name, of servers that are called by this host."""
    trusted, stranger = {"ca_path": str(tls.authority)}, {"ca_path": str(tls.stranger)}
    careless = {"validate_certs": False}
    nonsense = folder / "nonsense.pem"
    nonsense.write_text("this is no certificate\n")
    bundle = {"REQUESTS_CA_BUNDLE": str(tls.authority)}
    refused = "certificate was not accepted"
    return {
        "authority of its own": Case("good", trusted),
        "authority in the environment": Case("good", {}, environment=bundle),
        "ca_path wins over the environment": Case("good", stranger, (refused,), bundle),
        "unknown authority": Case("good", {}, (refused, "ca_path")),
        "another authority": Case("good", stranger, (refused,)),
        "signed by itself": Case("own", {}, (refused, "self-signed", "ca_path")),
        "signed by itself, and trusted": Case("own", {"ca_path": str(tls.own_certificate)}),
        "expired": Case("expired", trusted, (refused, "expired")),
        "expired, not looked at": Case("expired", careless),
        "not valid yet": Case("early", trusted, (refused, "not yet valid")),
        "of another host": Case("other_host", trusted, (refused, f"not valid for '{host}'")),
        "of another host, not looked at": Case("other_host", {**trusted, **careless}),
        "not looked at, whatever the environment says": Case("other_host", careless, environment=bundle),
        "file that holds no certificate": Case(
            "good", {"ca_path": str(nonsense)}, ("ca_path", str(nonsense))
        ),
    }


def playbook(tls: Tls, chosen: dict[str, Case], **common: Any) -> str:
    tasks = [
        {
            "name": name,
            "hosted.services.account_info": {
                "base_url": f"https://127.0.0.1:{tls.fronts[case.server].port}", **case.options, **common
            },
            "environment": case.environment,
            "ignore_errors": True,
        }
        for name, case in chosen.items()
    ]  # fmt: skip
    return json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}])


def check_outcomes(run: Run, chosen: dict[str, Case]) -> None:
    for name, case in chosen.items():
        assert (run[name].outcome == "failed") is bool(case.says), run[name]
        for words in case.says:
            assert words in run[name].message


def test_certificates(tls: Tls, ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> None:
    """A token goes to whom the certificate proves to be the one meant; others get one handshake, no retry."""
    chosen = cases(tls, tmp_path)
    run = ansible.playbook(playbook(tls, chosen)).succeed()
    check_outcomes(run, chosen)
    for name, case in chosen.items():
        assert "\n" not in run[name].message
        warned = "validate_certs is off" in " ".join(run[name].result.get("warnings", []))
        assert warned is (case.options.get("validate_certs") is False), name
    assert "InsecureRequestWarning" not in run.stderr, "it is said once, by us"
    works = [case for case in chosen.values() if not case.says]
    assert len(sandbox.journal("apps.whoami")) == len(works), "nothing else was sent"
    assert tls.connections <= len(chosen), "a certificate does not get better by trying again"
    few = {name: chosen[name] for name in AS_MODULE_TOO}
    here = ansible.playbook(playbook(tls, few)).succeed()
    compare(here, ansible.playbook(playbook(tls, few), in_process=False).succeed())


@BOTH_WAYS
def test_proxy(in_process: bool, tls: Tls, proxy: Proxy, ansible: Ansible, sandbox: Sandbox) -> None:
    """HTTPS_PROXY is asked for a tunnel, and the certificate is that of whom it leads to; NO_PROXY holds."""
    options = {"ca_path": str(tls.authority), "base_url": f"https://{HOST}", "retries": 0}
    closed = Proxy(tls.fronts["good"].port, PROXY_LOGIN)
    through = {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"}
    login = {"HTTPS_PROXY": f"http://{PROXY_LOGIN}@127.0.0.1:{closed.port}"}
    wrong = {"HTTPS_PROXY": f"http://x:wrong-Secret77@127.0.0.1:{closed.port}"}
    refused = ("certificate was not accepted",)
    chosen = {
        "through it": Case("good", options, environment=through),
        "with a login": Case("good", options, environment=login),
        "with a wrong login": Case("good", options, ("cannot connect", "407"), wrong),
        "another authority": Case("good", {**options, "ca_path": str(tls.stranger)}, refused, through),
        "another name": Case("good", {**options, "base_url": "https://b.example.test"}, refused, through),
        "around it": Case("good", options, ("cannot connect", HOST), {**through, "NO_PROXY": HOST}),
        "proxy that is down": Case(
            "good", options, ("cannot connect",), {"HTTPS_PROXY": "http://127.0.0.1:1"}
        ),
        "on this machine": Case("good", {"ca_path": str(tls.authority)}, environment=through),
    }
    if not in_process:
        chosen = {name: chosen[name] for name in PROXIED_AS_MODULE}
    with running(closed):
        run = ansible.playbook(playbook(tls, chosen), in_process=in_process).succeed()
    check_outcomes(run, chosen)
    assert set(proxy.asked) == {f"{HOST}:443", "b.example.test:443"}
    assert len(proxy.asked) == (3 if in_process else 2)
    assert len(sandbox.journal("apps.whoami")) == sum(not case.says for case in chosen.values())
    shown = run.output + json.dumps([outcome.result for outcome in run.outcomes])
    assert "Secret99" not in shown
    assert "Secret77" not in shown


def test_what_is_lost_behind_a_proxy_is_not_sent_again(
    tls: Tls, proxy: Proxy, ansible: Ansible, sandbox: Sandbox
) -> None:
    """A proxy that loses an answer is no proxy that could not be reached: the platform may have acted."""
    sandbox.fault("projects.create", "reset", when="after")
    options: dict[str, Any] = {"name": "once", "base_url": f"https://{HOST}", "ca_path": str(tls.authority)}
    environment = {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"}
    task = {"name": "create", "hosted.services.project": options, "environment": environment}
    created = ansible.tasks(json.dumps([task])).succeed()["create"]
    assert "was adopted" in " ".join(created.result["warnings"])
    assert len(sandbox.journal("projects.create")) == 1


def test_inventory(tls: Tls, proxy: Proxy, ansible: Ansible, sandbox: Sandbox) -> None:
    inventory = Inventory(ansible, sandbox)
    sandbox.seed({"services": [{"name": "mc", "product": "minecraft"}]})
    url = f"https://127.0.0.1:{tls.fronts['good'].port}"
    trusted: Any = {"ca_path": str(tls.authority)}
    assert list(inventory.list(base_url=url, **trusted).hosts) == ["mc"]
    sandbox.clear_journal()
    assert "not accepted" in " ".join(inventory.refused(base_url=url).split())
    old = f"https://127.0.0.1:{tls.fronts['expired'].port}"
    assert "expired" in inventory.refused(base_url=old, **trusted)
    assert sandbox.journal() == []
    unchecked = inventory.listed(base_url=old, validate_certs=False)
    assert list(unchecked.hosts) == ["mc"] and "validate_certs is off" in unchecked.stderr
    through = {"HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"}
    found = inventory.listed(base_url=f"https://{HOST}", env=through, **trusted)
    assert list(found.hosts) == ["mc"]
    assert set(proxy.asked) == {f"{HOST}:443"}


# --- The registry ---------------------------------------------------------------------------------------


@pytest.fixture
def registry(sandbox: Sandbox, tmp_path: Path) -> Iterator[Tls]:
    with serving(tmp_path / "certificates", int(sandbox.registry.rpartition(":")[2])) as tls:
        yield tls


@pytest.fixture
def renamed(sandbox: Sandbox) -> Iterator[str]:
    """The address of an API that names the registry by a host that only proxies know."""
    old, new = sandbox.registry.encode(), REGISTRY.encode()
    with proxy_running(ProxyServer(sandbox, change=lambda content: content.replace(old, new))) as server:
        yield server.url


def pushes(chosen: dict[str, Case], proxies: dict[str, Proxy], folder: Path, api: str) -> str:
    """Return a play that pushes an image of its own in each case, through the proxy to its server."""
    tasks = []
    for number, (name, case) in enumerate(chosen.items()):
        image = folder / f"image-{number}.tar"
        build_image(image, {"app/server": name.encode()}, environment={"NUMBER": str(number)})
        through = {"HTTPS_PROXY": f"http://127.0.0.1:{proxies[case.server].port}"}
        options = {"slug": "shop", "path": str(image), "base_url": api, **case.options}
        tasks.append({
            "name": name, "hosted.services.app_image": options,
            "environment": {**through, **case.environment}, "ignore_errors": True,
        })  # fmt: skip
    return json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": tasks}])


@BOTH_WAYS
def test_certificates_of_the_registry(
    in_process: bool, registry: Tls, renamed: str, ansible: Ansible, sandbox: Sandbox
) -> None:
    """An image goes to whom the certificate proves to be the registry; others get neither it nor a secret."""
    sandbox.seed({"apps": [{"slug": "shop"}]})
    chosen = cases(registry, ansible.folder, REGISTRY.partition(":")[0])
    if not in_process:
        chosen = {name: chosen[name] for name in PUSHED_AS_MODULE}
    proxies = {name: Proxy(front.port) for name, front in registry.fronts.items()}
    with running(*proxies.values()):
        play = pushes(chosen, proxies, ansible.folder, renamed)
        run = ansible.playbook(play, in_process=in_process).succeed()
    check_outcomes(run, chosen)
    pushed = {scan["id"].rpartition("@")[2] for scan in sandbox.control("GET", "/state")["records"]["scan"]}
    works = [run[name].result for name, case in chosen.items() if not case.says]
    assert all(result["changed"] for result in works)
    assert pushed == {result["image"]["digest"] for result in works}
    refused = [run[name].message for name, case in chosen.items() if "certificate was not" in str(case.says)]
    assert [message for message in refused if f"the registry {REGISTRY}: the server's" not in message] == []
    assert registry.connections <= len(works) + len(chosen)
