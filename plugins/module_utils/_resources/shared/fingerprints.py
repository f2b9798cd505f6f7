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
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from .store import Kind, Record, lock_file, records_folder, state_key
from .task_errors import Invalid

KEY_BYTES = 32
HASH_BYTES = 16


def state_folder(given: str | None) -> str:
    """Return the folder of the files: ``given``, or else the collection's own."""
    return os.path.expanduser(given) if given else records_folder(ENVIRONMENTS.folder)


@dataclass(frozen=True)
class Written:
    """What a file holds: the fingerprints by variable, and the key that they were made with."""

    app_id: str = ""
    key: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a key that makes no fingerprint."""
        if self.app_id and len(bytes.fromhex(self.key)) != KEY_BYTES:
            raise ValueError("the key is too short or too long")


ENVIRONMENTS = Kind("environments", Written, "the record of an environment")


@dataclass
class Prints:
    """Fingerprints of what was last written to an application or a service, by its id.

    ``known`` is false if nothing is remembered of this one: another one may have had the same name.
    """

    id: str
    known: bool = False
    key: str = field(default_factory=lambda: secrets.token_hex(KEY_BYTES), repr=False)
    prints: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of_written(cls, found: Written, id: str) -> Prints:
        """Return what a record holds, if it is on what has this id."""
        return cls(id, True, found.key, found.variables) if found.app_id == id else cls(id)

    def of(self, name: str, value: str) -> str:
        """Return the fingerprint of a variable. It covers the name, so that equal values differ."""
        text = f"{name}={value}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=bytes.fromhex(self.key), digest_size=HASH_BYTES).hexdigest()

    def differences(self, variables: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the variables ``added``, ``changed`` and ``removed`` since the last write."""
        return {
            "added": sorted(variables.keys() - self.prints.keys()),
            "changed": sorted(
                name
                for name, value in variables.items()
                if name in self.prints and self.prints[name] != self.of(name, value)
            ),
            "removed": sorted(self.prints.keys() - variables.keys()),
        }

    def written(self, variables: Mapping[str, str]) -> Written:
        """Return what a record holds of variables."""
        prints = {name: self.of(name, value) for name, value in sorted(variables.items())}
        return Written(self.id, self.key, prints)


@dataclass
class Fingerprints(Prints):
    """Fingerprints that are kept in a record of their own."""

    record: Record[Written] = field(kw_only=True)

    @classmethod
    def read(cls, folder: str, base_url: str | None, slug: str, app_id: str) -> Fingerprints:
        """Read the file of an application."""
        file = f"{slug}-{state_key(base_url, slug)}.json"
        return cls.at(Record(ENVIRONMENTS, os.path.join(folder, file)), app_id)

    @classmethod
    def at(cls, record: Record[Written], id: str) -> Fingerprints:
        """Read a record.

        :raises Invalid: naming the file, if it is damaged.
        """
        found = Prints.of_written(record.read(), id)
        return cls(id, found.known, found.key, found.prints, record=record)

    def keep(self, variables: Mapping[str, str]) -> None:
        """Store the fingerprints of the current environment."""
        self.restore(self.written(variables).variables)

    def restore(self, prints: Mapping[str, str]) -> None:
        """Store existing fingerprints."""
        self.prints = prints
        self.record.write(Written(self.id, self.key, prints))

    def forget(self) -> None:
        """Delete the file. Call this before a write whose outcome may stay unknown."""
        self.record.remove()


@contextmanager
def lock_environment(folder: str, slug: str, seconds: float) -> Iterator[None]:
    """Lock the environment of an application against other runs.

    :raises Invalid: if the folder is not writable, or another run holds the lock for ``seconds``.
    """
    with ExitStack() as held:
        try:
            held.enter_context(lock_file(os.path.join(folder, f"{slug}.lock"), seconds))
        except TimeoutError:
            raise Invalid(
                f"another run is still changing the environment of {slug!r} "
                f"(lock in {folder!r}); run this again when it has ended"
            ) from None
        except OSError as error:
            raise Invalid(f"state_dir {folder!r} cannot be used: {error.strerror or error}") from None
        yield
