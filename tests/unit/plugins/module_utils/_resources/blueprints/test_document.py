# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Blueprints as text: what YAML forgives, what they must say and never show, and how one is exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._api.models import Edge
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import (
    Contents,
    read_contents,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import (
    Answer,
    Document,
    Unread,
    hides_command,
    parse_document,
    redacted_values_of,
    secret_values_of,
    with_hidden_environment,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import (
    Export,
    Exported,
    export_text,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.parts import Part, Parts
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.removal import (
    by_references,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.schema import (
    BackupSection,
    BusySection,
    ExceptionSection,
    KeepSection,
    OffsiteSection,
    Section,
    SleepSection,
    WindowSection,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import ServiceResource
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import (
    ServiceOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.scripts.schemas import of_blueprints
from ansible_collections.hosted.services.scripts.sources import ROOT
from unit.plugins.module_utils._resources.shared.test_runner import new_task


def test_many_anchors_do_not_take_forever() -> None:
    """Each line names the one before it nine times, so there are nine to the power of thirty values."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert parse_document("\n".join(lines), "shop.yml").problems == []


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shop.yml"
    path.write_text("[" * 50_000)
    with pytest.raises(Invalid, match=r"nested too deeply|not valid YAML"):
        BLUEPRINT_INFO.read_options({"base_url": "https://a.example", "src": str(path)}).read()


# --- What only the controller can read --------------------------------------------------------------


def answered(text: str, **answers: Answer) -> tuple[Document, list[Unread]]:
    """Parse a text with an answer for each text that only the controller can read, and note the questions."""
    asked: list[Unread] = []

    def resolve(unread: Unread) -> Answer:
        asked.append(unread)
        return answers.get(unread.text.strip("{} "), Answer(f"<{unread.text}>"))

    return parse_document(text, "shop.yml", resolve), asked


def test_values_are_resolved_once_and_keys_never() -> None:
    document, asked = answered("a: &x '{{ x }}'\n'{{ k }}': [*x, 1, '{# y #}']\n? *x\n: plain\n")
    assert document.data == {
        "a": "<{{ x }}>",
        "{{ k }}": ["<{{ x }}>", 1, "<{# y #}>"],
        "{{ x }}": "plain",
    }
    assert asked[0] == Unread("{{ x }}", ("a",), (1, 4))
    assert document.places["{{ k }}", 2] == (2, 20)
    assert not document.decrypted


def test_what_is_left_out_takes_its_key_along() -> None:
    document, _asked = answered("a: '{{ x }}'\nb: [1, '{{ x }}']\n", x=Answer(omitted=True))
    assert document.data == {"b": [1]}
    assert document.problems == []


def test_what_cannot_be_read_is_a_problem_of_its_place() -> None:
    document, _asked = answered("a: 1\nb:\n  c: '{{ x }}'\n", x=Answer(problem="no"))
    assert [(document.where(path), message) for path, message in document.problems] == [
        ("shop.yml:3:3: b.c", "no")
    ]
    assert document.data == {"a": 1, "b": {}}


def test_decrypted_values_are_noted_wherever_they_are_used() -> None:
    document, asked = answered("a: &x !vault-encrypted x\nb: {c: *x}\n", x=Answer("hunter2"))
    assert document.data == {"a": "hunter2", "b": {"c": "hunter2"}}
    assert document.decrypted == [(("a",), "hunter2"), (("b", "c"), "hunter2")]
    assert asked[0].encrypted


def test_merged_mappings_are_resolved() -> None:
    document, _asked = answered("a: &x {b: '{{ x }}'}\nc: {<<: *x, d: 1}\n", x=Answer(2))
    assert document.data == {"a": {"b": 2}, "c": {"b": 2, "d": 1}}


PUBLISHED = ROOT / "docs"
NOT_IN_A_FILE = {
    "backups": {"project", "family", "before", "after", "on_failure"},
    "sleep_schedule": {"project", "family"},
}
"""What a role takes and a blueprint does not say: the project is its own, and hooks may hold secrets."""


def test_the_published_schema_is_current() -> None:
    assert json.loads((PUBLISHED / "blueprint.schema.json").read_text()) == of_blueprints(), (
        "run: make documents"
    )


def test_every_key_is_described() -> None:
    schema = of_blueprints()
    for name, section in {"Blueprint": schema, **schema["$defs"]}.items():
        for key, value in section["properties"].items():
            assert value.get("description"), f"{name}.{key}"


def test_the_keys_of_a_service_are_options_of_its_module() -> None:
    keys = of_blueprints()["$defs"]["ServiceSection"]["properties"].keys()
    assert keys <= ServiceResource.options.keys()
    assert ServiceOptions.__dataclass_fields__.keys() > keys


# --- Plans ------------------------------------------------------------------------------------------


def options_of(role: str) -> dict[str, Any]:
    spec = yaml.safe_load((ROOT / "roles" / role / "meta" / "argument_specs.yml").read_text())
    found: dict[str, Any] = spec["argument_specs"]["main"]["options"][f"{role}_plans"]["options"]
    return found


@pytest.mark.parametrize(("role", "section"), [("backups", BackupSection), ("sleep_schedule", SleepSection)])
def test_a_plan_has_what_its_role_takes(role: str, section: type[Section]) -> None:
    assert set(section.model_json_schema()["properties"]) == set(options_of(role)) - NOT_IN_A_FILE[role]


@pytest.mark.parametrize(
    ("role", "option", "section"),
    [
        ("backups", "keep", KeepSection),
        ("backups", "offsite", OffsiteSection),
        ("sleep_schedule", "awake", WindowSection),
        ("sleep_schedule", "exceptions", ExceptionSection),
        ("sleep_schedule", "not_while_busy", BusySection),
    ],
)
def test_so_have_its_parts(role: str, option: str, section: type[Section]) -> None:
    assert set(section.model_json_schema()["properties"]) == set(options_of(role)[option]["options"])


def test_what_one_part_makes_was_not_there_before_another_part_of_it() -> None:
    """Such as a service that is ordered, and started once it was restored."""
    task, thing = new_task(), ServiceResource()
    first, second = (Part(task, "services", "a", "a", thing, lambda part: {}) for _ in range(2))
    first.plan = Plan(result={}, after={"status": "ACTIVE", "state": "stopped"})
    second.plan = Plan(result={}, before={"state": "stopped"}, after={"state": "running"})
    plan = Plan(result=[])
    Parts(task, [first, second], max_parallel=4).update(plan)
    assert plan.before == {}
    assert plan.after == {"services": {"a": {"status": "ACTIVE", "state": "running"}}}


def contents(text: str) -> Contents:
    """Return what a text says, whose encrypted values are those of somebody who wants to be hushed."""
    return read_contents(parse_document(text, "shop.yml", lambda unread: Answer("hush")))


def problems(text: str) -> list[str]:
    with pytest.raises(Invalid) as failure:
        contents(text)
    found: list[str] = failure.value.details["problems"]
    return found


def test_a_plan_holds_nothing_encrypted_as_it_is_shown() -> None:
    [found] = problems("{project: a, services: {db: {}}, backups: {n: {keep: {last: 1}, name: !vault x}}}")
    assert "backups.n.name: " in found and "a plan is shown" in found


@pytest.mark.parametrize("section", ["environment", "secret_environment"])
def test_values_of_environments_are_never_said(section: str) -> None:
    """A value of the wrong type may be a secret as well."""
    found = problems(f"{{project: a, applications: {{abc: {{{section}: {{A: [hunter2]}}}}}}}}")
    assert "hunter2" not in str(found)
    found = problems("{project: a, services: {db: {variables: hunter2}}}")
    assert "hunter2" not in str(found)
    found = problems("{project: a, applications: {abc: {secret_environment: {A: 'x${abc.HUNTER}y'}}}}")
    assert "a reference in its value refers to the application itself" in str(found)
    assert "HUNTER" not in str(found)


GOING = [f"svc_{number}" for number in range(6)]
EDGES = st.lists(st.tuples(st.sampled_from(GOING), st.sampled_from([*GOING, "svc_9"])), max_size=15)


@given(EDGES)
def test_what_refers_to_another_goes_first(pairs: list[tuple[str, str]]) -> None:
    """One that refers to itself, or to what stays, is no reason; of two that refer to each other, one is."""
    order = by_references(GOING, [Edge(from_=user, to=used) for user, used in pairs])
    assert sorted(order) == GOING
    place = {id: number for number, id in enumerate(order)}
    for id, users in order.items():
        assert all(place[user] < place[id] for user in users)
    inside = {(user, used) for user, used in pairs if user != used and used in place}
    for user, used in inside:
        if user not in order[used]:  # only where references lead back to where they begin
            assert reaches(inside, used, user)


def reaches(edges: set[tuple[str, str]], start: str, end: str) -> bool:
    seen, left = set[str](), [start]
    while left:
        here = left.pop()
        if here not in seen:
            seen.add(here)
            left += [used for user, used in edges if user == here]
    return end in seen


DATA: dict[str, Any] = {
    "services": {"db": {"command": "run it", "variables": {"A": "four"}}},
    "applications": {
        "web": {"environment": {"B": "five"}, "secret_environment": {"C": "six", "D": "pre${Secret.Part}"}}
    },
    "ssh_keys": {"ops": "seven"},
}


def test_secrets_are_below_their_keys() -> None:
    found = list(secret_values_of(Document(DATA, "")))
    assert found == [{"A": "four"}, {"C": "six", "D": "pre${Secret.Part}"}, "Secret", ["seven"], []]


def test_of_an_encrypted_file_more_is_secret() -> None:
    found = list(secret_values_of(Document(DATA, "", encrypted=True)))
    assert "run it" in found
    assert {"B": "five"} in found


def test_decrypted_values_are_secret_and_those_without_such_a_key_redacted() -> None:
    paths = [("services", "db", "command"), ("applications", "web", "environment", "B")]
    document = Document(DATA, "", decrypted=[(paths[0], "run\nit"), (paths[1], "five")])
    assert ["run\nit", "five"] in list(secret_values_of(document))
    assert list(redacted_values_of(document)) == ["run\nit", "run", "it"]
    assert list(redacted_values_of(Document(DATA, ""))) == []
    assert list(redacted_values_of(Document(DATA, "", encrypted=True))) == ["run it", "run it"]


def test_decrypted_variables_become_secret_ones() -> None:
    values = {"environment": {"A": "x", "B": "y", "C": "z"}, "secret_environment": {"C": "w"}}
    document = Document({}, "shop.yml", decrypted=[((), "y"), ((), "z")])
    written = "applications", "web", "environment", "B"
    document.places[written] = (4, 7)
    found = with_hidden_environment(document, ("applications", "web"), values)
    # C is in both, which is wrong and has to be seen.
    assert found == {"environment": {"A": "x", "C": "z"}, "secret_environment": {"B": "y", "C": "w"}}
    assert document.where(("applications", "web", "secret_environment", "B")).startswith("shop.yml:4:7:")


def test_an_encrypted_command_hides_that_of_the_platform() -> None:
    document = Document(DATA, "", decrypted=[(("services", "db", "command"), "run")])
    assert hides_command(document, "services", "db")
    assert not hides_command(document, "services", "web")
    assert hides_command(Document(DATA, "", encrypted=True), "services", "web")
    inherited = Document(DATA, "", decrypted=[(("defaults", "services", "command"), "run")])
    assert hides_command(inherited, "services", "web") and not hides_command(inherited, "applications", "web")


TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@given(TEXTS, TEXTS, TEXTS)
def test_any_name_reads_back_and_no_remark_ends_its_comment(project: str, name: str, remark: str) -> None:
    entry = Exported(
        "services",
        "db",
        {"name": name, "dimensions": {"ram_gb": 2}, "public": False},
        id="1",
        remarks=[remark],
    )
    export = Export(project, [entry], remarks=[remark])
    document = parse_document(export_text(export), "shop.yml")
    assert not document.problems
    assert document.data == export.data


def test_odd_line_breaks_and_what_turns_around_the_text_are_escaped() -> None:
    """Read back otherwise, a name would be that of a service that is not there, and so is ordered."""
    for name in ("a\x85 b", "\u2028%", "gnp\u202e.txt", "{{ x }}\x85y", "run\nit\x1b[2J", "tea\u200d\ufeff"):
        values = {"name": name, "command": name}
        export = Export(name, [Exported("services", "key", values, id="1", remarks=[name])])
        text = export_text(export)
        assert parse_document(text, "shop.yml").data == export.data
        assert not [char for char in text if not char.isprintable() and char != "\n"]
