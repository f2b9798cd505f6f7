# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a write of a clone asks before it is made."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import Service
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import check_own
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


@pytest.fixture
def task() -> Task:
    """A task on a platform with one service, in the project of the clone."""

    def read(id: str) -> Service:
        return Service(id=id, name="copy", family="GAME", status="ACTIVE", project_id="prj-copy")

    return Task(cast(Any, SimpleNamespace(service=read)), Options())


def test_a_clone_in_its_project_may_be_written(task: Task) -> None:
    assert check_own(task, "svc_copy", "svc_source", "prj-copy").id == "svc_copy"


def test_the_source_may_not(task: Task) -> None:
    with pytest.raises(Invalid, match="is the source of the clone; nothing was written to it"):
        check_own(task, "svc_source", "svc_source", "prj-copy")


@pytest.mark.parametrize("project", [None, "prj-shop"])
def test_what_is_in_another_project_may_not(project: str | None, task: Task) -> None:
    with pytest.raises(Invalid, match="is not in the project of the clone"):
        check_own(task, "svc_copy", "svc_source", project)
