# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a relocation reads of a service, and what it orders in its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import (
    Dimensions,
    Host,
    Product,
    ProjectGraph,
    Runtime,
    Service,
    Settings,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import Data
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.options import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.origin import (
    Origin,
    check_relocatable,
    differences,
    read_origin,
    wanted_order,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import Size
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.relocations.in_memory import case, web

SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}


def origin(data: Data = Data.FILES, **given: Any) -> Origin:
    """Return a service that could be relocated."""
    facts: dict[str, Any] = {
        "id": "svc_1",
        "name": "survival",
        "family": "GAME",
        "status": "ACTIVE",
        "product": Product(slug="minecraft"),
        "runtime": Runtime(id="runtime-paper", slug="paper"),
        "host": Host(id="node-paris-1", label="Paris 1"),
        "dimensions": Dimensions(**SIZE),
        "capabilities": ["powerSignals", "suspension", "files"],
    }
    graph = {"nodes": [{"id": "svc_1", "alias": "mc"}]}
    settings = {"network": {"isPublic": True}, "deploy": {"command": "run", "defaultCommand": "other"}}
    return Origin(
        Service(**{**facts, **given}),
        Settings.model_validate(settings),
        ProjectGraph.model_validate(graph),
        {},
        data,
        running=True,
    )


def task(**given: Any) -> Task[RelocateOptions]:
    """Return a task that relocates it."""
    return Task(cast(Any, None), RelocateOptions(service="survival", **given))


def test_what_is_ordered_is_as_it_was() -> None:
    assert origin().alias == "mc"
    assert wanted_order(task(), origin()) == {
        "product": "minecraft",
        "runtime": "runtime-paper",
        "host": "node-paris-1",
        "preset": None,
        "dimensions": SIZE,
        "variables": None,
        "options": None,
        "public": True,
        "command": "run",
    }


def test_what_the_task_says_is_different() -> None:
    order = wanted_order(task(host="node-2", dimensions=Size(ram_gb=8), public=False), origin())
    assert (order["host"], order["public"]) == ("node-2", False)
    assert order["dimensions"] == {**SIZE, "ram_gb": 8}
    assert wanted_order(task(preset="small"), origin())["dimensions"] is None


def test_another_product_has_an_edition_and_a_command_of_its_own() -> None:
    order = wanted_order(task(product="factorio"), origin())
    assert (order["product"], order["runtime"], order["command"]) == ("factorio", None, None)
    order = wanted_order(task(product="factorio", runtime="vanilla"), origin())
    assert order["runtime"] == "vanilla"
    order = wanted_order(task(product="minecraft", runtime="vanilla"), origin())
    assert (order["runtime"], order["command"]) == ("vanilla", "run")


def test_what_is_not_shown_is_left_to_the_platform() -> None:
    bare = origin(product=None, runtime=None, host=None, dimensions=None)
    order = wanted_order(task(), bare)
    assert [order[name] for name in ("product", "runtime", "host", "command")] == [None] * 4
    assert order["dimensions"] == dict.fromkeys(SIZE)
    assert wanted_order(task(product="minecraft"), bare)["runtime"] is None
    assert wanted_order(task(product="minecraft"), origin(runtime=None))["runtime"] is None


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"host": "node-paris-1"}, set()),
        ({"host": "Paris 1", "runtime": "paper", "product": "minecraft"}, set()),
        ({"dimensions": Size(ram_gb=4)}, set()),
        ({"host": "node-2"}, {"host"}),
        ({"dimensions": Size(storage_gb=10)}, {"storage_gb"}),
        ({"runtime": "vanilla", "preset": "small"}, {"runtime", "preset"}),
    ],
)
def test_what_is_to_be_different(given: dict[str, Any], names: set[str]) -> None:
    assert set(differences(task(**given).options, origin().service)) == names


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"status": "SUSPENDED"}, "only an ACTIVE one can be relocated"),
        ({"data": Data.NONE}, "neither files over SFTP nor a database"),
        ({"capabilities": ["files", "powerSignals"]}, "does not offer suspension"),
        ({"capabilities": ["files"]}, "does not offer powerSignals and suspension"),
    ],
)
def test_what_cannot_be_stopped_copied_or_suspended_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        check_relocatable(task(), origin(**given))


def test_without_its_data_a_service_can_be_relocated() -> None:
    check_relocatable(task(without_data=True), origin(data=Data.NONE))


def read(folder: Path, **given: Any) -> Origin:
    """Read the service to relocate."""
    found = case(folder, **given)
    return read_origin(found.work.task, found.work.record)


@pytest.mark.parametrize(
    ("state", "running"), [("running", True), ("starting", True), ("stopped", False), ("stopping", False)]
)
def test_what_is_read_of_a_service(state: str, running: bool, tmp_path: Path) -> None:
    found = case(tmp_path)
    found.account.states["old"] = state
    seen = read_origin(found.work.task, found.work.record)
    assert (seen.id, seen.label, seen.alias) == ("old", "service 'survival' (old)", "mc")
    assert (seen.data, seen.running, seen.public) == (Data.FILES, running, False)


def test_what_can_be_copied_is_read_once(tmp_path: Path) -> None:
    """A service that is suspended may not tell it any more. Without its data, nothing is."""
    assert read(tmp_path, facts={"data": "database"}).data is Data.DATABASE
    assert read(tmp_path, facts={"data": "database"}, without_data=True).data is Data.NONE
    assert read(tmp_path, without_data=False).data is Data.FILES


def test_an_application_is_refused_with_the_way_around(tmp_path: Path) -> None:
    """Others of the account are none of its business."""
    found = case(tmp_path)
    app = web(found.account).app
    found.account.applications = [app]
    assert read_origin(found.work.task, found.work.record).apps == {"app_1": app}
    found.account.applications = [app.model_copy(update={"id": "old"})]
    with pytest.raises(Invalid, match=r"'survival' .old. is an application .* under another slug with"):
        read_origin(found.work.task, found.work.record)
