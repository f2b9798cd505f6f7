# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading SSH keys: which ones, by name and by fingerprint in any usual notation."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key_info import SSH_KEY_INFO
from unit.plugins.fakes import FakeClient, task_of

MD5 = "0a1b2c3d4e5f60718293a4b5c6d7e8f9"


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.add_key("k1", "deploy", "SHA256:" + "b" * 43)
    client.add_key("k2", "deploy", ":".join(MD5[at : at + 2] for at in range(0, 32, 2)))
    client.add_key("k3", "laptop", "SHA256:" + "a" * 43)
    return client


@pytest.mark.parametrize(
    ("given", "ids"),
    [
        ({}, ["k1", "k2", "k3"]),
        ({"name": "deploy"}, ["k1", "k2"]),
        ({"name": "Deploy"}, []),
        ({"fingerprint": "b" * 43}, ["k1"]),
        ({"fingerprint": "MD5:" + MD5.upper()}, ["k2"]),
        ({"name": "laptop", "fingerprint": "SHA256:" + "b" * 43}, []),
    ],
)
def test_which_keys(client: FakeClient, given: dict[str, Any], ids: list[str]) -> None:
    plan = SSH_KEY_INFO.plan(task_of(SSH_KEY_INFO, client, **given))
    assert [key["id"] for key in plan.result] == ids
    assert not plan.changed


def test_a_digest_that_cannot_be_compared_is_no_answer(client: FakeClient) -> None:
    """Of the key with an MD5, nobody can tell whether this SHA256 is its own."""
    with pytest.raises(Invalid, match="for key 'deploy', which cannot be compared"):
        SSH_KEY_INFO.plan(task_of(SSH_KEY_INFO, client, fingerprint="SHA256:" + "A" * 43))
