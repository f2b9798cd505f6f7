# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A service that the play is still to create: in check mode it has nothing yet, and nothing is written."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.services.placeholder import (
    EmptyServiceClient,
    placeholder_service,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import NoSuchItem
from unit.plugins.fakes import FakeClient, task_of

ERROR = NoSuchItem("there is no service named 'new'")


def test_outside_check_mode_it_is_missing() -> None:
    task = task_of(FILE_INFO, FakeClient(), service="new")
    with pytest.raises(NoSuchItem):
        placeholder_service(task, "new", "APP", ERROR)
    assert task.warnings == [] and not isinstance(task.client, EmptyServiceClient)


def test_in_check_mode_it_offers_everything_and_holds_nothing() -> None:
    task = task_of(FILE_INFO, FakeClient(), True, service="new")
    service = placeholder_service(task, "new", "APP", ERROR)
    assert (service.name, service.status, service.capabilities) == ("new", "ACTIVE", None)
    assert not service.id
    assert "only if the play creates it" in task.warnings[0]
    empty: Any = task.client
    assert isinstance(empty, EmptyServiceClient)
    assert [empty.files("", "/"), empty.backups(""), empty.snapshots("")] == [[], [], []]
    assert empty.database("").tables == []
    assert empty.database_query("", "SELECT 1").rows == [] and empty.sftp("").username is None
    assert not [name for name in dir(empty) if name.startswith(("create", "delete", "set", "write", "order"))]
