# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file of the event source: its documentation, and the linters that Galaxy runs on it."""

from __future__ import annotations

import ast
import dataclasses
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.account_events.arguments import (
    SourceOptions,
    defaults,
    read_arguments,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    hints_of,
    without_none,
)
from integration.ansible_run import REPOSITORY
from integration.rulebook_run import environment

EDA = REPOSITORY / "extensions" / "eda"
PLUGIN = EDA / "plugins" / "event_source" / "account.py"
TREE = ast.parse(PLUGIN.read_text())
#: The rules that Galaxy's importer leaves out (its `eda/tox.ini`), as it is now and as it was at first.
IGNORED = ("D100,D104,INP001,FA102,UP001,UP010,I001,FA100,PLR0913,E501", "INP001")
PYLINT = ("R0801,E0401,C0103,R0913,R0902,R0903", "R0801")


def text(name: str) -> str:
    """Return a text of the plugin, such as DOCUMENTATION."""
    for node in TREE.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return str(ast.literal_eval(node.value))
    raise LookupError(name)


DOCUMENTED: dict[str, Any] = yaml.safe_load(text("DOCUMENTATION"))["options"]


def test_each_argument_is_documented() -> None:
    assert sorted(DOCUMENTED) == sorted(each.name for each in dataclasses.fields(SourceOptions))
    told = {name: option.get("default") for name, option in DOCUMENTED.items()}
    assert told == defaults()


@pytest.mark.parametrize("name", DOCUMENTED)
def test_each_argument_has_the_type_that_is_documented(name: str) -> None:
    hint = without_none(hints_of(SourceOptions)[name])
    kind = "path" if hint is FilePath else getattr(hint, "__name__", "").lower()
    assert DOCUMENTED[name]["type"] == {"decimal": "str"}.get(kind, kind)


def test_the_examples_can_be_used() -> None:
    for rules in yaml.safe_load(text("EXAMPLES")):
        for source in rules["sources"]:
            read_arguments(source["hosted.services.account"])


def test_the_file_is_thin() -> None:
    """What it does is in the private code of the collection, where tests and types reach it."""
    functions = [node.name for node in TREE.body if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    assert functions == ["find_collection", "main"]


@pytest.mark.parametrize("ignored", IGNORED)
def test_ruff_with_all_its_rules_has_nothing_to_say(ignored: str) -> None:
    check = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--isolated",
        "--select",
        "ALL",
        "--ignore",
        ignored,
        "-q",
    ]
    done = subprocess.run([*check, str(EDA / "plugins")], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    assert done.returncode == 0


@pytest.fixture(scope="module")
def programs() -> Path:
    """The folder of the other linters."""
    return environment() / "bin"


@pytest.mark.parametrize("disabled", PYLINT)
def test_pylint_has_nothing_to_say(programs: Path, disabled: str) -> None:
    command = [str(programs / "pylint"), str(PLUGIN), "--rcfile", "/dev/null", "-sn", "--disable", disabled]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""


def test_darglint_has_nothing_to_say(programs: Path) -> None:
    options = ["-v", "2", "-s", "numpy", "-z", "full"]
    command = [str(programs / "darglint"), *options, str(EDA / "plugins")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == ""
