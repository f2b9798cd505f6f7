# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports the third-party libraries of the collection.

ansible-doc and ansible-test import every plugin, even where no library is installed. So a missing library
is replaced with a placeholder that is enough to define classes, and :func:`require` reports it when a task
runs.
"""

from __future__ import annotations

import sys
from typing import Any

from .errors import ConfigurationError

MISSING: list[str] = []

try:
    from pydantic import (
        AfterValidator,
        BaseModel,
        BeforeValidator,
        ConfigDict,
        Field,
        TypeAdapter,
        ValidationError,
        WithJsonSchema,
    )
    from pydantic.alias_generators import to_camel, to_snake
except ImportError:
    MISSING.append("pydantic>=2")

    class BaseModel:  # type: ignore[no-redef]
        """A placeholder, so that models can be defined."""

    class ValidationError(Exception):  # type: ignore[no-redef]
        """A placeholder, so that except clauses can name it."""

    def given(value: Any = None, **settings: Any) -> Any:
        """Return what is given, in place of what pydantic's functions make of it."""
        return settings or value

    TypeAdapter = BaseModel  # type: ignore[misc, assignment]
    AfterValidator = BeforeValidator = ConfigDict = WithJsonSchema = given  # type: ignore[misc, assignment]
    Field = to_camel = to_snake = given  # type: ignore[assignment]

try:
    import requests
    import urllib3
except ImportError:
    requests = urllib3 = None  # type: ignore[assignment]
    MISSING.append("requests")  # which brings the other

try:
    from cryptography.hazmat.primitives.asymmetric import rsa
    from cryptography.hazmat.primitives.serialization import load_ssh_public_key
except ImportError:
    rsa = load_ssh_public_key = None  # type: ignore[assignment]
    MISSING.append("cryptography")

try:
    import yaml
except ImportError:
    yaml = None  # type: ignore[assignment]
    MISSING.append("PyYAML")


__all__ = [
    "MISSING",
    "AfterValidator",
    "BaseModel",
    "BeforeValidator",
    "ConfigDict",
    "Field",
    "TypeAdapter",
    "ValidationError",
    "WithJsonSchema",
    "load_ssh_public_key",
    "requests",
    "require",
    "require_for",
    "rsa",
    "to_camel",
    "to_snake",
    "urllib3",
    "yaml",
]


def require() -> None:
    if MISSING:
        wanted = " ".join(f"'{name}'" for name in MISSING)
        raise ConfigurationError(
            f"hosted.services needs Python libraries that {sys.executable} does not have; "
            f"install them with: {sys.executable} -m pip install {wanted}"
        )


def require_for(purpose: str, library: object, name: str) -> None:
    """Check that an optional library is installed: that what was imported is not ``None``."""
    if library is None:
        raise ConfigurationError(
            f"{purpose} needs the Python library {name}, which {sys.executable} does not have; "
            f"install it with: {sys.executable} -m pip install {name}"
        )
