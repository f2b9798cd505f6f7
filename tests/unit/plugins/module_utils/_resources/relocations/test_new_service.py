# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which service is taken for the new one of a relocation, and which never is."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.new_service import (
    check_as_asked,
    find_made,
    read_new,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.relocations.in_memory import case


def test_a_service_of_the_new_name_is_that_of_a_run_that_was_killed(tmp_path: Path) -> None:
    """Only in the project of the old one, and not if another is known already."""
    found = case(tmp_path, Phase.ORDERED)
    found.account.add_project("prj_1", "other")
    del found.account.service_records["new"]
    found.account.add_service("svc_9", "survival-2", projectId="prj_1")

    def made(**facts: Any) -> str | None:
        known = {"new_id": None, "sent": "2026-11-20T03:00:00Z"}
        content = replace(found.work.record.content, **{**known, **facts})
        find_made(found.work.task, Relocation(found.work.record.file, content))
        return content.new_id

    assert made() is None
    found.account.add("new", "survival-2")
    assert made() == "new" and made(new_id="known") == "known"
    assert made(new_name="") is None and made(project_id=None) is None
    found.account.service_records["new"]["createdAt"] = "2026-11-20T03:09:00Z"
    assert made() == "new"
    found.account.service_records["new"]["createdAt"] = "2026-11-20T03:11:00Z"
    with pytest.raises(Invalid, match=r"created at 2026-11-20T03:11:00Z, has the name of the new service"):
        made()
    with pytest.raises(Invalid, match="not known to be the one that was ordered"):
        made(sent=None)
    found.account.add("second", "survival-2")
    found.account.service_records["second"]["createdAt"] = "2026-11-20T03:00:01Z"
    assert made() == "second", "the other one is older than the order"
    found.account.service_records["new"]["createdAt"] = "2026-11-20T03:00:02Z"
    with pytest.raises(Invalid, match=r"\(new\), .*\(second\) were created when the new service was ordered"):
        made()


def bucket(number: int) -> dict[str, Any]:
    """Return a service as it is listed."""
    return {"id": f"svc_{number}", "name": f"n{number}", "family": "BUCKET", "status": "ACTIVE"}


def test_on_the_way_back_a_service_that_is_not_known_stays(tmp_path: Path) -> None:
    found = case(tmp_path, Phase.ORDERED)
    content = replace(found.work.record.content, new_id=None, sent="2026-11-20T03:00:00Z")
    found.account.service_records["new"]["createdAt"] = "2026-11-20T03:11:00Z"
    task = replace(found.work.task, options=replace(found.work.task.options, state="returned"))
    find_made(task, Relocation(found.work.record.file, content))
    assert content.new_id is None and "and stays as it is" in task.warnings[0]
    adopting = replace(task, options=replace(found.work.task.options, existing="adopt"))
    find_made(adopting, Relocation(found.work.record.file, content))
    assert content.new_id == "new"


@pytest.mark.parametrize("phase", [Phase.ORDERED, Phase.STOPPED, Phase.RETURNED])
def test_a_service_that_took_the_name_of_one_that_is_gone_is_adopted_on_request_alone(
    phase: Phase, tmp_path: Path
) -> None:
    found = case(tmp_path, phase)
    del found.account.service_records["new"]
    found.account.add("theirs", found.work.record.content.new_name)
    with pytest.raises(Invalid, match=r"\(theirs\) has the name of the new service, and is not the one"):
        read_new(found.work)
    found.work.record.content.new_id = "new"
    found.work.task.options = replace(found.work.task.options, existing="adopt")
    adopted = read_new(found.work)
    assert adopted is not None and adopted.id == found.work.record.content.new_id == "theirs"


@pytest.mark.parametrize(
    ("pricing", "limit", "refused"),
    [({}, "7.99", True), ({}, "8.00", False), ({"pricing": None}, "7.99", False)],
    ids=["dearer", "as dear", "unknown"],
)
def test_the_new_service_is_kept_if_it_costs_no_more_than_the_task_allows(
    tmp_path: Path, pricing: dict[str, None], limit: str, refused: bool
) -> None:
    """An earlier task may have ordered it under another limit."""
    found = case(tmp_path, Phase.ORDERED)
    found.account.service_records["new"] |= pricing
    found.work.task.options = replace(found.work.task.options, max_monthly=limit)
    service = found.account.service("new")
    assert service is not None
    with pytest.raises(Invalid, match="max_monthly") if refused else nullcontext():
        check_as_asked(found.work, service)


def test_a_service_that_is_gone_is_forgotten_before_the_switch(tmp_path: Path) -> None:
    found = case(tmp_path, Phase.ORDERED)
    del found.account.service_records["new"]
    assert read_new(found.work) is None and found.work.record.content.new_id is None
