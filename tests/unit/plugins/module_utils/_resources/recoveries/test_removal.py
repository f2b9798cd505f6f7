# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drills whose runs were killed are deleted; tests/unit/data/recover/drill.yml has what else is."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from threading import Timer

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Interrupted
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.recoveries.platform import Recover, record_of, recovering

OF_DRILL = {"product": "minecraft", "project": "shop-drill"}


@pytest.fixture
def recover(sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Recover:
    """An account without the project."""
    return recovering(sandbox, key_file, tmp_path, monkeypatch)


@pytest.mark.night
@pytest.mark.real_time
def test_a_drill_is_not_forgotten_while_an_order_may_still_be_carried_out(
    sandbox: Sandbox, recover: Recover
) -> None:
    """The platform acted late on an order whose response was lost, while the drill was deleted."""
    record = record_of(sandbox, "shop-drill")
    record.drill, record.names = True, {"world": "Survival-drill"}
    with record.ordering("world", PlatformClock()), suppress(Interrupted):
        raise Interrupted("lost")
    sandbox.seed({"projects": ["shop-drill"]})
    late = Timer(2, lambda: sandbox.seed({"services": [{**OF_DRILL, "name": "Survival-drill"}]}))
    late.start()
    kept = recover(state="absent", project="shop-drill")
    late.join()
    assert kept["failed"] and "'Survival-drill'" in kept["msg"] and "appeared late" in kept["msg"]
    assert not recover(state="absent", project="shop-drill").get("failed")
    assert "shop-drill" not in [each["name"] for each in sandbox.api("GET", "/api/projects").json()]
    assert sandbox.api("GET", "/api/resources").json()["items"] == []
    assert not record_of(sandbox, "shop-drill").known
