# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys: recognised by the key itself, registered once, replaced and removed on request."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    Conflict,
    Interrupted,
    Refused,
    error_for_status,
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


@pytest.mark.parametrize(
    ("said", "calls", "left"),
    [
        ("409: a key named laptop exists already", ["add", "delete", "add"], [PRINT]),
        ("400: this name is taken", ["add", "delete", "add"], [PRINT]),
        ("400: keys of this type are not accepted", ["add"], [OTHER_PRINT]),
        ("400: the name laptop is too long", ["add"], [OTHER_PRINT]),
    ],
)
def test_a_key_makes_way_first_only_where_its_name_is_in_the_way(
    client: FakeClient, said: str, calls: list[str], left: list[str]
) -> None:
    """The old key opens until the new one does, unless the platform says that both cannot have the name."""
    client.add_key("key_1", "laptop", OTHER_PRINT)

    def refuse() -> None:
        if "key_1" in client.key_records:
            raise error_for_status(said, int(said[:3]))

    client.before["add_ssh_key"] = refuse
    plan, _task = planned(client, name="laptop", public_key=LINE, replace=True)
    if left == [PRINT]:
        carry_out(plan)
    else:
        with pytest.raises(Refused, match=said):
            carry_out(plan)
    assert [call[0].removesuffix("_ssh_key") for call in client.calls] == calls
    assert [record["fingerprint"] for record in client.key_records.values()] == left


def test_a_key_that_made_way_in_vain_is_named(client: FakeClient) -> None:
    """Which key opens no more is in the error: it cannot be put back, as only its fingerprint is known."""
    client.add_key("key_1", "laptop", OTHER_PRINT)

    def refuse() -> None:
        raise error_for_status("409: a key named laptop exists already", 409)

    client.before["add_ssh_key"] = refuse
    plan, _task = planned(client, name="laptop", public_key=LINE, replace=True)
    with pytest.raises(Refused) as caught:
        carry_out(plan)
    assert f"The key of this name, {OTHER_PRINT}, was removed before" in caught.value.message


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


def test_a_conflict_about_the_name_is_an_error_though_the_key_is_there(client: FakeClient) -> None:
    """The key is under another name than the task says."""
    client.after["add_ssh_key"] = raises(Conflict("a key of this name already exists", 409))
    plan, _task = planned(client, name="laptop", public_key=LINE)
    with pytest.raises(Conflict, match="of this name already exists"):
        carry_out(plan)


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
        with pytest.raises(Invalid, match=f"written as SHA256, and the platform shows MD5, as {md5}"):
            resource.plan(task_of(resource, client, fingerprint=given, **options))


# --- A platform whose fingerprints cannot be read -----------------------------------------------------------

ODD = ["0a1b2c3d", "SHA256:abcdef", "ed25519/ops", ""]


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest, client: FakeClient, monkeypatch: pytest.MonkeyPatch) -> FakeClient:
    """Return an account that shows fingerprints in one of these forms, and refuses a key that it has."""
    Clock(monkeypatch)
    numbers = itertools.count()
    client.fingerprint_of = lambda line: f"{request.param}{next(numbers) or ''}"
    client.add_key("key_0", "ops", client.fingerprint_of(LINE))
    return client


def holds(client: FakeClient, said: str = "409: this key is already present") -> None:
    client.before["add_ssh_key"] = raises(Conflict(said, 409))


@pytest.mark.parametrize("named", [{}, {"name": "ops"}, {"name": "other"}])
@pytest.mark.parametrize("given", [{"public_key": LINE}, {"fingerprint": PRINT}])
def test_a_key_does_not_pass_for_absent_if_no_fingerprint_can_be_read(
    odd: FakeClient, given: dict[str, str], named: dict[str, str]
) -> None:
    with pytest.raises(Invalid) as caught:
        planned(odd, state="absent", **given, **named)
    assert odd.calls == [] and len(odd.key_records) == 1
    if "public_key" in given:
        assert "whether the key is registered is not known" in caught.value.message
        assert "name: ops" in caught.value.message


def test_a_key_whose_fingerprint_cannot_be_read_is_removed_by_its_name(odd: FakeClient) -> None:
    plan, _task = planned(odd, state="absent", name="ops")
    carry_out(plan)
    assert odd.key_records == {}


def test_one_key_among_others_that_cannot_be_read_is_enough_to_doubt(client: FakeClient) -> None:
    client.add_key("key_1", "laptop", OTHER_PRINT)
    plan, _task = planned(client, state="absent", public_key=LINE)
    assert not plan.changed
    client.add_key("key_2", "ops", "0a1b2c3d")
    with pytest.raises(Invalid, match="the fingerprint '0a1b2c3d' for key 'ops'"):
        planned(client, state="absent", public_key=LINE)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", ["ops", "other"])
