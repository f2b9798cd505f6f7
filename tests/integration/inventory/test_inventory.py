# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The inventory against the sandbox, through ansible-inventory and ansible-playbook."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.testing import Sandbox
from integration.inventory.conftest import Inventory

pytestmark = pytest.mark.usefixtures("ids")

SERVICES = [
    {"name": "survival", "product": "minecraft", "project": "games"},
    {"name": "creative", "product": "minecraft", "project": "games", "status": "SUSPENDED"},
    {"name": "shop", "product": "application", "project": "web"},
    {"name": "box", "product": "linux", "project": "web", "public": True},
]


@pytest.fixture
def ids(sandbox: Sandbox) -> dict[str, str]:
    """An account with four services; their ids by name."""
    services: dict[str, str] = sandbox.seed({"projects": ["games", "web"], "services": SERVICES})["services"]
    return services


@pytest.fixture
def cache(tmp_path: Path) -> dict[str, Any]:
    """Options that keep a cache in a folder of this test."""
    folder = str(tmp_path / "cache")
    return {"cache": True, "cache_plugin": "ansible.builtin.jsonfile", "cache_connection": folder}


LOOKUP = "{{ lookup('ansible.builtin.env', '%s') }}"


# --- Hosts, groups, variables -----------------------------------------------------------------------


def test_groups_and_variables(inventory: Inventory, sandbox: Sandbox, ids: dict[str, str]) -> None:
    """What the list tells of a service is in its variables, money in units, and where its files are."""
    listed = inventory.list()
    assert listed.groups == {
        "family_app": ["shop"],
        "family_compute": ["box"],
        "family_game": ["creative", "survival"],
        "project_games": ["creative", "survival"],
        "project_web": ["box", "shop"],
    }
    host = listed.of("survival")
    shown = sandbox.api("GET", f"/api/resources/{ids['survival']}").json()
    sftp = sandbox.api("GET", f"/api/resources/{ids['survival']}/sftp").json()
    assert host == {
        "ansible_facts_modules": [],
        "ansible_host": sftp["host"],
        "ansible_port": sftp["port"],
        "ansible_user": sftp["username"],
        "hosted_address": shown["address"],
        "hosted_can_power": True,
        "hosted_created_at": shown["dates"]["createdAt"],
        "hosted_dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
        "hosted_family": "GAME",
        "hosted_host": {"id": "node-paris-1", "label": "Paris 1", "location_label": "Paris, France"},
        "hosted_hourly_label": shown["pricing"]["hourlyLabel"],
        "hosted_id": ids["survival"],
        "hosted_is_free": False,
        "hosted_monthly": "10.74",
        "hosted_monthly_full": "10.74",
        "hosted_name": "survival",
        "hosted_product": {"slug": "minecraft", "name": "Minecraft server", "short_name": "Minecraft"},
        "hosted_project": "games",
        "hosted_project_id": shown["projectId"],
        "hosted_service_id": ids["survival"],
        "hosted_runtime": {"id": "runtime-paper", "slug": "paper", "name": "Paper"},
        "hosted_status": "ACTIVE",
        "hosted_url": sandbox.base_url,
    }


AWKWARD = {
    "all": "6_7-all",
    "localhost": "6_7-localhost",
    "127.0.0.1": "6_7-127.0.0.1",
    "family_game": "6_7-family_game",
    "large": "6_7-large",
    "My server (old)": "My_server_old",
    "été 🎮": "été",
    "../../etc/x": "etc_x",
    "..": "service_{id}",
    "a,b:c!&d": "a_b_c_d",
    "-rf": "rf",
    "{{ 7 * 7 }}": "7_7",
    "{% raw %}": "raw",
    "#jinja2: x": "jinja2_x",
    "🎮": "service_{id}",
    "\x1b[31mred\u202e": "31mred",
}


