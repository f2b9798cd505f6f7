# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documents: where each value was written, and what YAML would forgive in silence."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import (
    Answer,
    Document,
    Rendered,
    Unread,
    parse_document,
    read_document,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.yaml_text import is_template


def test_each_value_has_its_place() -> None:
    document = parse_document(
        "project: shop\nservices:\n  db: {host: a}\nlist:\n  - one\n  - two\n", "shop.yml"
    )
    assert document.data == {"project": "shop", "services": {"db": {"host": "a"}}, "list": ["one", "two"]}
    assert document.where(("services", "db", "host")) == "shop.yml:3:8: services.db.host"
    assert document.where(("list", 1)) == "shop.yml:6:5: list.1"


def test_what_was_not_written_is_where_it_would_be() -> None:
    document = parse_document("services:\n  db: {}\n", "shop.yml")
    assert document.where(("services", "db", "host")) == "shop.yml:2:3: services.db.host"


def test_many_anchors_do_not_take_forever() -> None:
    """Each line names the one before it nine times, so there are nine to the power of thirty values."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    assert parse_document("\n".join(lines), "shop.yml").problems == []


def test_an_error_of_the_parser_does_not_show_the_text(tmp_path: Path) -> None:
    path = tmp_path / "shop.yml"
    path.write_text("secret_environment: {KEY: 'hunter2hunter2}\n")
    with pytest.raises(Invalid, match=r"is not valid YAML: .* in line") as failure:
        read_document(str(path))
    assert "hunter2" not in str(failure.value)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "shop.yml"
    path.write_text("[" * 50_000)
    with pytest.raises(Invalid, match=r"nested too deeply|not valid YAML"):
        read_document(str(path))


# --- What only the controller can read --------------------------------------------------------------


def test_answers_survive_the_way_to_a_module() -> None:
    rendered = Rendered("a: '{{ x }}'\n")
    value, omitted = Unread("{{ x }}", ("a",), (1, 4)), Unread("{{ y }}", ("b",), (2, 4))
    assert rendered.add(value, Answer({"n": 1})) == Answer({"n": 1})
    rendered.add(omitted, Answer(omitted=True))
    there = Rendered(**json.loads(json.dumps(asdict(rendered))))
    assert there == rendered
    assert there.resolve(value) == Answer({"n": 1})
    assert there.resolve(omitted).omitted


@pytest.mark.parametrize(("encrypted", "said"), [(True, "!vault is decrypted"), (False, "a template is")])
def test_what_nobody_read_is_a_problem(encrypted: bool, said: str) -> None:
    assert said in Rendered("").resolve(Unread("x", (), (1, 1), encrypted)).problem


@pytest.mark.parametrize(
    ("text", "found"),
    [("{{ x }}", True), ("a{%b", True), ("{# x #}", True), ("${db.URL}", False), ("{ {", False)],
)
def test_what_may_be_a_template(text: str, found: bool) -> None:
    assert is_template(text) == found


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


def test_the_result_of_a_template_is_no_template() -> None:
    document, asked = answered("a: '{{ x }}'\n", x=Answer({"b": ["{{ y }}"]}))
    assert document.data == {"a": {"b": ["{{ y }}"]}}
    assert len(asked) == 1


def test_what_is_marked_as_unsafe_stays() -> None:
    document, asked = answered(
        "a: !unsafe '{{ x }}'\nb: !unsafe {c: ['{{ x }}', 1]}\nd: !unsafe 5\ne: !unsafe ['{% x']\n"
    )
    assert document.data == {"a": "{{ x }}", "b": {"c": ["{{ x }}", 1]}, "d": "5", "e": ["{% x"]}
    assert (asked, document.problems) == ([], [])


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
    assert document.unread == [("b", "c")]


def test_the_whole_may_be_a_template() -> None:
    assert answered("'{{ x }}'", x=Answer({"project": "a"}))[0].data == {"project": "a"}
    document, _asked = answered("'{{ x }}'", x=Answer(problem="no"))
    assert (document.data, len(document.problems)) == (None, 1)


def test_decrypted_values_are_noted_wherever_they_are_used() -> None:
    document, asked = answered("a: &x !vault-encrypted x\nb: {c: *x}\n", x=Answer("hunter2"))
    assert document.data == {"a": "hunter2", "b": {"c": "hunter2"}}
    assert document.decrypted == [(("a",), "hunter2"), (("b", "c"), "hunter2")]
    assert asked[0].encrypted


def test_merged_mappings_are_resolved() -> None:
    document, _asked = answered("a: &x {b: '{{ x }}'}\nc: {<<: *x, d: 1}\n", x=Answer(2))
    assert document.data == {"a": {"b": 2}, "c": {"b": 2, "d": 1}}


def test_a_file_as_the_controller_has_read_it(tmp_path: Path) -> None:
    """The file itself may be encrypted."""
    path = tmp_path / "shop.yml"
    path.write_text("$ANSIBLE_VAULT;1.1;AES256\n00\n")
    rendered = Rendered("a: '{{ x }}'\n", True, {"1:4": {"value": 5}})
    document = read_document(str(path), rendered)
    assert document.data == {"a": 5}
    assert document.encrypted
    assert document.folder == str(tmp_path)
