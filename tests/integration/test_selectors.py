# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""No selector that is empty, misspelt or contradicted lets a task touch what the well-formed task would not.

Every resource that writes is run in every state, on an account with two projects whose services have equal
names. What counts is what was touched: the requests in the journal, the records of the platform, its bill,
and the files of its services.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cases import by_module
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome, Run, begin_anew
from unit.plugins.resources import RESOURCES

KEYS = (
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFzj6KifbzD3SQ/ODoy4X+uPIHgVn/YK4x+KxD2Lbjot laptop@example",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHovbwhQLpsdyWDhUXaW7wCdNgn9bLmZwKcURj7f2WQo desktop@example",
)
BACKUPS = [{"name": f"nightly-{day}", "created_at": f"2026-01-0{day}T02:00:00Z"} for day in (1, 2, 3)]
FILES = {"server.properties": "motd=hi", "world/level.dat": "1"}
PROJECTS = ("games", "staging")
READ_ONLY = {name for name in RESOURCES if name.endswith("_info")} | {"quote", "sftp_host_key"}


def services_of(project: str) -> list[dict[str, Any]]:
    """Return the services of a project for a seed; both projects have the same."""
    common = {"project": project, "created_at": "2026-01-01T00:00:00Z"}
    return [
        {"name": "mc", "product": "minecraft", "backups": BACKUPS, "files": FILES, **common},
        {"name": "idle", "product": "minecraft", "state": "stopped", "files": FILES, **common},
        {"name": "asleep", "product": "minecraft", "status": "SUSPENDED", **common},
        {"name": "box", "product": "linux", "files": {"etc.txt": "now"}, **common},
        {"name": "db", "product": "postgresql", **common},
    ]


SEED: dict[str, Any] = {
    "balance_cents": 5_000_000,
    "projects": [*PROJECTS, "spare"],
    "ssh_keys": [{"name": "laptop", "public_key": KEYS[0]}],
    "services": [service for project in PROJECTS for service in services_of(project)],
    "apps": [
        {"slug": slug, "project": project, "images": [{"tag": "v1"}, {"tag": "v2"}], "deployed": "v1"}
        for slug, project in (("shop", "games"), ("shop-next", "staging"))
    ],
}


@dataclass(frozen=True)
class Form:
    """A well-formed task: its module, and arguments among which are all that identify or narrow."""

    module: str
    arguments: Mapping[str, Any]

    @property
    def state(self) -> str | None:
        """The state that the task asks for, if its module has any."""
        option = RESOURCES[self.module].options.get("state")
        if option is None:
            return None
        return str(self.arguments["state"] if "state" in self.arguments else option["default"])


FORMS = {
    title: Form(module, arguments)
    for module, tasks in by_module("selectors").items()
    for title, arguments in tasks.items()
}
"""Every module's well-formed tasks by title, from `cases.yml` in the folder of its target."""


# --- What may go wrong with a selector ----------------------------------------------------------------

EMPTY: dict[str, Any] = {"null": None, "empty": "", "blank": " ", "empty list": [], "list of nothing": [""]}
PASSING = ("account", "node", "task")
"""Records of the sandbox that change with every order; all others hold what tasks work on."""


class Case(NamedTuple):
    """A form with one selector changed, and how."""

    form: str
    option: str
    how: str
    arguments: Mapping[str, Any]

    @property
    def title(self) -> str:
        return f"{self.form}, {self.option} {self.how}"


def text_of(form: Form, option: str) -> str:
    """Return what a form says for an option, as one text."""
    value = form.arguments.get(option, "x")
    return str(value[0] if isinstance(value, list) else value)


def same_type(form: Form, option: str, text: str) -> Any:
    """Return a text as the option takes it."""
    return [text] if RESOURCES[form.module].options[option]["type"] == "list" else text


def refused_cases() -> Iterator[Case]:
    """Yield what has to fail before anything is sent that changes something."""
    for name, form in FORMS.items():
        for option in sorted(RESOURCES[form.module].selectors):
            values = {**EMPTY, "with a line break": same_type(form, option, f"{text_of(form, option)}\n")}
            if option == "public_key":
                del values["with a line break"]  # as in its file
            for how, value in values.items():
                yield Case(name, option, how, {**form.arguments, option: value})
        for option, value in contradictions(form).items():
            yield Case(name, option, "contradicting", {**form.arguments, option: value})