def test_awkward_names(inventory: Inventory, sandbox: Sandbox) -> None:
    """Whatever a service is called, it is one host that can be named, and its name is no template."""
    sandbox.reset()
    services = [{"name": name, "product": "minecraft", "project": "{{ 6 * 7 }}"} for name in AWKWARD]
    ids = sandbox.seed({"services": services})["services"]
    listed = inventory.list(groups={"large": "hosted_dimensions.ram_gb > 1"})
    wanted = {name: host.format(id=ids[name][:8]) for name, host in AWKWARD.items()}
    assert {host["hosted_id"]: name for name, host in listed.hosts.items()} == {
        ids[name]: host for name, host in wanted.items()
    }
    assert "\\u001b" not in listed.stdout
    play = """\
- hosts: family_game
  tasks:
    - {name: say, debug: {msg: "{{ inventory_hostname }}|{{ hosted_name }}|{{ hosted_project }}"}}
"""
    run = inventory.ansible.playbook(play).succeed()
    said = {outcome.message for outcome in run.outcomes if outcome.name == "say"}
    shown = {name: name.replace("\x1b", "").replace("\u202e", "") for name in AWKWARD}
    assert said == {f"{wanted[name]}|{shown[name]}|{{{{ 6 * 7 }}}}" for name in AWKWARD}


# --- Connections ------------------------------------------------------------------------------------


def test_gathers_no_facts(inventory: Inventory, ids: dict[str, str]) -> None:
    """Gathering facts is a task that does nothing and connects to nothing, so SSH is not even needed."""
    inventory.write()
    play = "- hosts: all\n  vars: {ansible_ssh_executable: /nonexistent}\n  tasks: []\n"
    run = inventory.ansible.playbook(play).succeed()
    assert {outcome.outcome for outcome in run.outcomes} == {"ok"}
    assert len(run.outcomes) == len(ids)


def test_address(inventory: Inventory, sandbox: Sandbox) -> None:
    """The address of a service is where Ansible connects, or nothing is set; SFTP is not asked for."""
    listed = inventory.list(connect_with="address")
    box = listed.of("box")
    assert f"{box['ansible_host']}:{box['ansible_port']}" == box["hosted_address"]
    assert "ansible_facts_modules" not in box
    listed = inventory.list(connect_with="none")
    assert not [name for name in listed.of("box") if name.startswith("ansible_")]
    assert not sandbox.journal(route="sftp.get")


# --- Filters ----------------------------------------------------------------------------------------


def test_filters(inventory: Inventory, sandbox: Sandbox, ids: dict[str, str]) -> None:
    """Only what all filters let through is listed. A project can be given by id."""
    project = sandbox.api("GET", f"/api/resources/{ids['box']}").json()["projectId"]
    both = inventory.list(projects=["games", project], families=["APP", "COMPUTE"]).hosts
    assert list(both) == ["box", "shop"]
    assert list(inventory.list(statuses=["SUSPENDED", "ACTIVE"], names=["*o*", "!box"]).hosts) == ["shop"]
    assert inventory.list(families=["BUCKET"]).hosts == {}


def test_filter_by_project_reads_no_other(inventory: Inventory, sandbox: Sandbox) -> None:
    """The whole account is not read for one project, nor the SFTP access of what is filtered out."""
    sandbox.clear_journal()
    inventory.list(projects=["games"], names=["survival"])
    assert Counter(line["route"] for line in sandbox.journal()) == {
        "projects.list": 1,
        "projects.get": 1,
        "sftp.get": 1,
    }


# --- What is read on request ------------------------------------------------------------------------


def test_metrics_and_settings(inventory: Inventory, sandbox: Sandbox) -> None:
    """They are there on request, and null where the node does not answer, or a service offers none."""
    usual = inventory.list()
    assert not [host for host in usual.hosts.values() if {"hosted_state", "hosted_settings"} & host.keys()]
    listed = inventory.list(include_metrics=True, include_settings=True)
    assert listed.of("survival")["hosted_metrics"]["state"] == "running"
    assert listed.of("shop")["hosted_settings"]["network"]["alias"] == "shop"
    assert listed.of("box")["hosted_settings"] is None
    sandbox.operator("nodes/node-paris-1", reachable=False)
    survival = inventory.list(include_metrics=True).of("survival")
    assert survival["hosted_state"] is survival["hosted_metrics"] is None