def test_a_conflict_tells_that_the_key_is_there(odd: FakeClient, name: str, replace: bool) -> None:
    """It is not removed to make way for itself. Which it is, its name has to say as well."""
    holds(odd)
    plan, task = planned(odd, name=name, public_key=LINE, replace=replace)
    assert "whether this key is registered is not known" in task.warnings[0]
    runner.apply_plan(plan, task)
    assert not task.effects.changed and list(odd.key_records) == ["key_0"]
    assert [call[0] for call in odd.calls] == ["add_ssh_key"]
    assert plan.result["id"] == ("key_0" if name == "ops" else None)


@pytest.mark.parametrize("name", ["ops", "second", "other"])
def test_which_of_several_a_conflict_is_about_is_not_known(odd: FakeClient, name: str) -> None:
    """A key that has the name of the task may be another one, which was to be replaced."""
    odd.add_key("key_1", "second", odd.fingerprint_of(OTHER))
    holds(odd)
    plan, task = planned(odd, name=name, public_key=LINE)
    runner.apply_plan(plan, task)
    assert not task.effects.changed and list(odd.key_records) == ["key_0", "key_1"]
    assert (plan.result["id"], plan.result["name"]) == (None, name)


def test_an_accepted_key_is_the_new_one_of_its_name(odd: FakeClient) -> None:
    plan, task = planned(odd, name="laptop", public_key=OTHER)
    runner.apply_plan(plan, task)
    assert task.effects.changed and plan.reread is not None and plan.reread()["id"] == "key_2"


def test_the_key_of_somebody_else_is_not_the_one_that_was_accepted(odd: FakeClient) -> None:
    """It is the only one on the list, and new, while the registered one is not shown yet."""
    theirs = {**odd.key_records.pop("key_0"), "name": "carol"}

    def show_theirs() -> None:
        odd.key_records = {"key_0": theirs}

    odd.after["add_ssh_key"] = show_theirs
    plan, task = planned(odd, name="ops", public_key=LINE)
    runner.apply_plan(plan, task)
    assert plan.reread is not None
    registered = plan.reread()
    assert (registered["id"], registered["name"]) == (None, "ops")


def test_a_key_from_before_is_not_the_one_whose_answer_was_lost(odd: FakeClient) -> None:
    """It has the name, and its fingerprint might be any, but it was there."""
    odd.before["add_ssh_key"] = raises(Interrupted("POST: reset"))
    plan, _task = planned(odd, name="ops", public_key=LINE)
    with pytest.raises(EffectUnverified, match="SSH key 'ops'"):
        carry_out(plan)
    assert list(odd.key_records) == ["key_0"]


def test_another_key_makes_way_once_the_new_one_is_listed(odd: FakeClient) -> None:
    plan, _task = planned(odd, name="ops", public_key=OTHER, replace=True)
    assert carry_out(plan)["id"] == "key_2"
    assert list(odd.key_records) == ["key_2"]


def test_no_key_makes_way_for_one_that_is_not_listed(odd: FakeClient) -> None:
    """A platform that accepts a key that it has would lose it."""
    kept = dict(odd.key_records)

    def forget() -> None:
        odd.key_records = dict(kept)

    odd.after["add_ssh_key"] = forget
    plan, task = planned(odd, name="ops", public_key=LINE, replace=True)
    assert carry_out(plan)["id"] == "key_0"
    assert list(odd.key_records) == ["key_0"] and "may be the very key" in task.warnings[-1]


def test_a_key_of_a_unique_name_makes_way_though_it_cannot_be_read(odd: FakeClient) -> None:
    def refuse() -> None:
        if "key_0" in odd.key_records:
            raise error_for_status("409: a key named ops exists already", 409)

    odd.before["add_ssh_key"] = refuse
    plan, _task = planned(odd, name="ops", public_key=OTHER, replace=True)
    carry_out(plan)
    assert "key_0" not in odd.key_records and len(odd.key_records) == 1


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


# --- A platform that stores names its own way ---------------------------------------------------------------


def registered(sandbox: Sandbox) -> list[tuple[str, str]]:
    """Return name and fingerprint of each key that the platform has."""
    keys = sandbox.api("GET", "/api/users/me/ssh-keys").json()
    return [(key["name"], key["fingerprint"]) for key in keys]


def test_a_key_that_makes_way_may_be_listed_for_a_while(sandbox: Sandbox) -> None:
    """Names are unique there: the old key goes first, and the next run does not remove it again."""
    sandbox.profile("plain", **{"key.name": "no", "removal.listed": "1 s late"})
    run(sandbox, SSH_KEY, name="laptop", public_key=LINE)
    renewed: dict[str, Any] = {"name": "laptop", "public_key": OTHER, "replace": True}
    assert [run(sandbox, SSH_KEY, **renewed)["changed"] for _run in range(2)] == [True, False]
    assert [line["method"] for line in sandbox.journal()].count("DELETE") == 1
