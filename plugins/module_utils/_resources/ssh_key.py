# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys of the account: each opens SFTP on all of its services (SSH keys)."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from .._api.errors import Conflict, HostedError, Refused
from .._api.models import SshKey
from .shared.names import same_name
from .shared.options import FilePath, Options, option
from .shared.plan import NOTHING_DONE, Plan, Resource, Step, Task
from .shared.public_key import PublicKey, is_comparable, keys_with_fingerprint, read_public_key
from .shared.task_errors import Invalid, NoSuchItem
from .shared.waiting import QUIET_SECONDS, await_removal, create, wait_for_new


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


@dataclass
class Rivals:
    """Registered keys that a task removes: those ``left`` to remove, and those ``kept`` after all."""

    left: Sequence[SshKey]
    kept: Sequence[SshKey] = ()


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
            keys = task.client.ssh_keys()
            found = find_targets(keys, key, task)
            check_key_name(found, task.options.name)
            if not found:
                check_absence(keys, key or task.options.fingerprint)
            wanted = key.fingerprint if key else task.options.fingerprint
            if not found and wanted is not None:
                warn_of_key_left(task, keys, wanted)
            return plan_absent(task, found)
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


def find_targets(keys: Sequence[SshKey], key: PublicKey | None, task: Task[SshKeyOptions]) -> list[SshKey]:
    """Return the registered keys that the task selects: by key, fingerprint or name."""
    if key is not None:
        return [known for known in keys if key.matches(known.fingerprint)]
    wanted = task.options.fingerprint
    if wanted is not None:
        return keys_with_fingerprint(keys, wanted)
    return [known for known in keys if same_name(known.name, task.options.name)]


def check_absence(keys: Sequence[SshKey], wanted: PublicKey | str | None) -> None:
    """Check that the fingerprints of all keys show that none is the wanted one, which was not found.

    :raises Invalid: naming one that may be it: it would go on opening SFTP.
    """
    other = next((key for key in keys if wanted and not is_comparable(key.fingerprint, wanted)), None)
    if other is not None:
        raise Invalid(
            f"whether the key is registered is not known, and nothing was removed: {describe_print(other)}, "
            "which cannot be compared with what the task gives. If that is the key, give its name alone, "
            f"as in name: {other.name}"
        )


def describe_print(key: SshKey) -> str:
    """Describe the fingerprint of a key, which may be in any form, for messages."""
    shown = f"the fingerprint {key.fingerprint!r}" if key.fingerprint else "no fingerprint"
    return f"the platform shows {shown} for key {key.name!r}"


def check_key_name(keys: Sequence[SshKey], name: str | None) -> None:
    """Check that a key to remove is not registered under another name.

    :raises Invalid: naming both.
    """
    for key in keys:
        if name is not None and not same_name(name, key.name):
            raise Invalid(
                f"the key is registered as {key.name!r} ({key.fingerprint}), but the task says name "
                f"{name!r}; nothing was done. Correct the key or the name, or leave the name out"
            )


def plan_present(task: Task[SshKeyOptions], key: PublicKey, name: str) -> Plan:
    """Plan the registration of a key; with ``replace``, the removal of others with its name."""
    keys = task.client.ssh_keys()
    registered = next((known for known in keys if key.matches(known.fingerprint)), None)
    others = [known for known in keys if same_name(known.name, name) and known is not registered]
    unread = [] if registered else unreadable(keys, key)
    warn_of_unread(task, unread)
    if not task.options.replace:  # one that may be this key stays, and is no reason to refuse it
        others = [other for other in others if other not in unread]
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
    if registered is not None and not same_name(registered.name, name):
        task.warn(
            f"this key is registered as {registered.name!r}; the platform cannot rename keys, so the name "
            "stays"
        )
    rivals = Rivals(others)
    plan = Plan(
        result=registered.as_dict() if registered else expected_key(key, name),
        reread=lambda: read_key(task, key, keys, there=bool(rivals.kept)),
        before=to_diff(registered) if registered else to_diff(others[0]) if others else {},
        after=to_diff(registered) if registered else {"name": name, "fingerprint": key.fingerprint},
    )
    plan.steps = [] if registered else [register_step(plan, task, key, keys, rivals)]
    plan.steps += [delete_step(task, other, rivals) for other in others]
    return plan


