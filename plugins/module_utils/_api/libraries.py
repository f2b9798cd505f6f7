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
from importlib.util import find_spec
from typing import Any

from .errors import ConfigurationError

MISSING: list[str] = []

try:
    from pydantic import (
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
        """Placeholder for pydantic's class, so that models can be defined."""

    class TypeAdapter:  # type: ignore[no-redef]
        """Placeholder for pydantic's class, so that modules can name it."""

    class ValidationError(Exception):  # type: ignore[no-redef]
        """Placeholder for pydantic's error, so that except clauses can name it."""

    def ConfigDict(**settings: Any) -> Any:  # type: ignore[no-redef]  # noqa: N802 - pydantic's name
        """Return the settings unchanged, in place of pydantic's type."""
        return settings

    def BeforeValidator(check: Any) -> Any:  # type: ignore[no-redef]  # noqa: N802 - pydantic's name
        """Return the function unchanged, in place of pydantic's mark."""
        return check

    def WithJsonSchema(schema: Any) -> Any:  # type: ignore[no-redef]  # noqa: N802 - pydantic's name
        """Return the schema unchanged, in place of pydantic's mark."""
        return schema

    def Field(default: Any = None, **about: Any) -> Any:  # type: ignore[no-redef]  # noqa: N802 - pydantic's name
        """Return the default, in place of pydantic's field."""
        return default

    def to_camel(snake: str) -> str:
        """Return the name unchanged, in place of pydantic's function."""
        return snake

    def to_snake(camel: str) -> str:
        """Return the name unchanged, in place of pydantic's function."""
        return camel


try:
    import certifi
    import urllib3
except ImportError:
    certifi = urllib3 = None  # type: ignore[assignment]
if urllib3 is None or find_spec("requests") is None:
    MISSING.append("requests")  # which brings the others

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


def __getattr__(name: str) -> Any:
    """Import requests when it is asked for: few tasks talk to an image registry, which needs it."""
    if name != "requests":
        raise AttributeError(name)
    try:
        import requests  # noqa: PLC0415 - see above
    except ImportError:
        return None
    return requests


__all__ = [
    "MISSING",
    "BaseModel",
    "BeforeValidator",
    "ConfigDict",
    "Field",
    "TypeAdapter",
    "ValidationError",
    "WithJsonSchema",
    "certifi",
    "load_ssh_public_key",
    "require",
    "require_for",
    "rsa",
    "to_camel",
    "to_snake",
    "urllib3",
    "yaml",
]


def require() -> None:
    """Check that all required libraries are installed.

    :raises ConfigurationError: naming the missing ones and the command that installs them.
    """
    if MISSING:
        wanted = " ".join(f"'{name}'" for name in MISSING)
        raise ConfigurationError(
            f"hosted.services needs Python libraries that {sys.executable} does not have; "
            f"install them with: {sys.executable} -m pip install {wanted}"
        )


def require_for(purpose: str, library: object, name: str) -> None:
    """Check that an optional library is installed. ``library`` is the imported module, or ``None``.

    :raises ConfigurationError: naming the command that installs it.
    """
    if library is None:
        raise ConfigurationError(
            f"{purpose} needs the Python library {name}, which {sys.executable} does not have; "
            f"install it with: {sys.executable} -m pip install {name}"
        )
