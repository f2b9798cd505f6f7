# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A small file on the controller that remembers something between runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from ..._api.libraries import TypeAdapter
from .controller_state import lock_file, records_folder, state_key, write_json
from .task_errors import Invalid

T = TypeVar("T")
ADAPTERS: dict[type, Any] = {}
"""What was made for each kind of record: a task over a thousand services reads as many."""
LONGEST_WRITE = 60.0
"""Seconds to wait for other tasks that update the same file; each holds it for an instant."""


def adapter_of(kind: type) -> Any:
    """Return what turns records of a kind, which are dataclasses, into JSON and back."""
    if kind not in ADAPTERS:
        ADAPTERS[kind] = TypeAdapter(kind)
    return ADAPTERS[kind]


def as_json(record: Any) -> dict[str, Any]:
    """Return a record in the form of its file."""
    content: dict[str, Any] = adapter_of(type(record)).dump_python(record, mode="json")
    return content


@dataclass(frozen=True)
class RecordFile:
    """The path of a file, and what it remembers, for messages."""

    path: str
    what: str

    @classmethod
    def of(
        cls, folder: str, what: str, state_dir: str | None, base_url: str | None, subject: str
    ) -> RecordFile:
        """Return the file of a subject on a platform, in ``state_dir`` or the collection's own folder."""
        name = f"{state_key(base_url, subject)}.json"
        return cls(os.path.join(records_folder(folder, state_dir), name), what)

    @classmethod
    def all_in(cls, folder: str, what: str, state_dir: str | None) -> list[RecordFile]:
        """Return all files in a folder, also those that are damaged."""
        place, names = records_folder(folder, state_dir), list[str]()
        with suppress(OSError):  # none is there, or none can be, as its name is too long
            names = sorted(name for name in os.listdir(place) if name.endswith(".json"))
        return [cls(os.path.join(place, name), what) for name in names]

    def read(self) -> Any:
        """Return the content; ``None`` if the file is missing or damaged."""
        try:
            with open(self.path, encoding="utf-8") as file:
                return json.load(file)
        except (OSError, ValueError, RecursionError):
            return None

    def load(self, kind: type[T]) -> T:
        """Return the record that the file holds, an empty one if there is no file.

        :raises Invalid: naming the file, if it holds something else.
        """
        try:
            with open(self.path, "rb") as file:
                found: T = adapter_of(kind).validate_json(file.read())
                return found
        except (FileNotFoundError, NotADirectoryError):
            return kind()
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is damaged"
            raise Invalid(
                f"{self.what} is in {self.path!r}, which cannot be read: {why}. Correct that, or remove the "
                "file to begin anew"
            ) from None

    def write(self, content: Mapping[str, Any]) -> None:
        """Replace the content.

        :raises Invalid: if it cannot be written.
        """
        with self.written():
            write_json(self.path, content)

    def update(self, change: Callable[[Any], Mapping[str, Any]]) -> None:
        """Replace the content by what ``change`` makes of it, while no other task updates it.

        :raises Invalid: if it cannot be written.
        """
        with self.written(), lock_file(f"{self.path}.lock", LONGEST_WRITE):
            write_json(self.path, change(self.read()))

    @contextmanager
    def written(self) -> Iterator[None]:
        """Say what to do if a write fails.

        :raises Invalid: if it does.
        """
        try:
            yield
        except OSError as error:
            folder = os.path.dirname(self.path)
            raise Invalid(
                f"{self.what} cannot be kept in {folder!r}: {error.strerror or error}. Make it writable, or "
                "name another folder in state_dir or HOSTED_SERVICES_HOME"
            ) from None


@dataclass(frozen=True)
class Kind(Generic[T]):
    """A kind of records: where they are, what each holds, and what messages say of one."""

    folder: str
    content: type[T]
    """A dataclass. Without a file, a record holds what that holds by default."""
    what: str
    mending: str = "Correct that, or remove the file to begin anew"
    """What to do about a damaged one."""
    hint: bool = False
    """Whether nothing depends on what it holds but advice: one that cannot be read is taken for none."""

    def of(self, base_url: str | None, subject: str, state_dir: str | None = None) -> Record[T]:
        """Return the record of a subject on a platform, in ``state_dir`` or the collection's own folder."""
        return self.at(
            os.path.join(records_folder(self.folder, state_dir), f"{state_key(base_url, subject)}.json")
        )

    def all(self, state_dir: str | None = None) -> list[Record[T]]:
        """Return all records of the kind, also those that are damaged."""
        place, names = records_folder(self.folder, state_dir), list[str]()
        with suppress(OSError):  # none is there, or none can be, as its name is too long
            names = sorted(name for name in os.listdir(place) if name.endswith(".json"))
        return [self.at(os.path.join(place, name)) for name in names]

    def at(self, path: str) -> Record[T]:
        """Return the record that is in a file."""
        return Record(self, path)


@dataclass(frozen=True)
class Record(Generic[T]):
    """A record. Its file is written whole or not at all."""

    kind: Kind[T]
    path: str

    def read(self) -> T:
        """Return what the record holds.

        :raises Invalid: naming the file, if it cannot be read or is damaged.
        """
        try:
            with open(self.path, encoding="utf-8") as file:
                found: T = adapter_of(self.kind.content).validate_python(json.load(file))
                return found
        except (FileNotFoundError, NotADirectoryError):
            return self.kind.content()
        except (OSError, ValueError, RecursionError) as error:
            if self.kind.hint:
                return self.kind.content()
            why = error.strerror if isinstance(error, OSError) else "it is damaged"
            raise Invalid(
                f"{self.kind.what} is in {self.path!r}, which cannot be read: {why}. {self.kind.mending}"
            ) from None

    def write(self, content: T) -> None:
        """Replace what the record holds. One that holds nothing has no file.

        :raises Invalid: if it cannot be written.
        """
        with self._kept():
            self._replace(content)

    def edit(self, change: Callable[[T], T]) -> None:
        """Replace what the record holds by what ``change`` makes of it. Nobody else edits it meanwhile.

        :raises Invalid: if it cannot be read or written.
        """
        with self._kept(), lock_file(f"{self.path}.lock", LONGEST_WRITE):
            self._replace(change(self.read()))

    def remove(self) -> None:
        """Remove the file, if there is one."""
        with suppress(FileNotFoundError):
            os.unlink(self.path)

    def _replace(self, content: T) -> None:
        if content == self.kind.content():
            self.remove()
        else:
            write_json(self.path, as_json(content))

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise Invalid(
                f"{self.kind.what} cannot be kept in {os.path.dirname(self.path)!r}: "
                f"{error.strerror or error}. Make it writable, or name another folder in state_dir or "
                "HOSTED_SERVICES_HOME"
            ) from None