def contradictions(form: Form) -> dict[str, Any]:
    """Return values that contradict what else identifies the object of a form."""
    if "fingerprint" in form.arguments:
        return {"name": "desktop"}
    if "id_games" in str(form.arguments):
        return {"name": "staging"}
    if "{{ id_" not in str(form.arguments):
        return {}
    others = {"project": "staging", "family": "BUCKET"}
    return {**others, "name": "db"} if form.module == "service" else others


SET = {
    ("ssh_key", "public_key"),
    ("file", "new_name"),
    ("project", "new_name"),
    ("sleep_plan", "name"),
    ("fleet", "name"),
    ("relocate", "name"),
    ("recover", "copies"),
    ("recover", "before"),
}
"""Selectors that name what is set, or where it comes from, not what it is set on: a plan to sleep of another
name is another plan."""


def near_cases() -> Iterator[Case]:
    """Yield slips of the pen: another case, two letters swapped. A name may be that of something new."""
    for name, form in FORMS.items():
        for option in sorted(RESOURCES[form.module].selectors & form.arguments.keys()):
            text = text_of(form, option)
            if "{{" in text or isinstance(form.arguments[option], dict) or (form.module, option) in SET:
                continue
            slips = {"in another case": text.swapcase(), "misspelt": text[:-2] + text[:-3:-1]}
            for how, slip in slips.items():
                if slip != text:
                    yield Case(name, option, how, {**form.arguments, option: same_type(form, option, slip)})


REFUSED, NEAR = tuple(refused_cases()), tuple(near_cases())


# --- Running them -------------------------------------------------------------------------------------


class Touched(NamedTuple):
    """What a play left behind: its results, its requests, and the platform before and after."""

    run: Run
    before: dict[str, Any]
    after: dict[str, Any]
    journal: list[dict[str, Any]]

    def projects(self, name: object) -> set[str]:
        """Return the ids of the projects that the play has made under a name."""
        before, after = (state["records"]["project"] for state in (self.before, self.after))
        old = {record["id"] for record in before}
        return {record["id"] for record in after if record["name"] == name and record["id"] not in old}

    def writes(self, outcome: Outcome) -> list[dict[str, Any]]:
        """Return the requests of a task that may have changed something."""
        return [
            line
            for line in self.journal
            if writes(line) and outcome.begun <= line["real_at"] <= outcome.ended
        ]


def writes(line: Mapping[str, Any]) -> bool:
    """Tell whether a request may have changed something."""
    return line["method"] != "GET" and line["route"] not in ("order.quote", "apps.quote")


def state_of(sandbox: Sandbox) -> dict[str, Any]:
    """Return all that the platform holds: its records, its bill, the files that the seed put there."""
    records: dict[str, Any] = sandbox.control("GET", "/state")["records"]
    del records["meta"]
    files = {
        (service["id"], folder, entry["name"]): entry
        for service in records["service"]
        if service["family"] != "APP"
        for folder in ("/", "world")
        for entry in listed(sandbox, service["id"], folder)
    }
    return {"records": records, "files": files, "ledger": sandbox.ledger()}


def listed(sandbox: Sandbox, service: str, folder: str) -> list[dict[str, Any]]:
    """Return the entries of a folder; there are none where the service has no such folder."""
    answer = sandbox.api("GET", f"/api/resources/{service}/files?directory={folder}")
    return list(answer.json()) if answer.ok else []


def facts_of(sandbox: Sandbox, folder: Path) -> dict[str, str]:
    """Return the ids and paths that the forms name: those of project games."""
    projects = {p["name"]: p["id"] for p in sandbox.api("GET", "/api/projects").json()}
    full = sandbox.api("GET", f"/api/projects/{projects['games']}").json()["resources"]
    (key,) = sandbox.api("GET", "/api/users/me/ssh-keys").json()
    records = sandbox.control("GET", "/state")["records"]
    digests = [release["digest"] for release in records["release"] if release["tag"] == "v2"]
    return {
        **{f"id_{service['name']}": service["id"] for service in full},
        **{f"id_{name}": id for name, id in projects.items()},
        "fingerprint": key["fingerprint"],
        "digest": digests[0],
        "folder": str(folder),
        "image": str(folder / "image.tar"),
    }


