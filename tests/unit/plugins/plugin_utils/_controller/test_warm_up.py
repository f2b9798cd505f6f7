# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rehearsal goes through a whole task, reaches nobody, and is never in the way."""

from __future__ import annotations

import socket
from typing import NoReturn

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._controller import warm_up as rehearsal


def test_it_goes_through_a_whole_task() -> None:
    result = rehearsal.rehearse()

    assert result["project"]["name"] == "a"
    assert result["changed"] is False
    assert "failed" not in result


def test_it_reaches_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_sockets(*_args: object, **_kwargs: object) -> NoReturn:
        raise AssertionError("a socket was made")

    monkeypatch.setattr(socket, "socket", no_sockets)

    assert "failed" not in rehearsal.rehearse()


def test_a_defect_is_left_to_the_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_args: object) -> NoReturn:
        raise RuntimeError

    monkeypatch.setattr(rehearsal, "validated", broken)

    assert rehearsal.rehearse() == {}
