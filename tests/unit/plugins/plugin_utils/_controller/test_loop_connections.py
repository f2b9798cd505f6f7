# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The items of a loop share connections; forks and items with other settings do not."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import Request, Response
from ansible_collections.hosted.services.plugins.plugin_utils._controller.loop_connections import (
    LoopConnections,
)


class Opened:
    """An transport that counts how often it was closed."""

    closed = 0

    def exchange(self, request: Request, seconds: float) -> Response:
        """Not used here."""
        raise NotImplementedError

    def clone(self) -> Opened:
        """Return itself."""
        return self

    def close(self) -> None:
        """Count."""
        self.closed += 1


@pytest.fixture
def connections() -> Iterator[LoopConnections]:
    yield LoopConnections()


def test_items_of_the_same_settings_share_a_transport(connections: LoopConnections) -> None:
    first = connections.get("settings", Opened)
    assert connections.get("settings", Opened) is first


def test_an_item_of_other_settings_gets_its_own(connections: LoopConnections) -> None:
    first = connections.get("settings", Opened)
    second = connections.get("others", Opened)
    assert second is not first
    assert isinstance(first, Opened)
    assert first.closed == 1, "nobody would use it again"
    assert connections.get("settings", Opened) is not first


def test_a_fork_starts_without_one_and_leaves_the_other_process_alone(connections: LoopConnections) -> None:
    first = connections.get("settings", Opened)
    assert isinstance(first, Opened)
    child = os.fork()
    if child == 0:
        its_own = connections.get("settings", Opened)
        os._exit(its_own is first or first.closed)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert connections.get("settings", Opened) is first
