# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `make module` writes is sound: it imports, agrees with itself, and only lacks what is marked TODO."""

from __future__ import annotations

import ast
import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from ansible_collections.hosted.services.scripts import new_module
from ansible_collections.hosted.services.scripts.sources import ROOT
from cases import KEYS

pytestmark = pytest.mark.night

KINDS = {"webhook": "plain", "api_token_info": "plain", "firewall_rule": "on_service"}
RESOURCES = "plugins/module_utils/_resources"


@pytest.fixture(params=KINDS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def root(tmp_path: Path, name: str) -> Path:
    """A folder with the files that list modules, and the files of the new one."""
    (tmp_path / "meta").mkdir()
    for path in ("meta/runtime.yml", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / path, tmp_path / path)
    new_module.write(name, KINDS[name], tmp_path)
    return tmp_path


@pytest.fixture
def resource(root: Path, name: str) -> Iterator[Resource]:
    """The resource, imported as if it were in its place."""
    full = f"{new_module.PACKAGE}.module_utils._resources.{name}"
    spec = importlib.util.spec_from_file_location(full, root / RESOURCES / f"{name}.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    yield vars(module)[name.upper()]
    del sys.modules[full]


def documentation(root: Path, name: str, variable: str) -> Any:
    for node in ast.parse((root / "plugins" / "modules" / f"{name}.py").read_text()).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == variable:
            return yaml.safe_load(ast.literal_eval(node.value))
    raise AssertionError(variable)


def test_the_resource_agrees_with_its_documentation(root: Path, name: str, resource: Resource) -> None:
    documented = documentation(root, name, "DOCUMENTATION")["options"]["name"]
    assert resource.name == name
    on_service = {"service", "project", "family"} if KINDS[name] == "on_service" else set()
    assert resource.selectors == {"name"} | on_service
    assert resource.options["name"].get("required", False) == documented.get("required", False)
    assert resource.result_key in documentation(root, name, "RETURN")
    (task,) = documentation(root, name, "EXAMPLES")
    assert task[f"hosted.services.{name}"].keys() == {"name", *(on_service & {"service"})}


def test_it_is_entered_everywhere(root: Path, name: str) -> None:
    group = yaml.safe_load((root / "meta" / "runtime.yml").read_text())["action_groups"]["all"]
    assert group == sorted({*group, name})
    assert f"`{name}`" in (root / "README.md").read_text()
    cases = yaml.safe_load((root / "tests/integration/targets" / name / "cases.yml").read_text())
    assert cases["sample_args"]
    assert cases.keys() <= KEYS


def test_every_file_says_what_is_left(root: Path, name: str) -> None:
    whole = f"plugins/action/{name}.py"
    for path in new_module.files(name):
        assert ("TODO" in (root / path).read_text()) == (path != whole), path


def test_ruff_has_nothing_to_say(root: Path, name: str) -> None:
    files = [root / path for path in new_module.files(name) if path.endswith(".py")]
    config = f"--config={ROOT / 'pyproject.toml'}"
    for command in (["check", "-q"], ["format", "-q", "--check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *command, config, *files],
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_nothing_is_overwritten(root: Path, name: str) -> None:
    resource = root / RESOURCES / f"{name}.py"
    resource.write_text("mine")
    with pytest.raises(SystemExit, match="nothing was written"):
        new_module.write(name, root=root)
    assert resource.read_text() == "mine"


@pytest.mark.parametrize("wrong", ["", "WebHook", "web-hook", "../x", "_x", "x_"])
def test_a_name_that_is_no_noun_s_is_refused(wrong: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no name for a module"):
        new_module.write(wrong, root=tmp_path)
    assert list(tmp_path.iterdir()) == []
