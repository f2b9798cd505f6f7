# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading SFTP access: by name or id, and never a password."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_info import SFTP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    Ambiguous,
    NoSuchItem,
)
from unit.plugins.fakes import FakeClient, task_of


class Account(FakeClient):
    """The account with the SFTP access of its services."""

    def sftp(self, id: str) -> m.SftpAccess:
        return m.SftpAccess.model_validate(
            {"host": "node", "port": 2022, "username": f"user-{id}", "fingerprint": "SHA256:x"}
        )


@pytest.fixture
def client() -> Account:
    client = Account()
    client.add_project("prj_1", "games")
    client.add_service("svc_1", "survival", projectId="prj_1", family="GAME")
    client.add_service("svc_2", "survival", family="COMPUTE")
    client.add_service("svc_3", "svc_1")
    return client


def user(client: Account, service: str, **given: Any) -> str:
    plan = SFTP_INFO.plan(task_of(SFTP_INFO, client, service=service, **given))
    assert not plan.changed and client.calls == []
    return str(plan.result["username"])


def test_an_id_wins_over_a_name(client: Account) -> None:
    assert user(client, "svc_1") == "user-svc_1"


@pytest.mark.parametrize("narrowed", [{"project": "games"}, {"project": "prj_1"}, {"family": "GAME"}])
def test_a_name_is_narrowed(client: Account, narrowed: dict[str, str]) -> None:
    assert user(client, "survival", **narrowed) == "user-svc_1"


def test_a_name_of_several_lists_them(client: Account) -> None:
    with pytest.raises(Ambiguous, match="svc_1, svc_2"):
        user(client, "survival")


def test_one_that_is_not_there(client: Account) -> None:
    with pytest.raises(NoSuchItem, match="did you mean 'survival'"):
        user(client, "survivl")


def test_the_access_as_it_is(client: Account) -> None:
    result = SFTP_INFO.plan(task_of(SFTP_INFO, client, service="svc_2")).result
    assert result == {
        "host": "node",
        "port": 2022,
        "username": "user-svc_2",
        "password_set_at": None,
        "fingerprint": "SHA256:x",
    }
