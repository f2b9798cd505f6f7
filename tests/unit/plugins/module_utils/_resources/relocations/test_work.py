# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that a relocation is made of: what is done when one fails, and what they cost."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.work import (
    costing,
    rescued,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import Commitment
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Move
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Expansion, Step
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.clones.platform import ids_of
from unit.plugins.module_utils._resources.relocations.platform import (
    SEED,
    done,
    pair,
    relocating,
    status_of,
)


def fail() -> None:
    """Fail."""
    raise Invalid("no")


def test_a_step_that_fails_is_rescued_once_wherever_it_is() -> None:
    seen: list[HostedError] = []
    steps = rescued([Step("one", lambda: None), Expansion("more", lambda: [Step("two", fail)])], seen.append)
    assert steps[0].run() is None
    [inner] = steps[1].run()
    with pytest.raises(Invalid, match="no"):
        inner.run()
    assert [error.message for error in seen] == ["no"]


def test_moves_tell_what_both_services_cost() -> None:
    commitment = Commitment("suspend", "service 'a'", Decimal(1))
    step = Step("suspend", lambda: None, move=Move("suspend", Decimal(1)), commitment=commitment)
    steps = costing([step, Expansion("more", lambda: [step]), Step("read", lambda: None)], Decimal(5))
    assert steps[0].move == Move("suspend", Decimal(5))
    assert steps[0].commitment is commitment
    assert [each.move for each in steps[1].run()] == [Move("suspend", Decimal(5))]
    assert steps[2].move is None


def test_an_old_service_that_cannot_be_started_again_is_said(
    sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the way back is a task of its own, and nothing of it is lost."""
    relocate = relocating(sandbox, key_file, tmp_path, monkeypatch)
    sandbox.fault("POST /api/resources/{id}/power", "status", status=409, nth=3, count=None)
    failed = relocate()
    assert "could not be brought back into service either" in failed["msg"]
    old, new = pair(sandbox)
    sandbox.clear_faults()
    done(relocate(state="returned"))
    assert status_of(sandbox, old) == ("ACTIVE", "running")
    assert status_of(sandbox, new)[0] == "SUSPENDED"


def test_an_application_that_is_not_in_service_is_not_deployed(
    sandbox: Sandbox, key_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    relocate = relocating(sandbox, key_file, tmp_path, monkeypatch)
    app = ids_of(sandbox, "shop")["acme-web"]
    sandbox.api("POST", f"/api/resources/{app}/suspend")
    sandbox.clear_journal()
    moved = done(relocate())
    assert "takes effect at its next deploy" in " ".join(moved["warnings"])
    assert [line for line in sandbox.journal() if line["path"].endswith("/deploy")] == []
    assert status_of(sandbox, app)[0] == "SUSPENDED"
    assert SEED["apps"][0]["slug"] in moved["relocation"]["dependents"]