def warn_of_unread(task: Task[SshKeyOptions], unread: Sequence[SshKey]) -> None:
    """Tell that a key to register may be one of those whose fingerprints cannot be read."""
    if unread:
        task.warn(
            f"whether this key is registered is not known: {describe_print(unread[0])}, which cannot be "
            "compared with the key. Its registration is tried, as the platform refuses a key that it has"
        )


def warn_of_key_left(task: Task[SshKeyOptions], keys: Sequence[SshKey], wanted: str) -> None:
    """Tell of keys that have the name of the key to remove, and are left alone.

    ``wanted`` is the fingerprint that the task names as well, and that no key has.
    """
    for key in (known for known in keys if same_name(known.name, task.options.name)):
        task.warn(
            f"SSH key {key.name!r} has fingerprint {key.fingerprint}, not {wanted}, which no key has; "
            f"nothing was removed, and key {key.name!r} still opens SFTP. To remove it, give its own "
            "fingerprint"
        )


def register_step(
    plan: Plan,
    task: Task[SshKeyOptions],
    key: PublicKey,
    keys: Sequence[SshKey],
    rivals: Rivals,
) -> Step:
    """Return the step that registers a key. Keys that it replaces or keeps are no longer ``left``."""
    name = task.options.name or ""
    add = add_call(task, key, keys, rivals)

    def register() -> object:
        outcome = replace_keys(task, rivals, name, add)
        if outcome is NOTHING_DONE and not rivals.left:
            found = read_key(task, key, keys, there=True)
            plan.become(Plan(result=found, before=plan.after, after=plan.after))
        return outcome

    return Step(f"register SSH key {name!r} ({key.fingerprint})", register)


def replace_keys(
    task: Task[SshKeyOptions], rivals: Rivals, name: str, register: Callable[[], object]
) -> object:
    """Register a key before removing those with its name, so that one always works; after it if necessary.

    Whether two keys may have the same name is not documented. If a refusal is about the name, they may not.
    """
    try:
        return register()
    except Refused as error:
        if not rivals.left or not is_name_conflict(error):
            raise
        [other] = rivals.left  # as several of a name are refused
        remove_key(task, other)
        rivals.left = ()
        try:
            register()
        except HostedError as again:
            again.append(
                f". The key of this name, {other.fingerprint}, was removed before, to make way for it"
            )
            raise
        return None


def is_name_conflict(error: Refused) -> bool:
    """Tell whether a refusal is about the name of a key, not about the key."""
    said = error.message.lower()
    return bool(
        re.search(r"\bname", said) and re.search(r"exist|taken|already|in use|unique|duplicate", said)
    )


def add_call(
    task: Task[SshKeyOptions],
    key: PublicKey,
    keys: Sequence[SshKey],
    rivals: Rivals,
) -> Callable[[], object]:
    """Return the call that registers the key. A 409 because it already exists is as good, and no change.

    Where fingerprints cannot be read, that 409 alone tells that the key is there. It may then be one of
    those to remove, so it is kept.
    """
    name = task.options.name or ""

    def add() -> str | None:
        return task.client.add_ssh_key(name, key.line)

    def new_ones() -> list[SshKey]:
        return find_new(task.client.ssh_keys(), key, name, keys)

    def run() -> object:
        try:
            id, __ = create(add, new_ones, f"SSH key {name!r}", task)
        except Conflict as error:
            if is_name_conflict(error) or not wait_for_new(lambda: may_be_listed(task, key)):
                raise
            keep(task, rivals, key)
            return NOTHING_DONE
        if unreadable(rivals.left, key) and not wait_for_new(lambda: any_new(task, keys, id)):
            keep(task, rivals, key)
        return None

    return run


def keep(task: Task[SshKeyOptions], rivals: Rivals, key: PublicKey) -> None:
    """Take those from the keys to remove that may be the registered key itself, and tell of them."""
    rivals.kept = unreadable(rivals.left, key)
    rivals.left = [other for other in rivals.left if other not in rivals.kept]
    for other in rivals.kept:
        task.warn(
            f"SSH key {other.name!r} was not removed, as it may be the very key of this task: "
            f"{describe_print(other)}. If it is another one, remove it by that fingerprint"
        )


def unreadable(keys: Sequence[SshKey], key: PublicKey) -> list[SshKey]:
    """Return the registered keys of which cannot be known that they are not this one."""
    return [known for known in keys if not is_comparable(known.fingerprint, key)]


