# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Environments of applications: replaced whole, and compared by fingerprints since they cannot be read back.

The fingerprint of a variable is a keyed hash, so the file gives no secret away to guesses without its key and
shows nothing when a part of it is seen. A file that is lost or damaged costs one needless write.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from ..shared.controller_state import collection_folder, write_json
from ..shared.controller_state import locked as lock_file
from ..shared.task_errors import Invalid

FOLDER = "environments"
KEY_BYTES = 32
HASH_BYTES = 16


def state_folder(given: str | None) -> str:
    """Return where the files are: the user's choice, or the collection's own folder."""
    return os.path.expanduser(given) if given else collection_folder(FOLDER)


@dataclass
class Fingerprints:
    """What was last written to the environment of an application, told by fingerprints alone.

    ``known`` is false when that is not known. The file is bound to the application's id, so that one created
    anew under the same slug does not pass for the one before.
    """

    path: str
    app_id: str
    known: bool = False
    key: str = field(default_factory=lambda: secrets.token_hex(KEY_BYTES), repr=False)
    prints: dict[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, folder: str, base_url: str | None, slug: str, app_id: str) -> Fingerprints:
        """Read the file of an application; whatever is wrong with it, nothing is known then."""
        platform = hashlib.blake2b((base_url or "").encode(), digest_size=6).hexdigest()
        fresh = cls(os.path.join(folder, f"{slug}-{platform}.json"), app_id)
        try:
            with open(fresh.path, encoding="utf-8") as file:
                content = json.load(file)
            key, prints = content["key"], content["variables"]
            if content["app_id"] != app_id or not whole(key, prints):
                return fresh
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return fresh
        return cls(fresh.path, app_id, True, key, prints)

    def of(self, name: str, value: str) -> str:
        """Return the fingerprint of a variable. The name is part of it: equal values are not seen to be."""
        text = f"{name}={value}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=bytes.fromhex(self.key), digest_size=HASH_BYTES).hexdigest()

    def differences(self, variables: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the names that are ``added``, ``changed`` and ``removed`` against what was written last."""
        return {
            "added": sorted(variables.keys() - self.prints.keys()),
            "changed": sorted(
                name
                for name, value in variables.items()
                if name in self.prints and self.prints[name] != self.of(name, value)
            ),
            "removed": sorted(self.prints.keys() - variables.keys()),
        }

    def keep(self, variables: Mapping[str, str]) -> None:
        """Write down what the environment holds now."""
        self.restore({name: self.of(name, value) for name, value in sorted(variables.items())})

    def restore(self, prints: dict[str, str]) -> None:
        """Write down fingerprints made before."""
        self.prints = prints
        write_json(self.path, {"app_id": self.app_id, "key": self.key, "variables": prints})

    def forget(self) -> None:
        """Take the file away, before a call after which nobody may know what is there."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)


def whole(key: Any, prints: Any) -> bool:
    """Tell whether a file holds what :meth:`Fingerprints.keep` writes."""
    return (
        isinstance(key, str)
        and len(bytes.fromhex(key)) == KEY_BYTES
        and isinstance(prints, dict)
        and all(isinstance(value, str) for value in prints.values())
    )


@contextmanager
def locked(folder: str, slug: str, seconds: float) -> Iterator[None]:
    """Keep other runs from the environment of this application meanwhile.

    :raises Invalid: when the folder cannot be written to, or another run does not end within ``seconds``.
    """
    with ExitStack() as held:
        try:
            held.enter_context(lock_file(os.path.join(folder, f"{slug}.lock"), seconds))
        except TimeoutError:
            raise Invalid(
                f"another run has been changing the environment of {slug!r} all the while "
                f"(lock in {folder!r}); run this again when it has ended"
            ) from None
        except OSError as error:
            raise Invalid(f"state_dir {folder!r} cannot be used: {error.strerror or error}") from None
        yield
