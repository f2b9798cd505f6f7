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
    sandbox.seed(
        {
            "services": [{"name": "survival", "product": "minecraft"}],
            "apps": [{"slug": "acme-shop", "images": [{"tag": "v1"}], "deployed": "v1"}],
        }
    )
    service = next(each["id"] for each in records(sandbox, "service") if each["name"] == "survival")
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
    assert found[0][0] == day
    assert f'"at": "{day}T10:20:00"' in found[0][1]
    assert found[0][2] == {"SINCE": day, "UNTIL": "2026-02-28"}
    assert found[0][3] == [day] * 3
    assert found[0][4] == [f"{day}T10:20:00"]


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
    sandbox.seed(
        {
            "projects": ["web"],
            "services": [{"name": "survival", "product": "minecraft", "project": "web"}],
            "apps": [{"slug": "acme-shop", "project": "web", "images": [{"tag": "v1"}], "deployed": "v1"}],
        }
    )
    (ansible.folder / "account.hosted.yml").write_text("plugin: hosted.services.inventory\n")
    lines = {f"HOSTED_SERVICES_{name}": value + "\n" for name, value in (
        ("URL", sandbox.base_url), ("TOKEN", sandbox.token))}  # fmt: skip
    arguments = ["-i", str(ansible.folder / "account.hosted.yml")]
    run = ansible.playbook(
        play_of(EMPTY), *arguments, env={**OF_CI, **lines}, in_process=in_process
    ).succeed()
    assert "survival" in run["Hosts"].message
    for name in ("Secret", "Secret of a blueprint", "Secret of a clone"):
        assert run[name].failed, name
        assert "SESSION_KEY: empty among the secret variables" in run[name].message
        assert "write it with the plain variables" in run[name].message
    assert run["Password"].failed
    assert "password is empty; give it a value, or leave it out" in run["Password"].message
    [app] = [each for each in records(sandbox, "service") if each["slug"]]
    assert app["environment"] == {"LEVEL": "", "SESSION_KEY": ""}
    assert [each["path"] for each in sandbox.journal() if each["method"] == "PUT"] == [
        "/api/apps/acme-shop/environment"
    ]


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
    service = {"name": decomposed("Möhre"), "product": "linux", "project": decomposed("Bäckerei")}
    backup = {"name": decomposed("nächtlich-1")}
    seeded = sandbox.seed(
        {
            "projects": [decomposed("Bäckerei")],
            "services": [
                {**service, "backups": [backup]},
                {"name": "Mauer", "product": "linux", "project": decomposed("Bäckerei")},
            ],
            "ssh_keys": [{"name": decomposed("Schlüssel"), "public_key": KEY}],
        }
    )
    id = seeded["services"][service["name"]]
    taken = sandbox.api("POST", f"/api/resources/{id}/snapshots", {"name": decomposed("für-später")})
    assert taken.ok
    variables = {"id": id, "key": KEY, "new": decomposed("Käserei")}
    run = ansible.tasks(composed(NAMES), variables=variables).succeed()
    for name in UNCHANGED:
        assert not run[name].result["changed"], name
        assert not run[name].result.get("warnings"), name
    assert len(run["Service info"].result["services"]) == 1
    assert len(run["Key info"].result["ssh_keys"]) == 1
    assert run["Key by name"].result["changed"]
    assert len(run["Backups"].result["services"][0]["backups"]) == 1
    assert run["Snapshot"].result["changed"]
    assert records(sandbox, "snapshot") == []
    assert names(sandbox, "key") == []
    assert {decomposed("Bäckerei"), composed("Käserei")} <= set(names(sandbox, "project"))
    assert {service["name"], composed("Käserei")} <= set(names(sandbox, "service"))
    assert composed("Käserei") in names(sandbox, "backup")
    assert "did you mean 'Mauer' (U+0061, not U+0430)?" in run["Another letter"].message


# --- Files of blueprints ------------------------------------------------------------------------------
