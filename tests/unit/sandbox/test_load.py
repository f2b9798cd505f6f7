# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many clients at once. `python -m hosted_sandbox.load` is the same with 10,000 requests."""

from __future__ import annotations

from hosted_sandbox.load import losses, send
from hosted_sandbox.testing import Sandbox


def test_no_write_is_lost(sandbox: Sandbox) -> None:
    outcome = send(sandbox, 800)
    assert len(outcome.statuses) >= 800
    assert losses(sandbox, outcome) == []
