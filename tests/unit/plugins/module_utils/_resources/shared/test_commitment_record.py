# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of commitments: what counts until the platform shows it, and what a damaged file does."""

from __future__ import annotations

import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared import commitment_record
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import (
    BudgetExceeded,
    Commitment,
    Holding,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.commitment_record import (
    DONE_SECONDS,
    OPEN_SECONDS,
    CommitmentRecord,
    Content,
    Entry,
    new_entry,
    with_entries,
    with_predictions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.controller_state import (
    RUN_FOLDER,
)

ORDER = Commitment("order", "service 'web'", Decimal("10.74"), name="web", project="p1")
GROWTH = Commitment("resize", "service 'db'", Decimal(9), id="db", name="db", project="p1")


def holding(key: str, name: str, monthly: str | None = "5", project: str = "p1") -> Holding:
    return Holding(key, name, None if monthly is None else Decimal(monthly), frozenset([project]))


def entry_of(commitment: Commitment, holdings: dict[str, Holding] | None = None, **more: Any) -> Entry:
    return replace(new_entry(commitment, commitment.monthly, "run", holdings or {}), **more)


@pytest.fixture
def record(tmp_path: Path) -> CommitmentRecord:
    return CommitmentRecord(str(tmp_path / "folder" / "account.json"))


def test_what_is_written_is_read_again(record: CommitmentRecord) -> None:
    unknown = entry_of(GROWTH, monthly=None, known=("a", "b"), run=None)
    content = Content([entry_of(ORDER), unknown], {"run": (Decimal("1.10"), time.time())})
    with record.locked() as found:
        assert found == Content()
        record.write(content)
    assert record.read() == content and content.added_by("run") == Decimal("11.84")


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"entries": [{}], "runs": {}}', '{"entries": [], "runs": 5}']
)
def test_a_damaged_record_refuses_all(record: CommitmentRecord, text: str) -> None:
    path = Path(record.path)
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(BudgetExceeded, match="damaged"), record.locked():
        pass


def test_a_folder_that_cannot_be_used_refuses_all() -> None:
    with pytest.raises(BudgetExceeded, match="cannot be used"), CommitmentRecord("/dev/null/x.json").locked():
        pass


def test_a_lock_that_is_held_ends_in_an_error(
    record: CommitmentRecord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commitment_record, "LOCK_SECONDS", 0.01)
    with record.locked(), pytest.raises(BudgetExceeded, match="other tasks"), record.locked():
        pass


@pytest.mark.parametrize(("done", "seconds"), [(True, DONE_SECONDS), (False, OPEN_SECONDS)])
def test_an_entry_counts_for_a_time(record: CommitmentRecord, done: bool, seconds: float) -> None:
    young = entry_of(ORDER, at=time.time() - seconds / 2, done=done)
    old = entry_of(GROWTH, at=time.time() - seconds - 60, done=done)
    with record.locked():
        record.write(Content([young, old]))
    content = record.read()
    assert content.entries == [young]
    assert content.added_by("run") == Decimal("10.74") + (9 if done else 0)
    assert replace(record, lasts=True).read().entries == [young, old]


def test_a_run_is_forgotten_after_a_week(record: CommitmentRecord) -> None:
    with record.locked():
        record.write(Content([], {"old": (Decimal(1), time.time() - 8 * 24 * 3600)}))
    assert record.read().runs == {}


def test_an_order_counts_until_its_service_is_listed() -> None:
    before = {"s1": holding("s1", "Web"), "db": holding("db", "db")}
    entry = entry_of(ORDER, before)
    holdings, shown = with_entries(before, [entry], {})
    assert shown == [] and holdings[entry.token].reserved == holdings[entry.token].monthly == Decimal("10.74")
    after = {**before, "s2": holding("s2", "web")}
    assert with_entries(after, [entry], {}) == (after, [entry])


def test_each_order_of_a_name_has_its_own_service() -> None:
    one, two = entry_of(ORDER), entry_of(ORDER)
    holdings, shown = with_entries({"s1": holding("s1", "web")}, [one, two], {})
    assert shown == [one] and set(holdings) == {"s1", two.token}


def test_an_application_is_found_by_its_slug() -> None:
    entry = entry_of(replace(ORDER, kind="create"))
    listed = {"a1": holding("a1", "Something else")}
    assert with_entries(listed, [entry], {"web": "a1"})[1] == [entry]
    assert with_entries(listed, [entry], {"web": "a2"})[1] == []


def test_a_size_counts_until_it_is_shown() -> None:
    entry = entry_of(GROWTH)
    holdings, shown = with_entries({"db": holding("db", "db", "4")}, [entry], {})
    assert shown == [] and (holdings["db"].monthly, holdings["db"].reserved) == (Decimal(9), Decimal(5))
    for rate in ("9", "12"):
        assert with_entries({"db": holding("db", "db", rate)}, [entry], {})[1] == [entry]
    assert with_entries({}, [entry], {}) == ({}, [entry])
    unknown = with_entries({"db": holding("db", "db", None)}, [entry], {})[0]
    assert unknown["db"].monthly is None


def test_a_move_counts_for_both_projects_until_it_is_shown() -> None:
    entry = entry_of(Commitment("move", "db", Decimal(5), id="db", project="p2"))
    holdings, shown = with_entries({"db": holding("db", "db")}, [entry], {})
    assert shown == [] and holdings["db"].projects == frozenset({"p1", "p2"})
    assert with_entries({"db": holding("db", "db", project="p2")}, [entry], {})[1] == [entry]


def test_predictions_are_taken_as_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deleted = entry_of(Commitment("delete", "db", Decimal(0), id="db"))
    found = with_predictions({"db": holding("db", "db")}, [entry_of(ORDER), deleted])
    assert [each.monthly for each in found.values()] == [Decimal("10.74")]
    monkeypatch.delenv(RUN_FOLDER, raising=False)
    assert CommitmentRecord.of_predictions("account") is None
    monkeypatch.setenv(RUN_FOLDER, str(tmp_path))
    predictions = CommitmentRecord.of_predictions("account")
    assert predictions is not None and predictions.lasts and Path(predictions.path).parent == tmp_path
