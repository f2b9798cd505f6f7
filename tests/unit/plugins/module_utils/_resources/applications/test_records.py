# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of an application: what waits for a deploy, and what was in service before."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.applications.records import (
    AppRecords,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import pending
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of

A, B, C = (f"sha256:{letter * 64}" for letter in "abc")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))


def records(state_dir: Path | None = None, id: str | None = "app_1") -> AppRecords:
    """Return the records of an application as a task finds them."""
    given = {} if state_dir is None else {"state_dir": str(state_dir)}
    return AppRecords.of(task_of(ENVIRONMENT, FakeClient(), slug="shop", clear=True, **given), id)  # type: ignore[arg-type]


def test_what_is_noted_is_outstanding_until_it_is_cleared() -> None:
    assert records().outstanding() == {} and records().reasons() == []
    records().note(pending.ENVIRONMENT, since="then")
    assert records().outstanding().keys() == {pending.ENVIRONMENT}
    assert records().reasons() == ["its environment was written at then and is not in effect yet"]
    records().note(pending.DEPLOY)
    assert len(records().reasons()) == 2
    records().clearing(pending.ENVIRONMENT, pending.DEPLOY)()
    assert records().outstanding() == {}


def test_each_write_is_told_from_the_next() -> None:
    records().note(pending.ENVIRONMENT)
    first = records().outstanding()
    records().note(pending.ENVIRONMENT)
    assert records().outstanding() != first


def test_a_folder_of_the_user_s_own_is_kept_beside_ansible_s_home(tmp_path: Path) -> None:
    records(tmp_path / "own").note(pending.ENVIRONMENT)
    for folder in (tmp_path / "own", None):
        assert records(folder).outstanding(), "either of them tells"


def test_the_folder_that_the_user_names_has_to_take_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Invalid):
        records(tmp_path / "file").note(pending.ENVIRONMENT)
    (tmp_path / "home").write_text("")
    records(tmp_path / "own").note(pending.ENVIRONMENT)
    assert records(tmp_path / "own").outstanding()


def test_another_application_has_records_of_its_own() -> None:
    records().note(pending.ENVIRONMENT)
    records().record_deploy(A)
    assert records(id="app_2").outstanding() == {} and records(id="app_2").images() == []
    assert records(id=None).outstanding() == {} and records(id=None).images() == []


def test_what_was_in_service_before() -> None:
    for digest in (A, A, B):
        records().record_deploy(digest)
    assert records().images() == [A, B]
    assert records().before(B) == A
    assert records().before(A) is None and records().before(None) is None, "somebody else has deployed"
    records().record_deploy(A)
    assert records().images() == [A] and records().before(A) is None


def test_before_a_deploy_that_failed_the_last_good_version_was_in_service() -> None:
    """The one that does not run is in service, and no deploy of it was recorded as good."""
    for digest in (A, B):
        records().record_deploy(digest)
    records().note(pending.DEPLOY, digest=C)
    assert records().last_good(C) == records().before(C) == B
    assert records().last_good(B) == B and records().before(B) == A, "the platform has put it back"
    records().note(pending.DEPLOY, digest=B)
    assert records().last_good(B) == records().before(B) == A, "it was deployed again"
    records().clearing(pending.DEPLOY)()
    assert records().before(B) == A and records().before(C) is None


def test_a_rollback_that_fails_does_not_make_the_failed_version_a_good_one() -> None:
    for digest in (A, B):
        records().record_deploy(digest)
    records().note(pending.DEPLOY, digest=C)
    records().note(pending.DEPLOY, digest=B)  # the rollback
    records().record_failure(C)
    assert records().last_good(C) == records().before(C) == B
    records().clearing(pending.DEPLOY)()
    assert records().last_good(C) == C, "somebody else has deployed it"


def test_a_deploy_that_never_began_leaves_the_record_of_the_one_before() -> None:
    records().record_deploy(A)
    records().note(pending.DEPLOY, digest=B)()
    assert records().outstanding() == {}
    records().note(pending.DEPLOY, digest=B)
    before = records().outstanding()
    records().note(pending.DEPLOY, digest=C)()
    records().record_failure(C)
    assert records().unconfirmed() == B and records().last_good(B) == A
    assert records().outstanding() == before, "with what tells its write from others"


@pytest.mark.parametrize("earlier", [False, True])
def test_a_change_that_was_not_made_leaves_what_another_run_recorded_since(
    earlier: bool, tmp_path: Path
) -> None:
    """The other run may be killed, and then its record alone tells of its change."""
    if earlier:
        records(tmp_path).note(pending.DEPLOY, digest=A)
    take_back = records(tmp_path).note(pending.DEPLOY, digest=B)
    records(tmp_path).note(pending.DEPLOY, digest=C)
    others = [records(folder).outstanding() for folder in (tmp_path, None)]
    take_back()
    assert [records(folder).outstanding() for folder in (tmp_path, None)] == others
    assert records().unconfirmed() == C


def test_a_change_that_was_not_made_leaves_what_was_recorded_right_before_it() -> None:
    """Also if that was recorded after the task has looked."""
    records().note(pending.ENVIRONMENT)
    before = records().outstanding()
    take_back = records().note(pending.ENVIRONMENT)
    records().note(pending.DEPLOY, digest=C)
    take_back()
    assert records().outstanding()[pending.ENVIRONMENT] == before[pending.ENVIRONMENT]
    assert records().unconfirmed() == C


def test_a_change_that_was_not_made_brings_nothing_back_that_is_in_effect_by_now() -> None:
    records().note(pending.DEPLOY, digest=B)
    take_back = records().note(pending.DEPLOY, digest=C)
    records().clearing(pending.DEPLOY)()
    take_back()
    assert records().outstanding() == {}


def test_what_somebody_else_deployed_ends_what_was_known() -> None:
    for digest in (A, B):
        records().record_deploy(digest)
    records().record_in_service(B)
    records().record_in_service(None)
    assert records().images() == [A, B]
    records().record_in_service(C)
    assert records().images() == [C]


def test_a_failed_deploy_is_undone_while_the_one_before_is_in_service() -> None:
    records().record_deploy(A)
    records().record_deploy(B)
    assert records().undone(B) is None and records().before(B) == A
    records().record_failure(C)
    assert records().undone(B) == C and records().before(B) is None
    assert records().undone(C) is None and records().undone(A) is None, "another deploy came in between"
    records().note(pending.DEPLOY, digest=B)
    assert records().undone(B) is None and records().before(B) == A, "what is in service does not run"
    records().clearing(pending.DEPLOY)()
    records().record_deploy(B)
    assert records().undone(B) is None and records().before(B) == A
