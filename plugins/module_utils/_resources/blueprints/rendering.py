# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values of a file that only the controller can read: templates, and those that Ansible Vault encrypted.

The action on the controller resolves each of them once. Its answers reach the reader of the file by the line
and column of the value, inside the controller and in a module alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

Path = tuple[Any, ...]
"""The keys and numbers that lead to a value: ``("services", "db", "host")``."""
VAULT_TAGS = ("!vault", "!vault-encrypted")


@dataclass(frozen=True)
class Unread:
    """A value that only the controller can read."""

    text: str
    path: Path
    place: tuple[int, int]
    encrypted: bool = False
    """Whether it is encrypted; otherwise it is a template."""


@dataclass(frozen=True)
class Answer:
    """The value that stands in its place, or why there is none."""

    value: Any = None
    problem: str = ""
    omitted: bool = False
    """Whether it is left out with its key, as ``omit`` asks for."""


Resolve = Callable[[Unread], Answer]


@dataclass(frozen=True)
class Rendered:
    """A file as the controller has read it."""

    text: str
    encrypted: bool = False
    """Whether the file is encrypted as a whole."""
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    """The answers by line and column, as in ``4:11``."""

    @classmethod
    def from_option(cls, option: Mapping[str, Any] | None) -> Rendered | None:
        """Return what the controller has read from the option that carries it."""
        return cls(**option) if option else None

    def as_option(self) -> dict[str, Any]:
        """Return it for the option that carries it."""
        return asdict(self)

    def add(self, unread: Unread, answer: Answer) -> Answer:
        """Note an answer, and return it."""
        self.answers[key_of(unread)] = asdict(answer)
        return answer

    def resolve(self, unread: Unread) -> Answer:
        """Return the answer to a value."""
        found = self.answers.get(key_of(unread))
        return Answer(**found) if found else refuse(unread)


def key_of(unread: Unread) -> str:
    """Return what an answer is kept under."""
    line, column = unread.place
    return f"{line}:{column}"


def refuse(unread: Unread) -> Answer:
    """Say that a value cannot be read where there is no controller."""
    kind, verb = ("!vault", "decrypted") if unread.encrypted else ("a template", "rendered")
    return Answer(
        problem=f"{kind} is {verb} in a file of the controller alone, and this task runs on another host; "
        "run it on localhost, or give the whole as the option blueprint"
    )
