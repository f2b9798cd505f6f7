# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys: recognised by the key itself, registered once, replaced and removed on request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Conflict,
    Interrupted,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared import runner
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Plan, Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.public_key import (
    read_public_key,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import (
    EffectUnverified,
    Invalid,
    NoSuchItem,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key import SSH_KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key_info import SSH_KEY_INFO
from hosted_sandbox.testing import Sandbox
from unit.plugins.fakes import Clock, FakeClient, carry_out, task_of
from unit.plugins.module_utils._resources.platform import run


def new_line() -> str:
    public = Ed25519PrivateKey.generate().public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode() + " me"


LINE, OTHER = new_line(), new_line()
FINGERPRINT = read_public_key(LINE).fingerprint
PRINT, OTHER_PRINT = (read_public_key(line).fingerprint for line in (LINE, OTHER))


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


def test_a_new_key_is_registered_once(client: FakeClient) -> None:
    plan, _task = planned(client, name="laptop", public_key=LINE)
    assert (plan.before, plan.after) == ({}, {"name": "laptop", "fingerprint": PRINT})
    result = carry_out(plan)
    assert client.calls == [("add_ssh_key", "laptop", LINE)]
    assert result["fingerprint"] == PRINT
    assert set(result) == set(plan.result)
    client.calls.clear()
    again, task = planned(client, name="laptop", public_key=LINE)
    assert not again.changed
    assert again.before == again.after
    assert task.warnings == []


def test_a_key_is_the_same_under_another_comment_and_in_a_file(client: FakeClient, tmp_path: Path) -> None:
    client.add_key("key_1", "laptop", PRINT)
    path = tmp_path / "id.pub"
    path.write_text(LINE.removesuffix(" me") + " another comment\n")
    plan, _task = planned(client, name="laptop", public_key_file=str(path))
    assert not plan.changed


def test_a_key_that_is_registered_under_another_name_stays_with_a_warning(client: FakeClient) -> None:
    client.add_key("key_1", "old", PRINT)
    plan, task = planned(client, name="laptop", public_key=LINE)
    assert not plan.changed
    assert plan.result["name"] == "old"
    assert "registered as 'old'; the platform cannot rename keys" in task.warnings[0]


def test_another_key_of_the_name_is_replaced_on_request_only(client: FakeClient) -> None:
    client.add_key("key_1", "laptop", OTHER_PRINT)
    with pytest.raises(Invalid, match="another key named 'laptop' is registered") as caught:
        planned(client, name="laptop", public_key=LINE)
    assert OTHER_PRINT in caught.value.message
    plan, _task = planned(client, name="laptop", public_key=LINE, replace=True)
    carry_out(plan)
    assert [call[0] for call in client.calls] == ["add_ssh_key", "delete_ssh_key"], "no time without a key"
    assert [record["fingerprint"] for record in client.key_records.values()] == [PRINT]


@pytest.mark.parametrize("known", [(), (PRINT,)])
def test_one_of_several_keys_of_a_name_is_not_chosen_for_replacement(
    client: FakeClient, known: tuple[str, ...]
) -> None:
    """Two colleagues may each have a laptop: one of them would be locked out."""
    for number, fingerprint in enumerate((OTHER_PRINT, f"{OTHER_PRINT[:-1]}x", *known)):
        client.add_key(f"key_{number}", "laptop", fingerprint)
    with pytest.raises(Invalid, match="2 other keys are named 'laptop'") as caught:
        planned(client, name="laptop", public_key=LINE, replace=True)
    assert OTHER_PRINT in caught.value.message
    assert client.calls == []


@pytest.mark.parametrize("given", [{"public_key": LINE}, {"fingerprint": PRINT}])
def test_a_key_that_is_registered_under_another_name_is_not_removed(
    client: FakeClient, given: dict[str, str]
) -> None:
    client.add_key("key_1", "laptop", PRINT)
    with pytest.raises(Invalid, match=r"registered as 'laptop' .* but the task says name 'desktop'"):
        planned(client, state="absent", name="desktop", **given)


@pytest.mark.parametrize(
    "given",
    [
        {"name": "laptop"},
        {"public_key": LINE},
        {"fingerprint": PRINT},
        {"fingerprint": PRINT.removeprefix("SHA256:")},
        {"public_key": LINE, "name": "laptop"},
    ],
)
def test_a_key_is_removed_by_name_key_or_fingerprint(client: FakeClient, given: dict[str, Any]) -> None:
    client.add_key("key_1", "laptop", PRINT)
    client.add_key("key_2", "desktop", OTHER_PRINT)
    plan, _task = planned(client, state="absent", **given)
    assert plan.before == {"name": "laptop", "fingerprint": PRINT}
    carry_out(plan)
    assert client.calls == [("delete_ssh_key", "key_1")]
    client.calls.clear()
    again, _task = planned(client, state="absent", **given)
    assert not again.changed


def test_a_name_of_several_keys_removes_none(client: FakeClient) -> None:
    client.add_key("key_1", "laptop", PRINT)
    client.add_key("key_2", "laptop", OTHER_PRINT)
    with pytest.raises(Invalid, match="2 keys are named 'laptop'") as caught:
        planned(client, state="absent", name="laptop")
    assert PRINT in caught.value.message
    assert OTHER_PRINT in caught.value.message


@pytest.mark.parametrize("given", [{"public_key": LINE}, {"fingerprint": PRINT}])
def test_a_key_of_the_name_with_another_fingerprint_is_told(
    client: FakeClient, given: dict[str, str]
) -> None:
    """The key of the fingerprint is absent, as the task says; the one of the name is another."""
    client.add_key("key_1", "laptop", OTHER_PRINT)
    plan, task = planned(client, state="absent", name="laptop", **given)
    assert not plan.changed
    [told] = task.warnings
    assert told == (
        f"SSH key 'laptop' has fingerprint {OTHER_PRINT}, not {PRINT}, which no key has; nothing was "
        "removed, and key 'laptop' still opens SFTP. To remove it, give its own fingerprint"
    )


@pytest.mark.parametrize("given", [{"name": "laptop"}, {"public_key": LINE}, {"fingerprint": PRINT}])
def test_a_registration_needs_name_and_key(client: FakeClient, given: dict[str, Any]) -> None:
    with pytest.raises(Invalid, match="give its name and public_key"):
        planned(client, **given)


def test_a_file_that_cannot_be_read_is_named(client: FakeClient, tmp_path: Path) -> None:
    with pytest.raises(NoSuchItem, match="cannot be read"):
        planned(client, name="laptop", public_key_file=str(tmp_path / "gone.pub"))
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(NoSuchItem, match="cannot be read"):
        planned(client, name="laptop", public_key_file=str(binary))


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
    assert plan.result["fingerprint"] == PRINT and plan.result["id"]
    assert not task.effects.changed and plan.before == plan.after


def test_a_conflict_is_an_error_when_the_key_is_not_there(client: FakeClient) -> None:
    client.before["add_ssh_key"] = raises(Conflict("409", 409))
    plan, _task = planned(client, name="laptop", public_key=LINE)
    with pytest.raises(Conflict):
        carry_out(plan)


def test_a_lost_answer_is_looked_up_and_nothing_is_sent_twice(
    client: FakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    Clock(monkeypatch)
    client.after["add_ssh_key"] = raises(Interrupted("reset"))
    plan, task = planned(client, name="laptop", public_key=LINE)
    assert carry_out(plan)["name"] == "laptop"
    assert len(client.calls) == len(task.warnings) == 1
    client.before["add_ssh_key"] = raises(Interrupted("reset"))
    client.calls.clear()
    client.key_records.clear()
    plan, _task = planned(client, name="laptop", public_key=LINE)
    with pytest.raises(EffectUnverified):
        carry_out(plan)
    assert len(client.calls) == 1


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


def test_keys_are_read_by_name_and_fingerprint(client: FakeClient) -> None:
    client.add_key("key_1", "laptop", PRINT)
    client.add_key("key_2", "desktop", OTHER_PRINT)

    def ids(**given: Any) -> list[str]:
        return [key["id"] for key in SSH_KEY_INFO.plan(task_of(SSH_KEY_INFO, client, **given)).result]

    assert ids() == ["key_1", "key_2"]
    assert ids(name="desktop") == ["key_2"]
    assert ids(fingerprint=PRINT.removeprefix("SHA256:") + "=") == ["key_1"]
    assert ids(name="desktop", fingerprint=PRINT) == []


@pytest.mark.parametrize("given", [PRINT, PRINT.removeprefix("SHA256:")], ids=["prefixed", "bare"])
def test_a_fingerprint_that_cannot_be_compared_does_not_pass_for_absent(
    client: FakeClient, given: str
) -> None:
    md5 = "0a:1b:2c:3d:4e:5f:60:71:82:93:a4:b5:c6:d7:e8:f9"
    client.add_key("k1", "laptop", md5)
    for resource in (SSH_KEY, SSH_KEY_INFO):
        options: dict[str, Any] = {"state": "absent"} if resource is SSH_KEY else {}
        with pytest.raises(Invalid, match=f"shows the fingerprint '{md5}' for key 'laptop', which cannot"):
            resource.plan(task_of(resource, client, fingerprint=given, **options))


@pytest.mark.parametrize(
    ("shown", "said"), [("0a1b2c3d", "the fingerprint '0a1b2c3d'"), ("", "no fingerprint")]
)
def test_a_key_of_which_no_fingerprint_can_be_read_may_be_the_one(
    client: FakeClient, shown: str, said: str
) -> None:
    """It does not pass for absent, and makes way for no other; its name alone removes it."""
    client.add_key("key_1", "laptop", OTHER_PRINT)
    plan, _task = planned(client, state="absent", public_key=LINE)
    assert not plan.changed
    client.add_key("key_2", "ops", shown)
    for given in (
        {"state": "absent", "public_key": LINE},
        {"state": "absent", "fingerprint": PRINT},
        {"name": "ops", "public_key": LINE, "replace": True},
    ):
        with pytest.raises(Invalid, match=f"shows {said} for key 'ops', which cannot be compared"):
            planned(client, **given)
    plan, _task = planned(client, state="absent", name="ops")
    carry_out(plan)
    assert list(client.key_records) == ["key_1"]


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