def test_a_launch_command_is_neither_shown_nor_cached(
    inventory: Inventory, sandbox: Sandbox, ids: dict[str, str], cache: dict[str, Any]
) -> None:
    """It may hold a password; variables and the cache hold none."""
    command = {"command": "run --rcon-password hush-hush"}
    assert sandbox.api("PUT", f"/api/resources/{ids['survival']}/deploy", command).ok
    listed = inventory.list(include_settings=True, **cache)
    deploy = listed.of("survival")["hosted_settings"]["deploy"]
    assert deploy["editable"] and "command" not in deploy
    kept = [path.read_text() for path in Path(cache["cache_connection"]).iterdir()]
    assert kept and "survival" in kept[0] and "hush-hush" not in listed.stdout + "".join(kept)


def test_a_filter_may_be_a_template(inventory: Inventory) -> None:
    env = {"NAMES": "box", "PROJECT": "games", "FAMILY": "GAME", "STATUS": "SUSPENDED"}
    filters: list[tuple[dict[str, Any], list[str]]] = [
        ({"names": [LOOKUP % "NAMES"]}, ["box"]),
        ({"projects": LOOKUP % "PROJECT"}, ["creative", "survival"]),
        ({"families": [LOOKUP % "FAMILY"], "statuses": LOOKUP % "STATUS"}, ["creative"]),
    ]
    for options, names in filters:
        assert sorted(inventory.list(env=env, **options).hosts) == names


# --- Constructed ------------------------------------------------------------------------------------


def test_constructed(inventory: Inventory) -> None:
    """Variables, groups and keyed groups made of the variables of the hosts."""
    listed = inventory.list(
        compose={"nightly": "hosted_name ~ '-nightly'"},
        groups={"suspended": "hosted_status == 'SUSPENDED'"},
        keyed_groups=[
            {"key": "hosted_product.slug", "prefix": "product"},
            {"key": "hosted_host.label", "separator": "", "parent_group": "nodes"},
        ],
        strict=True,
    )
    assert listed.of("box")["nightly"] == "box-nightly"
    assert listed.groups["suspended"] == ["creative"]
    assert listed.groups["product_minecraft"] == ["creative", "survival"]
    assert listed.groups["Paris_1"] == ["box", "creative", "shop", "survival"]


def test_strict_and_extra_vars(inventory: Inventory) -> None:
    """An expression that cannot be evaluated is skipped, and an error when strict."""
    compose = {"edition": "hosted_runtime.slug ~ ''"}
    listed = inventory.list(compose=compose)
    assert listed.of("survival")["edition"] == "paper"
    assert "edition" not in listed.of("box")
    stage = {"stage": "stage_name"}
    listed = inventory.list("-e", "stage_name=test", use_extra_vars=True, compose=stage, strict=True)
    assert listed.of("box")["stage"] == "test"


def test_hostnames(inventory: Inventory) -> None:
    """The first expression that gives something names the host; else it is the service."""
    listed = inventory.listed(hostnames=["hosted_runtime.slug", "hosted_project ~ '-' ~ hosted_name"])
    assert len(listed.hosts) == 4
    assert {"web-box", "web-shop"} < set(listed.hosts)
    assert {"paper", "games-paper"} < set(listed.hosts)
    assert "WARNING" not in listed.output
    misspelled = inventory.listed(hostnames=["hosted_nothing", "hosted_nope"])
    assert "box" in misspelled.hosts
    said = " ".join(misspelled.output.split())
    assert said.count("WARNING") == 1 and "hostnames named no host" in said
    assert "'hosted_nothing' cannot be evaluated" in said and "'hosted_nope' cannot be evaluated" in said
    assert "WARNING" not in inventory.listed(hostnames=["hosted_nothing", "''", "hosted_name"]).output


