# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a fleet remembers, and that a damaged file holds nothing."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from ansible_collections.hosted.services.plugins.module_utils._resources.fleets.memory import (
    FleetRecord,
    Memory,
)

URL = "https://api.example.com"


def memory_in(folder: Path) -> Memory:
    """Return the memory of a fleet."""
    return Memory.of(str(folder), URL, "shop")


def test_what_ran_is_kept_until_it_is_back() -> None:
    """A second stop adds what runs, and forgets nothing."""
    record = FleetRecord()
    record.note_stop("a", True)
    record.note_stop("b", False)
    record.note_stop("a", False)
    assert (record.ran_before("a"), record.ran_before("b"), record.ran_before("c")) == (True, False, None)
    record.note_stop("b", True)
    assert record.ran_before("b") is True
    record.back.add("a")
    assert record.ran_before("a") is None
    record.note_stop("a", False)
    assert record.ran_before("a") is False


def test_a_run_goes_on_with_the_same_only() -> None:
    """Something else, or the wish to start over, begins anew."""
    record = FleetRecord()
    record.begin("restarted", False)
    record.done.add("a")
    record.begin("restarted", False)
    assert record.done == {"a"}
    record.begin("restarted", True)
    assert record.done == set()
    record.done.add("a")
    record.begin("updated", False)
    assert record.done == set() and record.what == "updated"
    record.end()
    assert record == FleetRecord()


def test_it_is_there_for_the_next_run(tmp_path: Path) -> None:
    """Each note is on the disk at once, and another run is noticed."""
    memory, other = memory_in(tmp_path), memory_in(tmp_path)
    memory.record.note_stop("a", True)
    memory.record.begin("started", False)
    memory.note_begun("a", runs=True)
    memory.note_begun("a", runs=False)
    memory.note_done("a", back=True)
    again = memory_in(tmp_path)
    assert again.record == memory.record
    assert again.record.up == again.record.done == again.record.back == {"a"}
    assert other.is_stale() and not again.is_stale()
    assert Memory.of(str(tmp_path), URL, "other").record == FleetRecord()


def test_what_is_begun_again_is_no_longer_done(tmp_path: Path) -> None:
    """Somebody changed it since, so it is worked on again, and a run that is killed meanwhile has to show."""
    memory = memory_in(tmp_path)
    memory.note_begun("a", runs=True)
    memory.note_done("a", back=False)
    memory.record.begun["a"] -= timedelta(days=1)
    first = memory.record.begun["a"]
    memory.note_begun("a", runs=False)
    again = memory_in(tmp_path).record
    assert again.done == again.up == set() and again.begun["a"] > first
