# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people report of values: dates, empty variables, names in two Unicode forms, numbers of a file."""

from __future__ import annotations

import unicodedata
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import BOTH_WAYS, Ansible, play_of

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example"
SIZE = "{cpu_cores: 1, ram_gb: 2, storage_gb: 10}"
GAME = f"product: minecraft, host: node-paris-1, dimensions: {SIZE}"


def composed(name: str) -> str:
    """Return a name as most keyboards write it."""
    return unicodedata.normalize("NFC", name)


def decomposed(name: str) -> str:
    """Return a name as macOS writes those of files."""
    return unicodedata.normalize("NFD", name)


def records(sandbox: Sandbox, kind: str) -> list[dict[str, Any]]:
    """Return what the platform has of a kind."""
    found: dict[str, Any] = sandbox.control("GET", "/state")["records"]
    return list(found.get(kind, ()))


def names(sandbox: Sandbox, kind: str) -> list[str]:
    return sorted(str(each["name"]) for each in records(sandbox, kind))


def bodies(sandbox: Sandbox, path: str) -> list[Any]:
    return [each["body"] for each in sandbox.journal() if each["path"] == path]


# --- Dates --------------------------------------------------------------------------------------------

DATES = """
- name: Text
  hosted.services.file: {service: survival, path: text, content: 2026-01-31}
- name: Data
  hosted.services.file:
    service: survival
    path: data
    content: {day: 2026-01-31, at: "{{ '2026-01-31 10:20' | to_datetime('%Y-%m-%d %H:%M') }}"}
- name: Environment
  hosted.services.environment:
    slug: acme-shop
    variables: {SINCE: 2026-01-31}
    secret_variables: {UNTIL: 2026-02-28}
- name: Quote
  hosted.services.quote: {GAME, variables: {motd: 2026-01-31}}
- name: Blueprint
  hosted.services.blueprint:
    blueprint: {project: web, services: {world: {GAME, variables: {motd: 2026-01-31}}}}
  check_mode: true
- name: File
  hosted.services.blueprint: {src: dates.yml}
  check_mode: true
- name: Project
  hosted.services.project: {name: 2026-01-31 10:20:00}
""".replace("GAME", GAME)
STEERED = """
vars:
  hosted_in_process: "{{ inside }}"
  hosted_keep_connections: "{{ not inside }}"
  hosted_progress_interval: "{{ 2 * 5 }}"
"""


def test_dates_are_the_same_text_both_ways(ansible: Ansible, sandbox: Sandbox) -> None:
    """Which way is said by variables that are templates."""
    shop = {"slug": "acme-shop", "images": [{"tag": "v1"}], "deployed": "v1"}
    seeded = sandbox.seed({"services": [{"name": "survival", "product": "minecraft"}], "apps": [shop]})
    service = seeded["services"]["survival"]
    text = f"project: web\nservices: {{world: {{{GAME}, variables: {{motd: 2026-01-31}}}}}}\n"
    (ansible.folder / "dates.yml").write_text(text)
    found = []
    for inside in (True, False):
        sandbox.clear_journal()
        run = ansible.tasks(DATES, STEERED, variables={"inside": inside}).succeed()
        assert "_AnsibleTagged" not in run.output
        content = f"/api/resources/{service}/files/contents?path="
        found.append(
            [
                *(sandbox.api("GET", content + path).json()["content"] for path in ("text", "data")),
                next(each["environment"] for each in records(sandbox, "service") if each["slug"]),
                sorted(body["variables"]["motd"] for body in bodies(sandbox, "/api/order/quote")),
                [name for name in names(sandbox, "project") if name.startswith("20")],
            ]
        )
    day = "2026-01-31"
    assert found[0] == found[1]
    assert f'"at": "{day}T10:20:00"' in found[0].pop(1)
    assert found[0] == [day, {"SINCE": day, "UNTIL": "2026-02-28"}, [day] * 3, [f"{day}T10:20:00"]]


# --- What is empty ------------------------------------------------------------------------------------

OF_CI = {f"HOSTED_SERVICES_{name}": "" for name in ("TIMEOUT", "RETRIES", "VALIDATE_CERTS")}
EMPTY = """
- name: Lookup
  ansible.builtin.debug: {msg: "{{ lookup('hosted.services.registry_credentials').username }}"}
- name: Hosts
  ansible.builtin.debug: {msg: "{{ groups.all }}"}
- name: Secret
  hosted.services.environment:
    slug: acme-shop
    variables: {LEVEL: info}
    secret_variables: {SESSION_KEY: "{{ lookup('ansible.builtin.env', 'SESSION_KEY') }}"}
  ignore_errors: true
- name: Secret of a blueprint
  hosted.services.blueprint:
    blueprint: {project: web, applications: {acme-shop: {secret_environment: {SESSION_KEY: " "}}}}
  ignore_errors: true
- name: Secret of a clone
  hosted.services.clone:
    source: web
    project: staging
    rename: {suffix: -staging}
    secret_environments: {acme-shop: {SESSION_KEY: ""}}
  ignore_errors: true
- name: Password
  hosted.services.sftp_sync: {service: survival, src: ., dest: x, password: ""}
  ignore_errors: true
- name: On purpose
  hosted.services.environment: {slug: acme-shop, variables: {LEVEL: "", SESSION_KEY: ""}}
"""