def test_prefix(inventory: Inventory) -> None:
    """The prefix is the user's; the address keeps its name, because the collection's tasks look for it."""
    box = inventory.list(hostvars_prefix="svc_").hosts["box"]
    assert box["svc_name"] == "box"
    assert "hosted_url" in box
    assert box["hosted_service_id"] == box["svc_id"]
    assert "hosted_name" not in box


TOKENS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "environment": ({"token_env": "MINE"}, {"hosted_token_env": "MINE"}),
    "file": ({"token_file": "~/mine"}, {"hosted_token_file": "HOME/mine"}),
    "variable": ({"token_variable": "mine"}, {"hosted_token_variable": "mine"}),
    "template": ({"token": LOOKUP % "MINE"}, {"hosted_token_handed_on": False}),
    "template and variable": (
        {"token": LOOKUP % "MINE", "token_variable": "vault"},
        {"hosted_token_variable": "vault"},
    ),
    "settings": (
        {"token_env": "MINE", "auth_scheme": "Bearer", "timeout": 30, "allow_http_hosts": ["a"]},
        {
            "hosted_token_env": "MINE",
            "hosted_services_auth_scheme": "Bearer",
            "hosted_services_allow_http_hosts": ["a"],
        },
    ),
}


@pytest.mark.parametrize("case", TOKENS)
def test_where_the_token_is_is_handed_on(case: str, inventory: Inventory, sandbox: Sandbox) -> None:
    """So that tasks use that of the inventory; the token itself is in no variable."""
    options, variables = TOKENS[case]
    home = inventory.ansible.folder
    (home / "mine").write_text(f"{sandbox.token}\n")
    env = {"MINE": sandbox.token, "HOSTED_SERVICES_TOKEN": "another"}
    listed = inventory.listed("-e", f"mine={sandbox.token}", env=env, **options)
    host = listed.hosts["box"]
    assert host.pop("mine") == sandbox.token  # what was given with -e is shown as it was
    prefixes = ("hosted_token", "hosted_services")
    named = {name: value for name, value in host.items() if name.startswith(prefixes)}
    assert named == {
        name: value if value != "HOME/mine" else f"{home}/mine" for name, value in variables.items()
    }
    assert sandbox.token not in str(host)


# --- Budget -----------------------------------------------------------------------------------------


def test_a_budget_is_a_variable_of_the_hosts(inventory: Inventory, cache: dict[str, Any]) -> None:
    """Read as the option of the modules is, with templates rendered, and not taken from a cache."""
    cases: list[tuple[Any, dict[str, Any]]] = [
        (200, {"account": "200.00"}),
        (
            {"account": "{{ 15 * 2 }}", "projects": {"web": 12.5}, "run": "7"},
            {"account": "30.00", "projects": {"web": "12.50"}, "run": "7.00"},
        ),
        ("{run: 3}", {"run": "3.00"}),
    ]
    for written, expected in cases:
        hosts = inventory.list(budget=written, **cache).hosts
        assert [host["hosted_inventory_budget"] for host in hosts.values()] == [expected] * 4
    assert "hosted_inventory_budget" not in inventory.list().of("box")


# --- Cache ------------------------------------------------------------------------------------------


