# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Request bodies. Types are strict: a number in quotes or a boolean is no integer."""

# The fields are spelled as the API spells them.
# ruff: noqa: N815

from __future__ import annotations

import json
from contextvars import ContextVar
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

STRICT: ContextVar[bool] = ContextVar("STRICT", default=False)
"""Whether the platform that this request is made to refuses fields that are not shown."""


class Body(BaseModel):
    """The base of all bodies; fields that are not known are ignored, or refused where STRICT."""

    model_config = ConfigDict(strict=True)

    @model_validator(mode="before")
    @classmethod
    def _is_known(cls, value: Any) -> Any:
        """Refuse fields that the specification does not show, where the platform does."""
        if isinstance(value, dict) and STRICT.get():
            known = {field.alias or name for name, field in cls.model_fields.items()}
            unknown = sorted(value.keys() - known)
            if unknown:
                raise ValueError(f"unknown field {unknown[0]!r}")
        return value

    @model_validator(mode="before")
    @classmethod
    def _is_text(cls, value: Any) -> Any:
        """Refuse lone surrogates: JSON can write them, but no answer and no file can hold them."""
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
    """A size and a host for an application; both may be left to the platform."""

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
    """The whole environment of an application."""

    environment: dict[str, str]


class Network(Body):
    """Whether a service answers on the Internet."""

    isPublic: bool


class Command(Body):
    """The command of the next start; empty restores the original."""

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
    """The name of something new."""

    name: str


class PublicKey(Body):
    """A public key as a public-key file writes it."""

    name: str
    publicKey: str


class Statement(Body):
    """One SQL statement."""

    sql: str