@BOTH_WAYS
def test_what_is_empty(in_process: bool, ansible: Ansible, sandbox: Sandbox) -> None:
    """A setting of the connection is not set, a secret is refused; line breaks at an end are taken off."""
    shop = {"slug": "acme-shop", "project": "web", "images": [{"tag": "v1"}], "deployed": "v1"}
    service = {"name": "survival", "product": "minecraft", "project": "web"}
    sandbox.seed({"services": [service], "apps": [shop]})
    (ansible.folder / "account.hosted.yml").write_text("plugin: hosted.services.inventory\n")
    lines = {"HOSTED_SERVICES_URL": f"{sandbox.base_url}\n", "HOSTED_SERVICES_TOKEN": f"{sandbox.token}\n"}
    play, hosts = play_of(EMPTY), ("-i", str(ansible.folder / "account.hosted.yml"))
    run = ansible.playbook(play, *hosts, env={**OF_CI, **lines}, in_process=in_process).succeed()
    assert "survival" in run["Hosts"].message
    for name in ("Secret", "Secret of a blueprint", "Secret of a clone"):
        said = "SESSION_KEY: empty among the secret variables"
        assert run[name].failed and said in run[name].message, name
        assert "write it with the plain variables" in run[name].message
    said = "password is empty; give it a value, or leave it out"
    assert run["Password"].failed and said in run["Password"].message
    [app] = [each for each in records(sandbox, "service") if each["slug"]]
    assert app["environment"] == {"LEVEL": "", "SESSION_KEY": ""}
    written = [each["path"] for each in sandbox.journal(method="PUT")]
    assert written == ["/api/apps/acme-shop/environment"]


# --- Names in two forms -------------------------------------------------------------------------------

NAMES = r"""
- name: Project
  hosted.services.project: {name: Bäckerei}
- name: Service
  hosted.services.service: {name: Möhre, project: Bäckerei}
- name: Service by id
  hosted.services.service: {name: Möhre, id: "{{ id }}"}
- name: Service info
  hosted.services.service_info: {name: Möhre}
- name: Selected
  hosted.services.service_info: {project: Bäckerei}
- name: Key info
  hosted.services.ssh_key_info: {name: Schlüssel}
- name: Key
  hosted.services.ssh_key: {name: Schlüssel, public_key: "{{ key }}"}
- name: Key by name
  hosted.services.ssh_key: {name: Schlüssel, state: absent}
- name: Backups
  hosted.services.backup_info: {services: [Möhre], pattern: "nächtlich-*"}
- name: Snapshot
  hosted.services.snapshot: {services: [Möhre], name: für-später, state: absent}
- name: New project
  hosted.services.project: {name: "{{ new }}"}
- name: New service
  hosted.services.service: {name: "{{ new }}", project: "{{ new }}", GAME}
- name: New backup
  hosted.services.backup: {services: [Möhre], name: "{{ new }}", wait_interval: 0.2}
- name: Another letter
  hosted.services.service: {name: "M\u0430uer", state: started}
  ignore_errors: true
""".replace("GAME", GAME.replace("minecraft", "linux"))
UNCHANGED = ("Project", "Service", "Service by id", "Key")


def test_a_name_is_one_in_both_forms(ansible: Ansible, sandbox: Sandbox) -> None:
    """The platform's spelling addresses what is there, and what is new is composed."""
    project, key, snapshot = map(decomposed, ("Bäckerei", "Schlüssel", "für-später"))
    service = {"name": decomposed("Möhre"), "product": "linux", "project": project}
    backed_up = {**service, "backups": [{"name": decomposed("nächtlich-1")}]}
    other = {"name": "Mauer", "product": "linux", "project": project}
    keys = [{"name": key, "public_key": KEY}]
    seeded = sandbox.seed({"services": [backed_up, other], "ssh_keys": keys})
    id = seeded["services"][service["name"]]
    assert sandbox.api("POST", f"/api/resources/{id}/snapshots", {"name": snapshot}).ok
    variables = {"id": id, "key": KEY, "new": decomposed("Käserei")}
    run = ansible.tasks(composed(NAMES), variables=variables).succeed()
    for name in UNCHANGED:
        assert not run[name].result["changed"] and not run[name].result.get("warnings"), name
    found = {name: run[name].result for name in ("Service info", "Key info", "Backups")}
    assert len(found["Service info"]["services"]) == len(found["Key info"]["ssh_keys"]) == 1
    assert len(found["Backups"]["services"][0]["backups"]) == 1
    assert run["Key by name"].result["changed"] and run["Snapshot"].result["changed"]
    assert records(sandbox, "snapshot") == [] and names(sandbox, "key") == []
    new = composed("Käserei")
    assert {project, new} <= set(names(sandbox, "project"))
    assert {service["name"], new} <= set(names(sandbox, "service"))
    assert new in names(sandbox, "backup")
    assert "did you mean 'Mauer' (U+0061, not U+0430)?" in run["Another letter"].message