def test_cache(inventory: Inventory, sandbox: Sandbox, ids: dict[str, str], cache: dict[str, Any]) -> None:
    """A second run makes no call; another token, another filter and --flush-cache do."""
    first = inventory.list(**cache)
    sandbox.clear_journal()
    assert inventory.list(**cache) == first
    # What is made of the services is made anew.
    assert "box" in inventory.list(**cache, hostvars_prefix="x_", compose={"y": "x_id"}).hosts
    assert sandbox.journal() == []

    assert inventory.list(**cache, env={"HOSTED_SERVICES_TOKEN": "sandbox-other-token"}).hosts == {}
    assert list(inventory.list(**cache, names=["box"]).hosts) == ["box"]
    assert list(inventory.list(**cache).hosts) == sorted(ids)

    sandbox.seed({"services": [{"name": "new", "product": "linux"}]})
    assert "new" not in inventory.list(**cache).hosts
    # ansible-inventory knows the option as well, but only from ansible-core 2.19 on.
    play = "- hosts: all\n  gather_facts: false\n"
    inventory.ansible.playbook(play, "--list-hosts", "--flush-cache").succeed()
    assert "new" in inventory.list(**cache).hosts

    files = [path.name + path.read_text() for path in Path(cache["cache_connection"]).iterdir()]
    assert len(files) == 3
    assert not [text for text in files if sandbox.token in text or "sandbox-other-token" in text]


def test_cached_warnings(inventory: Inventory, sandbox: Sandbox, cache: dict[str, Any]) -> None:
    """Without SFTP access a service is a host all the same; it is named for as long as the cache lasts."""
    sandbox.fault("sftp.get", "status", status=403)
    first = inventory.listed(**cache)
    lacking = [host["hosted_name"] for host in first.hosts.values() if "ansible_host" not in host]
    assert len(first.hosts) == 4 and len(lacking) == 1
    assert "the sftp of 1 of 4 services could not be read" in first.output
    assert f"{lacking[0]!r}" in first.output
    assert inventory.listed(**cache) == first


def test_a_cache_of_another_shape_is_not_used(inventory: Inventory, cache: dict[str, Any]) -> None:
    first = inventory.listed(**cache)
    [cached] = Path(cache["cache_connection"]).iterdir()
    whole = cached.read_text()
    held = [[], "text", {"services": 1}, {"services": [{"id": "x"}], "projects": {}}]
    for shape in ["[]", *(json.dumps({"__payload__": json.dumps(content)}) for content in held)]:
        cached.write_text(shape)
        again = inventory.listed(**cache)
        assert (again.hosts, again.groups) == (first.hosts, first.groups), shape
        assert "the inventory's cache is not as it was written, and is not used" in again.output
        assert cached.read_text() == whole, shape
    assert inventory.listed(**cache) == first


@pytest.mark.parametrize("projects", [None, ["web"]])
def test_a_service_that_a_play_moved_is_in_its_new_project(
    projects: list[str] | None, inventory: Inventory, sandbox: Sandbox, cache: dict[str, Any]
) -> None:
    """After `meta: refresh_inventory`, cache or not: a play over the old one would act on the service."""
    sandbox.reset()
    sandbox.seed({"projects": ["web"], "services": [{"name": "mc", "product": "minecraft"}]})
    inventory.write(projects=projects, **cache)
    play = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - hosted.services.service: {base_url: "{{ url }}", name: mc, project: default, new_project: web}
    - ansible.builtin.meta: refresh_inventory
- hosts: project_default
  tasks:
    - hosted.services.service: {id: "{{ hosted_id }}", state: suspended}
- hosts: project_web
  tasks:
    - {name: say, debug: {msg: "{{ hosted_name }} {{ hosted_project }}"}}
