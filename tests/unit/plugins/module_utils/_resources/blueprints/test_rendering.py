# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the controller has read, on its way to the reader of a file."""

from __future__ import annotations

import json

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.rendering import (
    Answer,
    Rendered,
    Unread,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.yaml_text import is_template


def test_answers_survive_the_way_to_a_module() -> None:
    rendered = Rendered("a: '{{ x }}'\n")
    value, omitted = Unread("{{ x }}", ("a",), (1, 4)), Unread("{{ y }}", ("b",), (2, 4))
    assert rendered.add(value, Answer({"n": 1})) == Answer({"n": 1})
    rendered.add(omitted, Answer(omitted=True))
    there = Rendered.from_option(json.loads(json.dumps(rendered.as_option())))
    assert there == rendered
    assert there.resolve(value) == Answer({"n": 1})
    assert there.resolve(omitted).omitted


@pytest.mark.parametrize(("encrypted", "said"), [(True, "!vault is decrypted"), (False, "a template is")])
def test_what_nobody_read_is_a_problem(encrypted: bool, said: str) -> None:
    assert said in Rendered("").resolve(Unread("x", (), (1, 1), encrypted)).problem


def test_no_option_is_nothing_read() -> None:
    assert Rendered.from_option(None) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [("{{ x }}", True), ("a{%b", True), ("{# x #}", True), ("${db.URL}", False), ("{ {", False)],
)
def test_what_may_be_a_template(text: str, found: bool) -> None:
    assert is_template(text) == found
