# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""SSH keys of the account: each opens SFTP on all of its services (SSH keys)."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from .._api import routes as r
from .._api.libraries import load_ssh_public_key, rsa
from .._api.models import SshKey
from .._api.text import PRIVATE_KEY, composed
from .shared.account import Account
from .shared.change import Change, Gone, Listed, creation, ids_of, step_of
from .shared.names import same_name
from .shared.options import FilePath, Options, option
from .shared.plan import Plan, Resource, Step, Task
from .shared.task_errors import Invalid, NoSuchItem

KEY = re.compile(r"(.*?\s)??(ssh-ed25519|ssh-rsa|ecdsa-sha2-\w+)\s+(\S+)\s*(.*)")
"""Options as in a file of authorized keys, the type, the key in base64, and a comment."""


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
        options, key = task.options, given_key(task.options)
        if options.state == "absent":
            return plan_absent(task, key or options.fingerprint)
        if key and options.name:
            return plan_present(task, key, options.name)
        raise Invalid("to register a key, give its name and public_key or public_key_file")


SSH_KEY = SshKeyResource()


def given_key(options: SshKeyOptions) -> PublicKey | None:
    """Return the key that the user gave, checked."""
    path, text, source = options.public_key_file, options.public_key, "public_key"
    try:
        if path is not None:
            source = f"public_key_file {path!r}"
            with open(os.path.expanduser(path), encoding="utf-8") as file:
                text = file.read()
    except (OSError, ValueError) as error:  # not there, not text, or no path at all
        raise NoSuchItem(f"{source} cannot be read: {error}") from None
    return None if text is None else read_public_key(text, source, skip_options=options.state == "absent")


def plan_present(task: Task[SshKeyOptions], key: PublicKey, name: str) -> Plan:
    """Plan the registration of a key; with ``replace``, the removal of another with its name after it."""
    keys = task.account.ssh_keys()
    named = [known for known in keys if same_name(known.name, name)]
    registered = keys_known_as(key, keys, doubtful=named)
    others = [known for known in named if known not in registered]
    if len(others) > task.options.replace:
        raise Invalid(
            f"another key named {name!r} is registered, with fingerprint {fingerprints(others)}; nothing was "
            "done. Set replace: true to put this one in its place, if it is only one, or choose another name"
        )
    removals = [removal(task, other) for other in others]
    if registered:
        if not named:
            told = f"this key is registered as {registered[0].name!r}"
            task.warn(f"{told}; the platform cannot rename keys, so the name stays")
        return replace(as_it_is(registered[0]), steps=removals)
    facts = {"name": name, "label": key.comment or None, "fingerprint": key.fingerprint}
    expected = SshKey.model_construct(None, id=None, algorithm=key.algorithm, **facts)
    plan = Plan(expected.as_dict(), before=to_diff(*others), after=to_diff(expected))
    register = Change(
        what=f"SSH key {name!r}",
        route=r.SSH_KEY_ADD,
        body={"name": composed(name), "publicKey": key.line},
        shown=Listed(Account.ssh_keys, name=name, known=ids_of(keys)),
        unique=True,
    )
    summary = f"register SSH key {name!r} ({key.fingerprint})"
    plan.steps = [creation(summary, task, register, plan, as_it_is), *removals]
    return plan


def plan_absent(task: Task[SshKeyOptions], wanted: PublicKey | str | None) -> Plan:
    """Plan the removal of the key that the task names by key, fingerprint or name."""
    keys, name = task.account.ssh_keys(), task.options.name
    named = [known for known in keys if same_name(known.name, name)]
    found = named if wanted is None else keys_known_as(wanted, keys)
    if wanted is None and len(named) > 1:
        several = f"{len(named)} keys are named {name!r}: {fingerprints(named)}"
        raise Invalid(f"{several}. Name one by fingerprint")
    if found and name is not None and found[0] not in named:
        raise Invalid(
            f"the key is registered as {found[0].name!r} ({fingerprints(found)}), but the task says name "
            f"{name!r}; nothing was done. Correct the key or the name, or leave the name out"
        )
    if named and not found:
        given = wanted.fingerprint if isinstance(wanted, PublicKey) else wanted
        task.warn(
            f"SSH key {name!r} has fingerprint {fingerprints(named)}, not {given}, which no key has; nothing "
            "was removed, and it still opens SFTP. To remove it, give its own fingerprint"
        )
    return Plan(result=None, steps=[removal(task, known) for known in found], before=to_diff(*found))


def removal(task: Task[SshKeyOptions], key: SshKey) -> Step:
    """Return the step that removes a registered key."""
    gone = Gone(Listed(Account.ssh_keys, id=key.id))
    remove = Change(what=f"SSH key {key.name!r}", route=r.SSH_KEY_DELETE, ids={"id": key.id}, shown=gone)
    return step_of(f"remove SSH key {key.name!r} ({key.fingerprint})", task, remove)


