# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of an apply: no value can be read from it, and a damaged record counts as none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast

from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import (
    BLUEPRINT,
    BlueprintOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.applied import (
    last_applied,
    remember,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import Contents
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import Entry
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task

SECRET = "hunter2hunter2"
DB = Entry("services", "db", {"product": "postgresql", "dimensions": {"ram_gb": 2}})
WEB = Entry("applications", "web", {"slug": "acme-web", "secret_environment": {"SESSION_KEY": SECRET}})
SHOP = Contents("shop", services=[DB], applications=[WEB])
URL = "https://platform.example"


def apply(folder: Path, contents: Contents, failed: tuple[tuple[str, str], ...] = ()) -> list[str]:
    """Remember an apply, and return the warnings."""
    task = Task(cast(Client, None), options(folder))
    remember(task, contents, failed)
    return task.warnings


def prints(folder: Path, project: str = "shop", url: str = URL) -> dict[str, str]:
    """Return what is remembered of a project."""
    return dict(last_applied(options(folder, url), project).prints)


def options(folder: Path, url: str = URL) -> BlueprintOptions:
    """Return options with records in a folder."""
    return BLUEPRINT.read_options({"base_url": url, "state_dir": str(folder), "blueprint": {}})


def test_a_record_holds_each_field_and_none_of_its_values(tmp_path: Path) -> None:
    assert apply(tmp_path, SHOP) == []
    assert sorted(prints(tmp_path)) == [
        "applications.web.entry",
        "applications.web.secret_environment",
        "applications.web.slug",
        "names.acme-web",
        "names.db",
        "services.db.dimensions",
        "services.db.entry",
        "services.db.product",
    ]
    [file] = [each for each in tmp_path.rglob("*") if each.is_file()]
    assert SECRET not in file.read_text()
    assert "postgresql" not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


def test_what_failed_keeps_what_was_known_of_it(tmp_path: Path) -> None:
    apply(tmp_path, SHOP)
    before = prints(tmp_path)
    larger = Entry("services", "db", {"product": "postgresql", "dimensions": {"ram_gb": 4}})
    added = Entry("services", "cache", {"product": "valkey"})
    apply(tmp_path, Contents("shop", services=[larger, added]), failed=(DB.path, added.path))
    assert prints(tmp_path) == {
        name: value for name, value in before.items() if name.startswith(("services.db.", "names."))
    }


def test_a_damaged_record_counts_as_none(tmp_path: Path) -> None:
    apply(tmp_path, SHOP)
    [file] = [each for each in tmp_path.rglob("*") if each.is_file()]
    for damaged in ("", "[]", json.dumps({"key": "00"}), "{"):
        file.write_text(damaged)
        assert prints(tmp_path) == {}
    assert apply(tmp_path, SHOP) == []
    assert prints(tmp_path)
