# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The last lines of a log are the last ones, in whichever order the platform lists them."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.app_info import APP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.service_info import SERVICE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.log_order import oldest_first
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of, run

FIRST, LAST = "2026-01-31T12:00:00.000Z started", "2026-01-31T12:00:01.000Z stopped"


@pytest.mark.parametrize(
    ("lines", "ordered"),
    [
        ([FIRST, LAST], [FIRST, LAST]),
        ([LAST, FIRST], [FIRST, LAST]),
        ([LAST, "  at line 3", FIRST], [FIRST, "  at line 3", LAST]),
        ([f"[{LAST}", f"[{FIRST}"], [f"[{FIRST}", f"[{LAST}"]),
        (["b", "a"], ["b", "a"]),
        ([FIRST, FIRST.replace("started", "again")], [FIRST, FIRST.replace("started", "again")]),
        ([LAST], [LAST]),
        ([], []),
    ],
)
def test_the_oldest_line_comes_first(lines: list[str], ordered: list[str]) -> None:
    assert oldest_first(lines) == ordered


@pytest.mark.parametrize("order", ["oldest first", "newest first"])
def test_the_last_line_is_the_newest(sandbox: Sandbox, order: str) -> None:
    app = {"slug": "shop", "images": [{"tag": "v1"}], "deployed": "v1"}
    service = {"name": "one", "product": "minecraft"}
    sandbox.reset(seed={"services": [service], "apps": [app]}, values={"logs.order": order})
    for name in ("one", "shop"):  # so that not all lines are of one moment, which tells no order
        sandbox.clock(advance=1)
        assert sandbox.api("POST", f"/api/resources/{id_of(sandbox, name)}/power", {"signal": "kill"}).ok
    whole = run(sandbox, SERVICE_INFO, name="one", include=["logs"])["services"][0]["logs"]
    assert len(whole) > 1 and whole[-1].endswith("killed")
    app_log = run(sandbox, APP_INFO, slug="shop", include=["logs"])["apps"][0]["logs"]
    assert len(app_log) > 1 and app_log[-1].endswith("killed")
    [last] = run(sandbox, APP_INFO, slug="shop", include=["logs"], log_lines=1)["apps"][0]["logs"]
    assert last == app_log[-1]


@pytest.mark.parametrize("shape", ["lines", "text", "entries"])
@pytest.mark.parametrize("order", ["oldest first", "newest first"])
def test_lines_without_times_keep_the_order_of_the_platform(sandbox: Sandbox, order: str, shape: str) -> None:
    """Nothing tells which end is the newest. A cut keeps the end of the list, as the documentation says."""
    app = {"slug": "shop", "images": [{"tag": "v1"}], "deployed": "v1"}
    points = {"logs.order": order, "logs.times": "no", "app_logs.parameter": "none"}
    service = {"name": "one", "product": "minecraft"}
    sandbox.reset(seed={"services": [service], "apps": [app]}, values=points | {"app_logs.shape": shape})
    for name in ("one", "shop"):
        sandbox.clock(advance=1)
        assert sandbox.api("POST", f"/api/resources/{id_of(sandbox, name)}/power", {"signal": "kill"}).ok
    newest = -1 if order == "oldest first" else 0
    whole = run(sandbox, SERVICE_INFO, name="one", include=["logs"])["services"][0]["logs"]
    app_log = run(sandbox, APP_INFO, slug="shop", include=["logs"])["apps"][0]["logs"]
    assert len(app_log) > 1 and whole[newest] == app_log[newest] == "killed"
    [last] = run(sandbox, APP_INFO, slug="shop", include=["logs"], log_lines=1)["apps"][0]["logs"]
    assert last == app_log[-1]
