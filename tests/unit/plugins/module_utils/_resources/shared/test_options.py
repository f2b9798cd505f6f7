# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a resource declares once, and all that Ansible and the collection make of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    WaitOptions,
    argument_spec_of,
    option,
    required,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Task,
)
from unit.plugins.resources import RESOURCES


@dataclass(frozen=True)
class Size:
    """Suboptions, of which one is required."""

    ram_gb: int
    cpu_cores: int | None = None


@dataclass(frozen=True, kw_only=True)
class ThingOptions(WaitOptions):
    """Options of every kind."""

    slug: str = required(selects=True)
    names: list[str] | None = option(None, aliases=["name"], names_target=True, host_variables=["a", "b"])
    state: Literal["present", "absent"] = "present"
    parts: list[Literal["one", "two"]] = option([])
    family: str | None = option(None, choices=["GAME", "APP"])
    size: Size | None = None
    sizes: list[Size] | None = None
    count: int = 3
    share: float | None = None
    force: bool = False
    query: dict[str, Any] = option({})
    content: Any = option(None, secret=True)
    pin: str | None = option(None, no_log=True)
    source: FilePath | None = option(None, reads_file=True)
    kept: FilePath = option(FilePath("~/kept"), filled=True)


class ThingResource(Resource[ThingOptions]):
    """A module with these options."""

    result_key = "thing"

    def plan(self, task: Task[ThingOptions]) -> Plan:
        return Plan(result=task.options.slug)


THING = ThingResource()
SIZE = {"ram_gb": {"type": "int", "required": True}, "cpu_cores": {"type": "int"}}


def test_hints_and_defaults_say_what_ansible_is_told() -> None:
    assert THING.options == {
        "slug": {"type": "str", "required": True},
        "names": {"type": "list", "elements": "str", "aliases": ["name"]},
        "state": {"type": "str", "choices": ["present", "absent"], "default": "present"},
        "parts": {"type": "list", "elements": "str", "choices": ["one", "two"], "default": []},
        "family": {"type": "str", "choices": ["GAME", "APP"]},
        "size": {"type": "dict", "options": SIZE},
        "sizes": {"type": "list", "elements": "dict", "options": SIZE},
        "count": {"type": "int", "default": 3},
        "share": {"type": "float"},
        "force": {"type": "bool", "default": False},
        "query": {"type": "dict", "default": {}},
        "content": {"type": "raw"},
        "pin": {"type": "str", "no_log": True},
        "source": {"type": "path"},
        "kept": {"type": "path", "default": "~/kept"},
    }


def test_a_default_that_can_be_changed_is_not_shared() -> None:
    first, second = (THING.read_options({"slug": name}) for name in ("a", "b"))
    first.query["filter"] = "x"
    assert second.query == {}
    assert argument_spec_of(ThingOptions)["query"]["default"] == {}


def test_no_secret_is_in_the_text_of_the_options() -> None:
    options = THING.read_options({"slug": "a", "token": "hunter2", "content": "hunter3", "pin": "hunter4"})
    assert "hunter" not in repr(options)
    assert "slug='a'" in repr(options)


# Whoever changes these changes what may be shown, or which files of the controller a role brings along.
@pytest.mark.parametrize("name", RESOURCES)
def test_every_noun_reads_its_options_back(name: str) -> None:
    """Each option of the argument spec is an attribute with the value that Ansible passes on.

    Ansible passes on a number that may be a word as text.
    """
    spec = argument_spec(RESOURCES[name])
    defaults = {option: entry.get("default") for option, entry in spec.items()}
    options = RESOURCES[name].read_options(defaults)
    numbers = {"max_parallel": int(defaults["max_parallel"])} if "max_parallel" in spec else {}
    assert {option: getattr(options, option) for option in spec} == {**defaults, **numbers}
