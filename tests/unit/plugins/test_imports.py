# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every plugin can be imported on a machine without the libraries, and says then what to install."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parents[3] / "plugins"
PACKAGE = "ansible_collections.hosted.services.plugins"
LIBRARIES = ["requests", "urllib3", "pydantic", "cryptography", "asyncssh", "bcrypt"]
ON_THE_MANAGED_SIDE = ("modules", "module_utils")

PROGRAM = r"""
import importlib, json, sys

blocked, modules = json.loads(sys.argv[1]), json.loads(sys.argv[2])

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in blocked:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
problems = {}
for module in modules:
    try:
        importlib.import_module(module)
    except Exception as error:
        problems[module] = f"{type(error).__name__}: {error}"

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT

options = {"name": "x", "base_url": "https://api.example.com", "token": "t"}
result = execute(PROJECT, options, RunContext())
print(json.dumps({"problems": problems, "result": result}))
"""


def names(managed: bool) -> list[str]:
    files = (file.relative_to(PLUGINS) for file in sorted(PLUGINS.rglob("*.py")))
    return [
        ".".join([PACKAGE, *file.with_suffix("").parts])
        for file in files
        if (file.parts[0] in ON_THE_MANAGED_SIDE) is managed
    ]


@pytest.mark.parametrize(
    ("managed", "blocked"),
    [(True, [*LIBRARIES, "yaml", "jinja2"]), (False, LIBRARIES)],
    ids=["on a managed machine", "on a controller"],
)
def test_every_plugin_is_imported_without_the_libraries(managed: bool, blocked: list[str]) -> None:
    modules = names(managed)
    assert len(modules) > 5
    command = [sys.executable, "-W", "error", "-c", PROGRAM, json.dumps(blocked), json.dumps(modules)]
    paths = {"PYTHONPATH": str(PLUGINS.parent / ".build" / "dev"), "HOME": str(Path.home())}
    done = subprocess.run(command, capture_output=True, text=True, env=paths, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["problems"] == {}
    missing = ["pydantic>=2", "requests", "cryptography"] + (["PyYAML"] if managed else [])
    wanted = " ".join(f"'{name}'" for name in missing)
    assert found["result"]["failed"] is True
    assert found["result"]["msg"] == (
        f"hosted.services needs Python libraries that {sys.executable} does not have; "
        f"install them with: {sys.executable} -m pip install {wanted}"
    )