def as_it_is(key: SshKey) -> Plan:
    """Plan nothing."""
    return Plan(result=key.as_dict(), before=to_diff(key), after=to_diff(key))


def to_diff(*keys: SshKey) -> dict[str, Any]:
    """Return the first of some keys for the diff."""
    return {"name": keys[0].name, "fingerprint": keys[0].fingerprint} if keys else {}


def fingerprints(keys: Sequence[SshKey]) -> str:
    """Return the fingerprints of keys for a message."""
    return ", ".join(str(key.fingerprint) for key in keys)


# --- Public keys and their fingerprints ---------------------------------------------------------------


@dataclass(frozen=True)
class PublicKey:
    """A key that the platform accepts."""

    algorithm: str
    comment: str
    line: str
    digests: Sequence[bytes]
    """Its SHA256 and its MD5: which of them the platform shows is open (SSH key)."""

    @property
    def fingerprint(self) -> str:
        """Its SHA256 as OpenSSH prints it."""
        return "SHA256:" + base64.b64encode(self.digests[0]).decode().rstrip("=")


def read_public_key(text: str, source: str = "public_key", *, skip_options: bool = False) -> PublicKey:
    """Read a key as it stands in a public-key file. ``source`` says in messages where the text is from.

    :raises Invalid: for what the platform does not accept. The text is never echoed: it may be a private key.
    """
    if PRIVATE_KEY in text:
        raise Invalid(f"{source} holds a private key; give the .pub file beside it. Nothing was sent")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if len(lines) != 1:
        raise Invalid(f"{source} has {len(lines)} lines; a public key is one line")
    if not (parts := KEY.fullmatch(lines[0])):
        accepted = "ssh-ed25519, ecdsa-sha2-* and ssh-rsa of 2048 bits or more"
        raise Invalid(f"{source} is not of a type that the platform accepts; it accepts {accepted}")
    options, algorithm, data, comment = parts.groups()
    if options and not skip_options:
        raise Invalid(
            f"{source} has options in front of the key. The platform would drop them, and the key would open "
            "all services without them; remove them to accept that"
        )
    try:
        raw = base64.b64decode(data, validate=True)
        key = load_ssh_public_key(f"{algorithm} {data}".encode())
    except Exception:  # the library raises several kinds, and their texts may hold the key
        raise Invalid(f"{source} is damaged: what follows {algorithm!r} is not a key of that type") from None
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < 2048:
        raise Invalid(f"{source} is an RSA key of {key.key_size} bits; at least 2048 are needed")
    digests = hashlib.sha256(raw).digest(), hashlib.md5(raw, usedforsecurity=False).digest()
    return PublicKey(algorithm, comment, f"{algorithm} {data} {comment}".strip(), digests)


def digest_of(fingerprint: str | None) -> bytes:
    """Return the digest of a fingerprint in hexadecimal digits or base64; nothing if it is none, or cut."""
    text = re.sub("^(md5|sha256):", "", (fingerprint or "").strip().rstrip("="), flags=re.IGNORECASE)
    found = b""
    with suppress(ValueError):
        found = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    with suppress(ValueError):
        found = bytes.fromhex(text.replace(":", ""))
    return found if len(found) in (16, 32) else b""


def keys_known_as(
    wanted: PublicKey | str, keys: Sequence[SshKey], *, doubtful: Sequence[SshKey] | None = None
) -> list[SshKey]:
    """Return the keys that are this one, or have this fingerprint.

    :raises Invalid: for a fingerprint that is none; or if none is found and one of the ``doubtful``, of all
        keys if not given, may be it: that must not pass for absent, as it would go on opening SFTP.
    """
    if isinstance(wanted, str) and PRIVATE_KEY in wanted:
        raise Invalid("fingerprint holds a private key; give its fingerprint. Nothing was sent")
    digests = wanted.digests if isinstance(wanted, PublicKey) else [digest_of(wanted)]
    if not digests[0]:
        raise Invalid(
            f"fingerprint {wanted!r} is invalid or incomplete: SHA256 has 43 characters of base64 or 64 "
            "hexadecimal digits, and MD5 has 32"
        )
    found = [key for key in keys if digest_of(key.fingerprint) in digests]
    for key in () if found else keys if doubtful is None else doubtful:
        if len(digest_of(key.fingerprint)) not in map(len, digests):
            shown = f"the fingerprint {key.fingerprint!r}" if key.fingerprint else "no fingerprint"
            raise Invalid(
                "whether the key is registered is not known, and nothing was done: the platform shows "
                f"{shown} for key {key.name!r}, which cannot be compared with what the task gives. Give the "
                f"key itself; to remove {key.name!r}, give its name alone"
            )
    return found