"""
    run = inventory.ansible.playbook(play, variables={"url": inventory.base_url}).succeed()
    assert [line["route"] for line in sandbox.journal() if line["method"] != "GET"] == ["settings.project"]
    assert run["say"].message == "mc web"


# --- Errors -----------------------------------------------------------------------------------------


NOTHING: tuple[Any, ...] = ("", [], [""], ["  "], LOOKUP % "NOTHING", [LOOKUP % "NOTHING"], None)
"""Filters that would let everything through: none of them stands for the whole account."""
NO_BUDGETS: tuple[Any, ...] = ("", "much", -1, {}, {"rooms": 3}, {"projects": {}}, "{{ none }}")
REFUSED: dict[str, list[tuple[dict[str, Any], str]]] = {
    "before a call": [
        ({"base_url": "http://api.example.com"}, "over http the token would be sent unencrypted"),
        ({"base_url": None}, "base_url is not set"),
        ({"family": ["GAME"]}, "unknown option 'family'; did you mean 'families'?"),
        ({"connect_with": "ssh"}, "address, none"),
        ({"token": "{{ undefined_here }}"}, "'undefined_here' is undefined"),
        ({"timeout": 0}, "timeout"),
        ({"sftp_max_age": -1}, "sftp_max_age is -1; it must be 0 or more seconds"),
        ({"token_env": "NO_TOKEN"}, "in the environment variable NO_TOKEN, which is not set"),
        ({"token_variable": "vault_token"}, "which the inventory cannot read"),
        ({"token": "mine", "token_env": "MINE"}, "token and token_env each name a token"),
        ({"families": ["GAME", "deleted"]}, "families: unknown value 'deleted'; use some of GAME, APP"),
        ({"statuses": ["{{ 'deleted' }}"]}, "statuses: unknown value 'deleted'; use some of PROVISIONING"),
        ({"hostvars_prefix": "1-"}, "hostvars_prefix is '1-'"),
        *(({name: it}, name) for name in ("projects", "families", "statuses", "names") for it in NOTHING),
        *(({"budget": it}, "budget") for it in NO_BUDGETS),
    ],
    "by what was read": [
        ({"projects": ["game"]}, "projects: unknown project 'game'; did you mean 'games'?"),
        ({"token": "wrong"}, "the token was not accepted (4"),
        ({"token": "sandbox-registry-token"}, "refused (403)"),
        ({"compose": {"edition": "hosted_runtime.slug ~ ''"}, "strict": True}, "edition"),
        ({"hostnames": ["hosted_nope.x"], "strict": True}, "hosted_nope"),
        ({"compose": {"stage": "stage_name"}, "strict": True}, "stage_name"),
    ],
}


@pytest.mark.parametrize("when", REFUSED)
def test_refused(inventory: Inventory, sandbox: Sandbox, when: str) -> None:
    sandbox.clear_journal()
    told = inventory.refusals([options for options, _says in REFUSED[when]])
    assert [case for case, why in zip(REFUSED[when], told, strict=True) if case[1] not in why] == []
    assert bool(sandbox.journal()) == (when != "before a call")


@pytest.mark.parametrize("route", ["projects.list", "projects.get", "resources.list", "resources.metrics"])
def test_a_failing_list_is_an_error(route: str, inventory: Inventory, sandbox: Sandbox) -> None:
    """Whatever the list is made of has to be there, or there is no inventory."""
    sandbox.fault(route, "status", status=500, count=None)
    assert "the platform failed (500)" in inventory.refused(retries=0, include_metrics=True)


# --- SFTP access that is remembered -------------------------------------------------------------------


def test_sftp_access_is_read_when_something_changed(
    inventory: Inventory, sandbox: Sandbox, ids: dict[str, str]
) -> None:
    """A second run reads the lists alone; later ones what is new or has another status, or all if told to."""
    inventory.write(sftp_max_age=3600)

    def reads(*arguments: str) -> list[str]:
        sandbox.clear_journal()
        listed.append(inventory.run("--list", *arguments))
        assert listed[-1].rc == 0, listed[-1].output
        return sorted(line["path"].split("/")[3] for line in sandbox.journal() if line["route"] == "sftp.get")

    listed: list[Any] = []
    assert reads() == sorted(ids.values())
    assert reads() == []
    assert listed[0].stdout == listed[1].stdout
    sandbox.operator(f"services/{ids['survival']}", status="SUSPENDED")
    new = sandbox.seed({"services": [{"name": "new", "product": "minecraft"}]})["services"]["new"]
    assert reads() == sorted([ids["survival"], new])
    assert reads("--flush-cache") == sorted([*ids.values(), new])
    records = list(Path(inventory.ansible.folder).rglob("sftp-*.json"))
    assert records, "in Ansible's home"
    records[0].write_text("{")
    assert reads() == sorted([*ids.values(), new])
