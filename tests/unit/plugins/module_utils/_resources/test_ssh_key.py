# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys: from a file, registered once whatever becomes of the call, and private ones never shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ansible_collections.hosted.services.plugins.module_utils._api.errors import Conflict, Interrupted
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import runner
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.public_key import (
    read_public_key,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key import SSH_KEY
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run


def new_line() -> str:
    public = Ed25519PrivateKey.generate().public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() + " me"


LINE, OTHER = new_line(), new_line()
FINGERPRINT = read_public_key(LINE).fingerprint
OTHER_PRINT = read_public_key(OTHER).fingerprint


@pytest.fixture
def client() -> FakeClient:
    client = FakeClient()
    client.fingerprint_of = lambda line: read_public_key(line).fingerprint
    return client


def planned(client: FakeClient, **given: Any) -> tuple[Plan, Task]:
    task = task_of(SSH_KEY, client, **given)
    plan = SSH_KEY.plan(task)
    assert client.calls == []
    return plan, task


def test_a_private_key_in_the_file_is_refused(client: FakeClient, tmp_path: Path) -> None:
    path = tmp_path / "id"
    path.write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n")
    with pytest.raises(Invalid, match=f"^public_key_file '{path}' holds a private key") as caught:
        planned(client, name="laptop", public_key_file=str(path))
    assert "c2VjcmV0" not in caught.value.message


def raises(error: Exception) -> Any:
    def run() -> None:
        raise error

    return run


def test_a_conflict_counts_as_done_when_the_key_is_there(client: FakeClient) -> None:
    """That is no change of this task: somebody was faster."""
    client.after["add_ssh_key"] = raises(Conflict("409", 409))
    plan, task = planned(client, name="laptop", public_key=LINE)
    runner.apply_plan(plan, task)
    assert plan.result["fingerprint"] == FINGERPRINT and plan.result["id"]
    assert not task.effects.actions and plan.before == plan.after


def test_a_key_that_cannot_be_compared_and_is_this_one_makes_way_for_no_other(client: FakeClient) -> None:
    """The platform refuses the second one, and what follows is not done."""
    client.add_key("key_1", "laptop", "0a1b2c3d")
    client.before["add_ssh_key"] = raises(Conflict("409", 409))
    plan, task = planned(client, name="laptop", public_key=LINE, replace=True)
    with pytest.raises(Conflict):
        runner.apply_plan(plan, task)
    assert [call[0] for call in client.calls] == ["add_ssh_key"]


def test_a_key_that_somebody_else_registers_is_not_the_one_whose_answer_was_lost(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)

    def register_another() -> None:
        client.add_key("key_1", "desktop", OTHER_PRINT)
        raise Interrupted("reset")

    client.before["add_ssh_key"] = register_another
    plan, _task = planned(client, name="laptop", public_key=LINE)
    with pytest.raises(EffectUnverified, match="SSH key 'laptop'"):
        carry_out(plan)


PASTED = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0c2VjcmV0\nc2V\n-----END OPENSSH PRIVATE KEY-----\n"


@pytest.mark.parametrize("name", ["fingerprint", "public_key", "name"])
def test_a_private_key_is_not_shown_in_whichever_option_it_is(sandbox: Sandbox, name: str) -> None:
    given: dict[str, Any] = {"public_key": LINE, "name": "laptop", name: PASTED}
    if name == "fingerprint":
        given = {name: PASTED}
    result = run(sandbox, SSH_KEY, **given, state="absent")
    assert "c2Vj" not in json.dumps(result)
    if name != "name":
        assert result["failed"] and f"{name} holds a private key" in result["msg"]
