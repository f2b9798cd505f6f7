# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Request bodies. Types are strict: neither a quoted number nor a boolean is an integer."""

# The fields are spelled as the API spells them.
# ruff: noqa: N815

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Body(BaseModel):
    """The base of all bodies. Fields that the specification does not show are refused."""

    model_config = ConfigDict(strict=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        """Refuse lone surrogates: JSON can express them, but no response and no file can hold them."""
        if isinstance(value, dict):
            json.dumps(value, ensure_ascii=False).encode()
        return value


Size = Annotated[int, Field(ge=-(2**53), le=2**53)]


class Dimensions(Body):
    """A size: vCPUs, GB of memory, GB of disk."""

    cpuCores: Size
    ramGb: Size
    storageGb: Size


class Choice(Body):
    """One chosen option of an order."""

    optionId: str
    choiceId: str


class Quote(Body):
    """Order fields without a name (section Resources and their fields / Order fields)."""

    productSlug: str
    hostId: str
    runtimeId: str | None = None
    dimensions: Dimensions | None = None
    presetId: str | None = None
    projectId: str | None = None
    variables: dict[str, str] | None = None
    options: list[Choice] | None = None


class Order(Quote):
    """Order fields."""

    name: str


class AppQuote(Body):
    """A size and a host for an application; the platform chooses either if it is missing."""

    hostId: str | None = None
    dimensions: Dimensions | None = None


class App(AppQuote):
    """A new application."""

    slug: str
    projectId: str | None = None


class Release(Body):
    """A tag and the digest printed at the end of the push."""

    tag: str
    digest: str


class Tag(Body):
    """The tag to deploy."""

    tag: str


class Environment(Body):
    """The complete environment of an application."""

    environment: dict[str, str]


class Network(Body):
    """Whether a service is reachable from the Internet."""

    isPublic: bool


class Command(Body):
    """The command for the next start; an empty one restores the original."""

    command: str


class Move(Body):
    """The project to move to."""

    projectId: str


class Signal(Body):
    """A power signal: start, stop, restart or kill."""

    signal: str


class Write(Body):
    """A file and its new content."""

    path: str
    content: str


class Directory(Body):
    """A new directory below a root."""

    root: str
    name: str


class Rename(Body):
    """An old and a new name below a root."""

    root: str
    old: str = Field(alias="from")
    new: str = Field(alias="to")


class Names(Body):
    """Names below a root."""

    root: str
    files: list[str]


class Name(Body):
    """The name of a new object."""

    name: str


class PublicKey(Body):
    """A public key in the format of a public-key file."""

    name: str
    publicKey: str


class Statement(Body):
    """One SQL statement."""

    sql: str