def play(
    sandbox: Sandbox, folder: Path, cases: Mapping[str, tuple[str, Mapping[str, Any]]], check: bool
) -> Touched:
    """Run tasks that may fail, by their titles, on an account of its own."""
    begin_anew(sandbox, "plain")
    sandbox.seed(SEED)
    facts = facts_of(sandbox, folder)
    sandbox.api("POST", f"/api/resources/{facts['id_box']}/snapshots", {"name": "clean"}).raise_for_status()
    (folder / "site").mkdir(exist_ok=True)
    sandbox.clear_journal()
    tasks = [
        {
            "name": title,
            f"hosted.services.{module}": dict(arguments),
            "ignore_errors": True,
            "check_mode": check,
        }
        for title, (module, arguments) in cases.items()
    ]
    before = state_of(sandbox)
    book = [{"hosts": "localhost", "gather_facts": False, "tasks": tasks}]
    run = Ansible(folder, sandbox).playbook(json.dumps(book), variables=facts)
    journal = sandbox.journal()
    return Touched(run, before, state_of(sandbox), journal)


def cases_as_tasks(cases: tuple[Case, ...]) -> dict[str, tuple[str, Mapping[str, Any]]]:
    return {case.title: (FORMS[case.form].module, case.arguments) for case in cases}


# --- What is promised ---------------------------------------------------------------------------------

SHARES = pytest.mark.parametrize("step", [30, pytest.param(1, marks=pytest.mark.night)])


def test_every_resource_that_writes_is_here_in_every_state() -> None:
    """One that writes needs a well-formed task for each state under `selectors` in its `cases.yml`."""
    there = {form.module for form in FORMS.values()}
    missing = [f"tests/integration/targets/{name}/cases.yml" for name in set(RESOURCES) - READ_ONLY - there]
    assert missing == []
    assert there & READ_ONLY == set()
    for module in set(RESOURCES) - READ_ONLY:
        states = RESOURCES[module].options.get("state", {}).get("choices", [None])
        assert {form.state for form in FORMS.values() if form.module == module} == set(states), module


def test_the_well_formed_tasks_have_something_to_do(
    server: Sandbox, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Otherwise the malformed ones would prove nothing."""
    left_out = {"push an image", "mirror a folder"}  # they want an archive, and a way in
    left_out |= {"go back", "delete the former service", "delete a drill"}  # of what another task has made
    forms = {name: (form.module, form.arguments) for name, form in FORMS.items() if name not in left_out}
    touched = play(server, tmp_path, forms, check=True)
    idle = {o.name: o.message for o in touched.run.outcomes if o.outcome != "ok" or not o.result["changed"]}
    assert not idle, f"these tasks change nothing; add what they work on to SEED in this file: {idle}"
    assert touched.before == touched.after


@SHARES
def test_what_holds_nothing_or_contradicts_is_refused(step: int, server: Sandbox, tmp_path: Path) -> None:
    """Each such task fails and names the option; records, bill and files stay as they were."""
    touched = play(server, tmp_path, cases_as_tasks(REFUSED[::step]), check=False)
    wrong = [
        (case.title, outcome.outcome, outcome.message, [line["path"] for line in touched.writes(outcome)])
        for case in REFUSED[::step]
        for outcome in [touched.run[case.title]]
        if outcome.outcome != "failed" or case.option not in outcome.message or touched.writes(outcome)
    ]
    assert wrong == []
    assert [line["path"] for line in touched.journal if writes(line)] == []
    assert touched.before == touched.after


@SHARES
def test_a_slip_touches_nothing_that_is_there(step: int, server: Sandbox, tmp_path: Path) -> None:
    """A slip in the name of something new may create it under that name; what exists stays as it is."""
    touched = play(server, tmp_path, cases_as_tasks(NEAR[::step]), check=False)
    surprises = [
        (case.title, line["method"], line["path"], line["body"])
        for case in NEAR[::step]
        for line in touched.writes(touched.run[case.title])
        if not {case.arguments[case.option], *touched.projects(case.arguments[case.option])}.intersection(
            each for each in (line["body"] or {}).values() if isinstance(each, str)
        )  # under the name of the slip, or into the project that was made under it
    ]
    assert surprises == []
    for kind in touched.before["records"].keys() - set(PASSING):
        before, after = (state["records"][kind] for state in (touched.before, touched.after))
        assert [record for record in before if record not in after] == [], kind
    assert touched.before["files"].items() <= touched.after["files"].items()
