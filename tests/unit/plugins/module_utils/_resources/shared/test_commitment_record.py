# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The record of commitments: what counts until the platform shows it, and what a damaged file does."""

from __future__ import annotations

import errno
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
    unusable,
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
    """For its run it counts for good: nobody knows whether a call that stayed open was carried out."""
    young = entry_of(ORDER, at=time.time() - seconds / 2, done=done)
    old = entry_of(GROWTH, at=time.time() - seconds - 60, done=done)
    with record.locked():
        record.write(Content([young, old]))
    content = record.read()
    assert content.entries == [young]
    assert content.added_by("run") == Decimal("19.74")
    assert content.runs["run"][0] == 9
    assert replace(record, lasts=True).read().entries == [young, old]


def test_a_run_is_forgotten_after_a_week(record: CommitmentRecord) -> None:
    with record.locked():
        record.write(Content([], {"old": (Decimal(1), time.time() - 7 * 24 * 3600 - 60)}))
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


def test_what_a_run_has_added_is_what_was_done_or_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that failed adds nothing. What belongs to no run counts for none."""
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    entries = [entry_of(ORDER), entry_of(GROWTH), entry_of(GROWTH, run="other"), entry_of(GROWTH, run=None)]
    content = Content(list(entries), {"run": (Decimal(1), 5.0)})
    assert content.added_by("run") == Decimal("20.74") and content.added_by("other") == 9
    assert content.added_by("unknown") == 0
    for entry, done in zip(entries, (True, False, True, True), strict=True):
        content.settle(entry, done)
    assert content.entries == []
    assert content.runs == {"run": (Decimal("11.74"), 1000.0), "other": (Decimal(9), 1000.0)}


def test_a_run_is_remembered_for_a_week(record: CommitmentRecord) -> None:
    told = (Decimal(1), time.time() - 7 * 24 * 3600 + 60)
    with record.locked():
        record.write(Content([], {"run": told}))
    assert record.read().runs == {"run": told}
    with record.locked():
        record.update(lambda content: content.runs.clear())
    assert record.read().runs == {}


def test_only_an_order_knows_which_services_had_its_name_before() -> None:
    before = {"s1": holding("s1", "web"), "s2": holding("s2", "other")}
    assert entry_of(ORDER, before).known == ("s1",)
    assert entry_of(replace(ORDER, kind="create"), before).known == ("s1",)
    assert entry_of(replace(ORDER, kind="resize"), before).known == ()
    assert entry_of(replace(ORDER, name=None), before).known == ()


def test_what_is_not_known_of_a_commitment_is_not_in_its_entry() -> None:
    unpriced = new_entry(replace(ORDER, monthly=None, project=None, project_name="shop"), None, None, {})
    assert (unpriced.adds, unpriced.monthly, unpriced.run) == (Decimal(0), None, None)
    assert unpriced.project == "shop"
    assert not unpriced.done and unpriced.token != entry_of(ORDER).token
    [pending] = with_entries({}, [unpriced], {})[0].values()
    assert (pending.name, pending.monthly, pending.reserved) == ("web", None, Decimal(0))
    assert pending.projects == frozenset(["shop"])
    anywhere = entry_of(Commitment("order", "service 'x'", Decimal(1)))
    [pending] = with_entries({}, [anywhere], {})[0].values()
    assert (pending.name, pending.projects) == ("service 'x'", None)
    listed = {"s1": holding("s1", "web")}
    assert with_entries(listed, [anywhere], {})[1] == [], "no service is known to be that one"


def test_an_application_without_its_slug_is_found_by_its_name() -> None:
    entry = entry_of(replace(ORDER, kind="create"))
    assert with_entries({"a1": holding("a1", "web")}, [entry], {})[1] == [entry]
    order = entry_of(ORDER)
    assert with_entries({"a1": holding("a1", "other")}, [order], {"web": "a1"})[1] == []


def test_what_was_reserved_before_stays_reserved() -> None:
    entries = [entry_of(GROWTH), entry_of(replace(GROWTH, monthly=Decimal(11)))]
    holdings, shown = with_entries({"db": holding("db", "db", "4")}, entries, {})
    assert shown == [] and (holdings["db"].monthly, holdings["db"].reserved) == (Decimal(11), Decimal(7))
    unpriced = entry_of(replace(GROWTH, monthly=None))
    assert with_entries({"db": holding("db", "db", "4")}, [unpriced], {})[0]["db"].monthly is None


def test_a_move_of_what_may_be_anywhere_is_never_shown() -> None:
    entry = entry_of(Commitment("move", "db", Decimal(5), id="db", project="p2"))
    somewhere = replace(holding("db", "db"), projects=None)
    holdings, shown = with_entries({"db": somewhere}, [entry], {})
    assert shown == [] and holdings["db"].projects is None


def test_the_record_of_an_account_forgets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That of check mode lasts as long as its file."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))
    found = CommitmentRecord.of("account")
    assert not found.lasts and found.path == str(tmp_path / "budget" / "account.json")


@pytest.fixture
def lock(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is done with locks; they cannot be had once this holds ``refused``."""
    done: list[str] = []

    @contextmanager
    def lock_file(path: str, seconds: float) -> Iterator[None]:
        if "refused" in done:
            raise OSError(errno.EROFS, "Read-only file system")
        done.append("locked")
        yield
        done.append("released")

    monkeypatch.setattr(commitment_record, "lock_file", lock_file)
    return done


def test_without_a_lock_nothing_is_committed(record: CommitmentRecord, lock: list[str]) -> None:
    """It is given back whatever happens."""
    with pytest.raises(ValueError, match="no"), record.locked():
        raise ValueError("no")
    assert lock == ["locked", "released"]
    lock.append("refused")
    with pytest.raises(BudgetExceeded, match="cannot be used: Read-only file system"), record.locked():
        raise AssertionError("nothing may be done")


def test_a_record_that_cannot_be_written_refuses_all() -> None:
    with pytest.raises(BudgetExceeded, match=r"cannot be used: Not a directory\. A budget is set, so"):
        CommitmentRecord("/dev/null/x.json").write(Content())


def test_an_error_that_says_nothing_is_told_as_damage() -> None:
    for error in (OSError("unknown"), ValueError("x")):
        assert "cannot be used: it is damaged." in unusable("/x.json", error).message
