# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys of the account: each opens SFTP on all of its services (SSH keys)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._api.errors import Conflict
from .._api.models import SshKey
from .shared.names import same_name
from .shared.options import FilePath, Options, option
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task
from .shared.public_key import PublicKey, check_comparable, keys_with_fingerprint, read_public_key
from .shared.task_errors import Invalid, NoSuchItem
from .shared.waiting import await_removal, create, wait_for_new


@dataclass(frozen=True, kw_only=True)
class SshKeyOptions(Options):
    """The options of module ssh_key."""

    name: str | None = option(None, selects=True)
    public_key: str | None = option(None, selects=True, no_log=False, secret=True)
    """Secret, as somebody will paste a private key into it one day."""
    public_key_file: FilePath | None = option(None, selects=True, no_log=False, reads_file=True)
    fingerprint: str | None = option(None, selects=True)
    replace: bool = False
    state: Literal["present", "absent"] = "present"


class SshKeyResource(Resource[SshKeyOptions]):
    """A key, by its fingerprint or by its name."""

    result_key = "ssh_key"
    rules: ClassVar[dict[str, Any]] = {
        "mutually_exclusive": [("public_key", "public_key_file", "fingerprint")],
        "required_one_of": [("name", "public_key", "public_key_file", "fingerprint")],
    }

    def plan(self, task: Task[SshKeyOptions]) -> Plan:
        """Register or remove a key, on difference only."""
        key = given_key(task)
        if task.options.state == "absent":
            return plan_absent(task, key)
        if key is None or not task.options.name:
            raise Invalid("to register a key, give its name and public_key or public_key_file")
        return plan_present(task, key, task.options.name)


SSH_KEY = SshKeyResource()


def given_key(task: Task[SshKeyOptions]) -> PublicKey | None:
    """Return the key that the user gave, checked."""
    path, absent = task.options.public_key_file, task.options.state == "absent"
    if path is None:
        text = task.options.public_key
        return None if text is None else read_public_key(text, skip_options=absent)
    try:
        with open(os.path.expanduser(path), encoding="utf-8") as file:
            return read_public_key(file.read(), f"public_key_file {path!r}", skip_options=absent)
    except (OSError, ValueError) as error:  # not there, not text, or no path at all
        raise NoSuchItem(f"public_key_file {path!r} cannot be read: {error}") from None


def plan_present(task: Task[SshKeyOptions], key: PublicKey, name: str) -> Plan:
    """Plan the registration of a key; with ``replace``, the removal of another with its name after it."""
    keys = task.account.ssh_keys()
    registered = find_key(keys, key)
    others = [known for known in keys if same_name(known.name, name) and known is not registered]
    check_others(task, key, name, others)
    if registered is not None and not same_name(registered.name, name):
        task.warn(
            f"this key is registered as {registered.name!r}; the platform cannot rename keys, so the name "
            "stays"
        )
    plan = Plan(
        result=registered.as_dict() if registered else expected_key(key, name),
        reread=lambda: read_key(task, key).as_dict(),
        before=to_diff(registered) if registered else to_diff(others[0]) if others else {},
        after=to_diff(registered) if registered else {"name": name, "fingerprint": key.fingerprint},
    )
    plan.steps = [] if registered else [register_step(plan, task, key, name, keys)]
    plan.steps += [delete_step(task, other) for other in others]
    return plan


def find_key(keys: Sequence[SshKey], key: PublicKey) -> SshKey | None:
    """Return the registered key that is this one."""
    return next((known for known in keys if key.matches(known.fingerprint)), None)


def check_others(task: Task[SshKeyOptions], key: PublicKey, name: str, others: Sequence[SshKey]) -> None:
    """Check that of other keys with the name, one at most has to go, and may.

    :raises Invalid: naming them.
    """
    if others and not task.options.replace:
        raise Invalid(
            f"another key named {name!r} is registered, with fingerprint {others[0].fingerprint}. "
            "Set replace: true to put this one in its place, or choose another name"
        )
    if len(others) > 1:
        prints = ", ".join(str(other.fingerprint) for other in others)
        raise Invalid(
            f"{len(others)} other keys are named {name!r}: {prints}; nothing was done. Which of them this "
            "key replaces is not known. Remove those that are not needed, each by its fingerprint"
        )
    check_comparable(others, key)