def may_be_listed(task: Task[SshKeyOptions], key: PublicKey) -> bool | None:
    """Tell whether the list shows the key, or one that may be it; ``None`` if it does not."""
    keys = task.client.ssh_keys()
    return True if unreadable(keys, key) or any(key.matches(known.fingerprint) for known in keys) else None


def any_new(task: Task[SshKeyOptions], keys: Sequence[SshKey], id: str | None) -> bool | None:
    """Tell whether a registration made a key that was not among ``keys``; ``None`` if it did not."""
    known = {key.id for key in keys}
    if id is not None and id not in known:
        return True
    return True if any(new.id not in known for new in task.client.ssh_keys()) else None


def find_new(keys: Sequence[SshKey], key: PublicKey, name: str, before: Sequence[SshKey]) -> list[SshKey]:
    """Return the keys that are new on the list and are this one, or can be no other."""
    known = {old.id for old in before}
    maybe = [new for new in unreadable(keys, key) if same_name(new.name, name)]
    return [new for new in keys if new.id not in known and (key.matches(new.fingerprint) or new in maybe)]


def remove_key(task: Task[SshKeyOptions], key: SshKey) -> None:
    """Remove a registered key, and wait until the list does not show it."""
    task.client.delete_ssh_key(key.id)
    await_removal(
        task,
        lambda: any(other.id == key.id for other in task.client.ssh_keys()),
        f"SSH key {key.name!r}",
    )


def delete_step(task: Task[SshKeyOptions], key: SshKey, rivals: Rivals) -> Step:
    """Return the step that removes a registered key, unless it was removed in the meantime, or is kept."""

    def remove() -> object:
        if key in rivals.left:
            remove_key(task, key)
        return NOTHING_DONE if key in rivals.kept else None

    return Step(f"remove SSH key {key.name!r} ({key.fingerprint})", remove)


def plan_absent(task: Task[SshKeyOptions], keys: Sequence[SshKey]) -> Plan:
    """Plan the removal of these keys."""
    named = task.options.public_key or task.options.public_key_file or task.options.fingerprint
    if len(keys) > 1 and not named:
        prints = ", ".join(str(key.fingerprint) for key in keys)
        raise Invalid(f"{len(keys)} keys are named {task.options.name!r}: {prints}. Name one by fingerprint")
    return Plan(
        result=None,
        steps=[delete_step(task, key, Rivals(keys)) for key in keys],
        before=to_diff(keys[0]) if keys else {},
    )


def to_diff(key: SshKey) -> dict[str, Any]:
    """Return a key for the diff."""
    return {"name": key.name, "fingerprint": key.fingerprint}


def expected_key(key: PublicKey, name: str) -> dict[str, Any]:
    """Return a key as expected after the task, as far as known."""
    return SshKey.model_construct(
        id=None, name=name, algorithm=key.algorithm, label=key.comment or None, fingerprint=key.fingerprint
    ).as_dict()


def read_key(
    task: Task[SshKeyOptions], key: PublicKey, before: Sequence[SshKey], *, there: bool = False
) -> dict[str, Any]:
    """Return the key as listed after its registration; ``before`` are those of the list before it.

    Where its fingerprint cannot be read, it is the new one of its name; if it was ``there``, the one of its
    name if it can be no other. Another new one may be somebody else's.
    """
    name = task.options.name or ""
    seconds = 0 if there else QUIET_SECONDS
    known = wait_for_new(lambda: listed_key(task.client.ssh_keys(), key, name, before, there), seconds)
    if known is not None:
        return known.as_dict()
    if not unreadable(task.client.ssh_keys(), key):
        raise NoSuchItem(
            f"the platform accepted the key, but none of fingerprint {key.fingerprint} is on its list"
        )
    return expected_key(key, name)


def listed_key(
    keys: Sequence[SshKey], key: PublicKey, name: str, before: Sequence[SshKey], there: bool
) -> SshKey | None:
    """Return the key from a list, recognized as :func:`read_key` says."""
    same = [known for known in keys if key.matches(known.fingerprint)]
    found = same or find_new(keys, key, name, before)
    if not found and there:
        found = unreadable(keys, key)
    if same or (len(found) == 1 and same_name(found[0].name, name)):
        return found[0]
    return None
