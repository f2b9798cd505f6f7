# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every option of every module with what no option wants: a clear failure or the right thing, and no more.

The values go the way of a task: validated as Ansible validates arguments, then executed. The platform is a
well-behaved one that forgets everything, and the disk is watched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import (
    CONNECTION_SPEC,
    CONVERSION_ERRORS,
    WAITING_SPEC,
    argument_spec,
    checked_arguments,
)
from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._sftp import session
from ansible_collections.hosted.services.plugins.module_utils._sftp.errors import ConnectionBroken
from cases import by_module
from unit.plugins.fakes import Clock
from unit.plugins.hostile import HostileClient
from unit.plugins.resources import RESOURCES, SETTINGS
from unit.plugins.results import Result

SAMPLES = by_module("sample_args")
TEXTS: dict[str, Any] = {
    "empty": "",
    "space": " ",
    "very long": "x" * 300_000,
    "line break": "first\nsecond\r\nthird",
    "nul": "before\0after",
    "path traversal": "../../../../etc/passwd",
    "encoded path traversal": "%2e%2e%2f%2e%2e%2fetc",
    "absolute path": "/nowhere/at/all",
    "home": "~root/x",
    "look-alike": "g\u0430mes",
    "wide digits": "\uff11\uff12",
    "right to left": "a\u202eb",
    "half a character": "\ud800",
    "byte that is no character": "\udcff",
    "template": "{{ 7 * 191 }}{% for %}",
    "option of a program": "-rf",
    "terminal": "\x1b[31m",
    "quotes": "'\";--`$(x)",
    "number": "1e999",
    "not a number": "nan",
    "endless": "inf",
}
OTHERS: dict[str, Any] = {
    "nothing": None,
    "true": True,
    "negative": -1,
    "zero": 0,
    "huge": 10**400,
    "fraction": 0.5,
    "not a number at all": float("nan"),
    "endless number": float("inf"),
    "empty list": [],
    "list of nothing": [None],
    "deep list": [[["x"]]],
    "list of objects": [{"a": 1}],
    "empty object": {},
    "object": {"a": {"b": ["c"]}, "": None},
    "object of odd keys": {1: 2, "\0": "\n", "a b": "{{ x }}"},
    "list of texts": ["", "..", "\0", "x"],
}
VALUES = {**TEXTS, **OTHERS}
OPTIONS = [(name, option) for name, resource in RESOURCES.items() for option in resource.options]
OPTIONS += [("service", option) for option in {**CONNECTION_SPEC, **WAITING_SPEC}]
SHARES = [
    pytest.param(name, option, id=f"{name}-{option}", marks=[pytest.mark.night] if number % 5 else [])
    for number, (name, option) in enumerate(OPTIONS)
]
"""A fifth of them is tried in the gate."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder to be in, with a home beside it; nothing else on the disk may be written to."""
    work, home = tmp_path / "work", tmp_path / "home"
    for path in (work, home):
        path.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("ANSIBLE_HOME", str(home / ".ansible"))
    for name in [name for name in os.environ if name.startswith("HOSTED_SERVICES_")]:
        monkeypatch.delenv(name)
    Clock(monkeypatch)

    def refuse(*arguments: Any, **options: Any) -> Any:
        raise ConnectionBroken("no server is reached from here")

    monkeypatch.setattr(session.SftpSession, "__init__", refuse)
    yield tmp_path
    assert [path for path in work.rglob("*") if path.is_file() and not path.name.endswith("kept")] == []


def run(name: str, arguments: dict[str, Any], check_mode: bool) -> dict[str, Any]:
    """Run a task as Ansible would."""
    resource = RESOURCES[name]
    try:
        checked = checked_arguments(resource, {**SETTINGS, **arguments})
        validation = ModuleArgumentSpecValidator(argument_spec(resource), **resource.rules).validate(checked)
    except HostedError as error:
        return {"failed": True, "msg": error.message}
    except CONVERSION_ERRORS:
        return {"failed": True, "msg": "an option has a value that it cannot have"}
    if validation.error_messages:
        return {"failed": True, "msg": validation.errors.msg}
    sender = HostileClient(1, 0.0)
    context = RunContext(check_mode, diff=True, connect=lambda settings, log: sender)
    return Result(execute(resource, validation.validated_parameters, context))


@pytest.mark.parametrize(("name", "option"), SHARES)
def test_any_value_ends_in_a_result_or_in_a_clear_failure(name: str, option: str, folder: Path) -> None:
    base, work = SAMPLES[name][0], folder / "work"
    given = {key: item for key, item in base.items() if not rivals(name, key, option)}
    for number, (label, value) in enumerate(VALUES.items()):
        result = run(name, {**given, option: value}, check_mode=bool(number % 2))
        assert "defect" not in result.get("msg", ""), (label, result)
        if result.get("failed"):
            assert result["msg"].strip(), label
            assert len(result["msg"]) < 400_000
    if option == "state_dir":  # what is kept is in the folders that the tasks name
        for named in {str(value) for value in VALUES.values()} & {path.name for path in work.iterdir()}:
            shutil.rmtree(work / named)
    outside = [path for path in folder.rglob("*") if path.is_file() and "home" not in path.parts]
    assert outside == []


def rivals(name: str, key: str, option: str) -> bool:
    """Tell whether two options cannot be given together."""
    groups = RESOURCES[name].rules.get("mutually_exclusive", ())
    return key != option and any({key, option} <= set(group) for group in groups)