def register_step(
    plan: Plan, task: Task[SshKeyOptions], key: PublicKey, name: str, before: Sequence[SshKey]
) -> Step:
    """Return the step that registers a key. If another run was faster, that is as good, and no change."""
    known = {old.id for old in before}

    def new_ones() -> list[SshKey]:
        found = find_key(task.account.ssh_keys(), key)
        return [found] if found and found.id not in known else []

    def register() -> object:
        try:
            create(lambda: task.client.add_ssh_key(name, key.line), new_ones, f"SSH key {name!r}", task)
        except Conflict:
            found = wait_for_new(lambda: find_key(task.account.ssh_keys(), key))
            if found is None:
                raise
            if len(plan.steps) == 1:
                plan.become(Plan(result=found.as_dict(), before=plan.after, after=plan.after))
            return NOTHING_DONE
        return None

    return Step(f"register SSH key {name!r} ({key.fingerprint})", register)


def delete_step(task: Task[SshKeyOptions], key: SshKey) -> Step:
    """Return the step that removes a registered key, and waits until the list does not show it."""

    def remove() -> None:
        task.client.delete_ssh_key(key.id)
        await_removal(
            task,
            lambda: any(other.id == key.id for other in task.account.ssh_keys()),
            f"SSH key {key.name!r}",
        )

    return Step(f"remove SSH key {key.name!r} ({key.fingerprint})", remove)


def plan_absent(task: Task[SshKeyOptions], key: PublicKey | None) -> Plan:
    """Plan the removal of the key that the task names by key, fingerprint or name."""
    keys, name = task.account.ssh_keys(), task.options.name
    namesakes = [known for known in keys if same_name(known.name, name)]
    wanted = key.fingerprint if key else task.options.fingerprint
    if wanted is None and len(namesakes) > 1:
        prints = ", ".join(str(known.fingerprint) for known in namesakes)
        raise Invalid(f"{len(namesakes)} keys are named {name!r}: {prints}. Name one by fingerprint")
    found = namesakes if wanted is None else keys_with_fingerprint(keys, key or wanted)
    for known in found:
        if name is not None and not same_name(name, known.name):
            raise Invalid(
                f"the key is registered as {known.name!r} ({known.fingerprint}), but the task says name "
                f"{name!r}; nothing was done. Correct the key or the name, or leave the name out"
            )
    for known in namesakes if not found else ():
        task.warn(
            f"SSH key {known.name!r} has fingerprint {known.fingerprint}, not {wanted}, which no key has; "
            f"nothing was removed, and key {known.name!r} still opens SFTP. To remove it, give its own "
            "fingerprint"
        )
    return Plan(
        result=None,
        steps=[delete_step(task, known) for known in found],
        before=to_diff(found[0]) if found else {},
    )


def to_diff(key: SshKey) -> dict[str, Any]:
    """Return a key for the diff."""
    return {"name": key.name, "fingerprint": key.fingerprint}


def expected_key(key: PublicKey, name: str) -> dict[str, Any]:
    """Return a key as expected after the task, as far as known."""
    return SshKey.model_construct(
        id=None, name=name, algorithm=key.algorithm, label=key.comment or None, fingerprint=key.fingerprint
    ).as_dict()


def read_key(task: Task[SshKeyOptions], key: PublicKey) -> SshKey:
    """Return the key as listed after its registration."""
    known = wait_for_new(lambda: find_key(task.account.ssh_keys(), key))
    if known is None:
        raise NoSuchItem(
            f"the platform accepted the key, but none of fingerprint {key.fingerprint} is on its list"
        )
    return known
