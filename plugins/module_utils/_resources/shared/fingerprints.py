# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stores fingerprints of what was written, because the platform does not return it.

A fingerprint is a keyed hash of a variable, so without the key, values cannot be guessed from it. If the file
is lost, the next task writes the environment once more.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from ..._api.libraries import Field
from .options import StateDirOptions
from .store import Kind, Record, records_folder, state_key

KEY_BYTES = 32
HASH_BYTES = 16


@dataclass
class Prints:
    """Fingerprints of what was last written to an application or a service: what a record holds."""

    id: str = ""
    """Of what they are. Empty if nothing is remembered of it: another one may have had the same name."""
    key: Annotated[str, Field(pattern=f"^([0-9a-f]{{{2 * KEY_BYTES}}})?$")] = field(default="", repr=False)
    prints: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def known(self) -> bool:
        """Whether anything is remembered."""
        return bool(self.id and self.key)

    def of(self, name: str, value: str) -> str:
        """Return the fingerprint of a variable. It covers the name, so that equal values differ."""
        text = f"{name}={value}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=bytes.fromhex(self.key), digest_size=HASH_BYTES).hexdigest()

    def differences(self, variables: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the variables ``added``, ``changed`` and ``removed`` since the last write."""
        kept = sorted(variables.keys() & self.prints.keys())
        return {
            "added": sorted(variables.keys() - self.prints.keys()),
            "changed": [name for name in kept if self.prints[name] != self.of(name, variables[name])],
            "removed": sorted(self.prints.keys() - variables.keys()),
        }


def prints_of(id: str, variables: Mapping[str, str]) -> Prints:
    """Return fingerprints of variables, with a key of their own."""
    found = Prints(id, secrets.token_hex(KEY_BYTES))
    found.prints = {name: found.of(name, value) for name, value in sorted(variables.items())}
    return found


ENVIRONMENTS = Kind("environments", Prints, "the record of an environment")


def record_of(options: StateDirOptions, slug: str) -> Record[Prints]:
    """Return the record of the environment of an application."""
    own = records_folder(ENVIRONMENTS.folder)
    folder = os.path.expanduser(options.state_dir) if options.state_dir else own
    return Record(ENVIRONMENTS, os.path.join(folder, f"{slug}-{state_key(options.base_url, slug)}.json"))


@dataclass
class Fingerprints(Prints):
    """Fingerprints that are kept in a record of their own."""

    record: Record[Prints] = field(kw_only=True)
    subject: str = field(kw_only=True)
    """The id of what the record is about, known or not."""

    @classmethod
    def at(cls, record: Record[Prints], id: str) -> Fingerprints:
        """Read a record.

        :raises Invalid: naming the file, if it is damaged.
        """
        found = record.read()
        if found.id != id or not found.known:
            found = Prints("", secrets.token_hex(KEY_BYTES))
        return cls(**vars(found), record=record, subject=id)

    def keep(self, variables: Mapping[str, str]) -> None:
        """Store the fingerprints of the current environment."""
        self.restore({name: self.of(name, value) for name, value in sorted(variables.items())})

    def restore(self, prints: Mapping[str, str]) -> None:
        """Store existing fingerprints."""
        self.id, self.prints = self.subject, prints
        self.record.write(Prints(self.id, self.key, prints))

    def forget(self) -> None:
        """Delete the file. Call this before a write whose outcome may stay unknown."""
        self.record.remove()
