# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing is ordered twice: what is there under the name, wherever it went, is found before an order."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.names import likely_meant
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import calls, id_of, run, writes
from unit.plugins.module_utils._resources.platform import renaming as renamed

SIZE = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
ORDER: dict[str, Any] = {"product": "minecraft", "host": "node-paris-1", "dimensions": SIZE}


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep what is remembered of orders apart."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path))


@pytest.fixture
def platform(sandbox: Sandbox) -> Sandbox:
    """An account without services, whose clock stands still but between the steps of a test."""
    sandbox.reset(delays={"provision": 0, "start": 0})
    sandbox.clock(freeze=True)
    return sandbox


def create(platform: Sandbox, name: str) -> str:
    platform.clock(advance=60)
    platform.api("POST", "/api/projects", {"name": name})
    projects = platform.api("GET", "/api/projects").json()
    return next(str(project["id"]) for project in projects if project["name"] == name)


def order(
    platform: Sandbox, name: str = "survival", check_mode: bool = False, **given: Any
) -> dict[str, Any]:
    platform.clock(advance=60)
    platform.clear_journal()
    return run(platform, SERVICE, check_mode, **{**ORDER, "name": name, **given})


def ordered(platform: Sandbox) -> list[str]:
    return [entry["name"] for entry in platform.ledger()["orders"]]


def said(result: dict[str, Any]) -> str:
    return "\n".join(result.get("warnings", []))


def refused(platform: Sandbox, result: dict[str, Any]) -> bool:
    """Tell whether nothing was ordered and nothing else changed."""
    return (
        bool(result.get("failed")) and not result["changed"] and not set(writes(platform)) - {"order.quote"}
    )


# --- The same playbook, run again -----------------------------------------------------------------------


NAMED_BY: dict[str, Callable[[str], str]] = {
    "cut": lambda name: name[:8],
    "prefix": lambda name: f"acme/{name}",
    "suffix": lambda name: f"{name}-1",
    "HTML": lambda name: name.replace("&", "&amp;"),
    "own": lambda name: "server 4711",
}
RENAMED = "Tom & Jerry"


@pytest.fixture
def renaming(platform: Sandbox, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a platform whose answers show the name in another form."""
    with renamed(platform, RENAMED, NAMED_BY[request.param](RENAMED)) as url:
        yield url


@pytest.mark.parametrize("given", [{}, {"product": "postgresql", "return_secrets": True}])
@pytest.mark.parametrize("renaming", NAMED_BY, indirect=True)
def test_a_name_that_the_platform_changes_as_it_likes_is_not_ordered_again(
    platform: Sandbox, renaming: str, given: dict[str, Any]
) -> None:
    """Neither what has no secrets nor what returns them."""
    first = order(platform, RENAMED, base_url=renaming, **given)
    assert "the platform named the new service" in said(first) + first.get("msg", "")
    for check_mode in (True, False):
        again = order(platform, RENAMED, check_mode, base_url=renaming)
        assert refused(platform, again)
        assert id_of(platform, RENAMED) in again["msg"] and "Nothing was ordered" in again["msg"]
    assert ordered(platform) == [RENAMED]
    assert refused(platform, order(platform, RENAMED, base_url=renaming, allow_duplicate_name=True))
    assert ordered(platform) == [RENAMED]


@pytest.mark.parametrize("others", [0, 9, 19])
def test_a_task_that_changes_nothing_reads_nothing_twice(platform: Sandbox, others: int) -> None:
    """However many services there are, and wherever."""
    create(platform, "games")
    assert order(platform, project="games")["changed"]
    platform.seed({"services": [{"name": f"n{n}", "product": "bucket"} for n in range(others)]})
    platform.clock(advance=3600)
    order(platform, project="games", state="started")
    found = ["projects.list", "resources.list", "resources.get"]
    assert calls(platform) == [*found, "resources.metrics"]
    for resource, given, more in (
        (FILE_INFO, {"service": "survival", "path": ""}, "files.list"),
        (BACKUP, {"services": ["survival"], "name": "gone", "state": "absent"}, "backups.list"),
    ):
        platform.clear_journal()
        assert not run(platform, resource, project="games", **given)["changed"]
        assert calls(platform)[: len(found) + 1] == [*found, more]
    platform.clear_journal()
    run(platform, BACKUP, project="games", name="gone", state="absent")
    assert calls(platform) == [
        "projects.list",
        "resources.list",
        "projects.get",
        "resources.get",
        "backups.list",
    ]


# --- Slips of the pen -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wanted", "names", "meant"),
    [
        ("survivla", ["creative", "survival"], "survival"),
        ("Survivla", ["survival", "survivel"], None),
        ("web-1", ["web-2"], None),
        ("worker-12345", ["worker-12346"], None),
        ("shop-eu", ["shop-us"], None),
        ("web-app", ["webapp", "Web-App"], None),
        ("game-server-eu", ["game-server-usa"], None),
        ("game-sevrer-eu", ["game-server-eu", "game-server-us"], "game-server-eu"),
        ("staging-db", ["production-db"], None),
        ("caché", ["cache"], None),
        ("database", ["databases-main"], None),
        ("db", [], None),
    ],
)
def test_a_slip_is_told_from_a_series_and_a_family_of_names(
    wanted: str, names: list[str], meant: str | None
) -> None:
    assert likely_meant(wanted, names) == meant


# --- A wrong family -------------------------------------------------------------------------------------
