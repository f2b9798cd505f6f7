# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys of the account: each opens SFTP on all of its services (SSH keys)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal

from .._api import routes as r
from .._api.models import SshKey
from .._api.text import composed
from .shared.account import Account
from .shared.change import Change, Gone, Listed, creation, step_of
from .shared.names import same_name
from .shared.options import FilePath, Options, option
from .shared.plan import Plan, Resource, Step, Task
from .shared.public_key import PublicKey, keys_known_as, read_public_key
from .shared.task_errors import Invalid, NoSuchItem


@dataclass(frozen=True, kw_only=True)
class SshKeyOptions(Options):
    name: str | None = option(None, selects=True)
    public_key: str | None = option(None, selects=True, no_log=False, secret=True)  # a private one may come
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
        options = task.options
        path, text, absent = options.public_key_file, options.public_key, options.state == "absent"
        source = "public_key" if path is None else f"public_key_file {path!r}"
        try:
            text = text if path is None else Path(path).expanduser().read_text(encoding="utf-8")
        except (OSError, ValueError, RuntimeError) as error:  # not there, not text, or no path at all
            raise NoSuchItem(f"{source} cannot be read: {error}") from None
        key = None if text is None else read_public_key(text, source, skip_options=absent)
        if absent:
            return plan_absent(task, key or options.fingerprint)
        if key and options.name:
            return plan_present(task, key, options.name)
        raise Invalid("to register a key, give its name and public_key or public_key_file")


SSH_KEY = SshKeyResource()


def plan_present(task: Task[SshKeyOptions], key: PublicKey, name: str) -> Plan:
    """Plan the registration of a key; with ``replace``, the removal of another with its name after it."""
    found, keys = key.found(task.account), task.account.ssh_keys()
    others = [known for known in keys if same_name(known.name, name) and known not in found]
    if len(others) > task.options.replace:
        told = f"another key named {name!r} is registered, with fingerprint {fingerprints(others)}"
        raise Invalid(f"{told}; nothing was done. Set replace: true, if it is only one, or give another name")
    removals = [removal(task, other) for other in others]
    if found:
        if not same_name(found[0].name, name):
            task.warn(f"this key is registered as {found[0].name!r}; the platform cannot rename keys")
        return replace(as_it_is(found[0]), steps=removals)
    facts = {"name": name, "label": key.comment or None, "fingerprint": key.fingerprint}
    expected = SshKey.model_construct(None, id=None, algorithm=key.algorithm, **facts)
    plan = replace(as_it_is(expected), before=as_it_is(others[0]).before if others else {})
    body = {"name": composed(name), "publicKey": key.line}
    register = Change(what=f"SSH key {name!r}", route=r.SSH_KEY_ADD, body=body, shown=key, unique=True)
    summary = f"register SSH key {name!r} ({key.fingerprint})"
    plan.steps = [creation(summary, task, register, plan, as_it_is), *removals]
    return plan


def plan_absent(task: Task[SshKeyOptions], wanted: PublicKey | str | None) -> Plan:
    """Plan the removal of the key that the task names by key, fingerprint or name."""
    keys, name = task.account.ssh_keys(), task.options.name
    named = [known for known in keys if same_name(known.name, name)]
    found, prints = named if wanted is None else keys_known_as(wanted, keys), fingerprints(named)
    if wanted is None and len(named) > 1:
        raise Invalid(f"{len(named)} keys are named {name!r}: {prints}. Name one by fingerprint")
    if found and name is not None and found[0] not in named:
        told = f"the key is registered as {found[0].name!r}, but the task says name {name!r}"
        raise Invalid(f"{told}; nothing was done")
    if named and not found:
        task.warn(f"SSH key {name!r} has fingerprint {prints}, so it stays, and still opens SFTP")
    steps = [removal(task, known) for known in found]
    return Plan(result=None, steps=steps, before=as_it_is(found[0]).before if found else {})


def removal(task: Task[SshKeyOptions], key: SshKey) -> Step:
    what, gone = f"SSH key {key.name!r}", Gone(Listed(Account.ssh_keys, id=key.id))
    remove = Change(what=what, route=r.SSH_KEY_DELETE, ids={"id": key.id}, shown=gone)
    return step_of(f"remove {what} ({key.fingerprint})", task, remove)


def as_it_is(key: SshKey) -> Plan:
    facts = {"name": key.name, "fingerprint": key.fingerprint}
    return Plan(result=key.as_dict(), before=facts, after=facts)


def fingerprints(keys: Sequence[SshKey]) -> str:
    return ", ".join(str(key.fingerprint) for key in keys)
