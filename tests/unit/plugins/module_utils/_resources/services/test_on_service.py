# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which service a task works on, and what it has to offer for that."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Refused,
    TokenRejected,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.services import on_service
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_info import SFTP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    SERVICE_ID,
    Resource,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    Invalid,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient, task_of


@pytest.fixture
def client() -> FakeClient:
    """Two services of one name, in two projects and of two families."""
    client = FakeClient()
    client.add_project("prj_a", "a")
    client.add_service("s_1", "web", projectId="prj_a")
    client.add_service("s_2", "web", family="GAME")
    client.add_service("s_3", "db")
    return client


@pytest.mark.parametrize(
    ("given", "id"),
    [
        ({"service": "s_1"}, "s_1"),
        ({"service": "db"}, "s_3"),
        ({"service": "web", "project": "a"}, "s_1"),
        ({"service": "web", "family": "GAME"}, "s_2"),
        ({"service": "s_1", "project": "a", "family": "APP"}, "s_1"),
    ],
)
def test_a_service_is_named_by_id_or_by_what_narrows_its_name(
    client: FakeClient, given: dict[str, Any], id: str
) -> None:
    assert on_service.service_id(task_of(FILE_INFO, client, **given)) == id
    assert on_service.resolve_service(task_of(FILE_INFO, client, **given)).id == id


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"service": None}, Invalid, "no service is named"),
        ({"service": "web"}, Ambiguous, "s_1 in .* s_2 in"),
        ({"service": "s_1", "family": "GAME"}, Invalid, "nothing was done"),
        ({"service": "s_2", "project": "a"}, Invalid, "nothing was done"),
        ({"service": "dbx"}, NoSuchItem, "did you mean 'db'"),
        ({"service": "db", "project": "a"}, NoSuchItem, "is in another project"),
    ],
)
def test_what_is_not_one_service_is_refused(
    client: FakeClient, given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        on_service.service_id(task_of(FILE_INFO, client, **given))


def test_check_mode_foresees_a_service() -> None:
    task = task_of(FILE_INFO, FakeClient(), True, service="new")
    assert on_service.known_id(task) == "" and len(task.warnings) == 1
    with pytest.raises(NoSuchItem):
        on_service.known_id(task_of(FILE_INFO, FakeClient(), service="new"))


@pytest.mark.parametrize(("status", "explained"), [(400, True), (403, True), (401, False)])
def test_a_service_without_sftp_is_named(client: FakeClient, status: int, explained: bool) -> None:
    error = error_for_status("no", status)

    class Closed(FakeClient):
        def sftp(self, id: str) -> m.SftpAccess:
            raise error

    kind = Refused if explained else TokenRejected
    with pytest.raises(kind) as raised:
        on_service.access_of(task_of(FILE_INFO, Closed(), service="web"), "s_1")
    assert ("service 'web' (s_1) has no SFTP access: no" in raised.value.message) is explained


@pytest.mark.parametrize("resource", [SFTP_INFO, SFTP_HOST_KEY])
@pytest.mark.parametrize("option", ["service", "project", "family"])
def test_each_option_that_selects_a_service_is_in_place_of_the_host_and_must_hold_something(
    resource: Resource, option: str
) -> None:
    assert option in resource.selectors
    assert not resource.works_on_host({option: None})


def test_a_host_of_the_inventory_is_a_service() -> None:
    assert SFTP_INFO.works_on_host({}) and SFTP_INFO.host_options == {"service": (SERVICE_ID,)}
