# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys of the account: each opens SFTP on all of its services (SSH keys)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._api import routes as r
from .._api.models import SshKey
from .._api.text import composed
from .shared.account import Account
from .shared.change import Change, Gone, Listed, creation, ids_of, step_of
from .shared.names import same_name
from .shared.options import FilePath, Options, option
from .shared.plan import Plan, Resource, Step, Task
from .shared.public_key import PublicKey, digest_of, keys_with_fingerprint, read_public_key
from .shared.task_errors import Invalid, NoSuchItem


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


@dataclass(frozen=True)
class Registered(Listed):
    """A key with one of these digests is registered."""

    digests: tuple[bytes, ...] = ()

    def found(self, account: Account) -> Sequence[SshKey]:
        """Return the keys, usually one."""
        return [key for key in super().found(account) if digest_of(key.fingerprint) in self.digests]


def plan_present(task: Task[SshKeyOptions], key: PublicKey, name: str) -> Plan:
    """Plan the registration of a key; with ``replace``, the removal of another with its name after it."""
    keys = task.account.ssh_keys()
    registered = next((known for known in keys if digest_of(known.fingerprint) in key.digests), None)
    others = [known for known in keys if same_name(known.name, name) and known is not registered]
    check_others(task, key, name, others)
    if registered is None:
        plan = plan_registration(task, key, name, keys)
        plan.before = to_diff(others[0]) if others else {}
    else:
        plan = as_it_is(registered)
        if not same_name(registered.name, name):
            named = f"this key is registered as {registered.name!r}"
            task.warn(f"{named}; the platform cannot rename keys, so the name stays")
    plan.steps = [*plan.steps, *(removal(task, other) for other in others)]
    return plan


def plan_registration(task: Task[SshKeyOptions], key: PublicKey, name: str, known: Sequence[SshKey]) -> Plan:
    """Plan a new key."""
    facts = {"name": name, "label": key.comment or None, "fingerprint": key.fingerprint}
    expected = SshKey.model_construct(None, id=None, algorithm=key.algorithm, **facts)
    plan = Plan(result=expected.as_dict(), after=to_diff(expected))
    register = Change(
        what=f"SSH key {name!r}",
        route=r.SSH_KEY_ADD,
        body={"name": composed(name), "publicKey": key.line},
        shown=Registered(Account.ssh_keys, known=ids_of(known), digests=key.digests),
        unique=True,
    )
    summary = f"register SSH key {name!r} ({key.fingerprint})"
    plan.steps = [creation(summary, task, register, plan, as_it_is)]
    return plan


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
    keys_with_fingerprint(others, key)


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
    steps = [removal(task, known) for known in found]
    return Plan(result=None, steps=steps, before=to_diff(found[0]) if found else {})


def removal(task: Task[SshKeyOptions], key: SshKey) -> Step:
    """Return the step that removes a registered key."""
    gone = Gone(Listed(Account.ssh_keys, id=key.id))
    remove = Change(what=f"SSH key {key.name!r}", route=r.SSH_KEY_DELETE, ids={"id": key.id}, shown=gone)
    return step_of(f"remove SSH key {key.name!r} ({key.fingerprint})", task, remove)


def as_it_is(key: SshKey) -> Plan:
    """Plan nothing."""
    return Plan(result=key.as_dict(), before=to_diff(key), after=to_diff(key))


def to_diff(key: SshKey) -> dict[str, Any]:
    """Return a key for the diff."""
    return {"name": key.name, "fingerprint": key.fingerprint}
