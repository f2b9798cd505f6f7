# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The third-party libraries that the collection stands on, imported in one place.

A machine may lack one of them, and ansible-doc and ansible-test import every plugin on machines that
lack them all. So a missing library leaves a placeholder here, good enough to define classes with, and is
reported as one line by :func:`require` when a task runs.
"""

from __future__ import annotations

import sys
from typing import Any

from .errors import ConfigurationError

MISSING: list[str] = []

try:
    from pydantic import BaseModel, ConfigDict, ValidationError
    from pydantic.alias_generators import to_camel, to_snake
except ImportError:
    MISSING.append("pydantic>=2")

    class BaseModel:  # type: ignore[no-redef]
        """Stands in for pydantic's class, so that the models can be defined."""

    class ValidationError(Exception):  # type: ignore[no-redef]
        """Stands in for pydantic's error, so that it can be named in an except clause."""

    def ConfigDict(**settings: Any) -> Any:  # type: ignore[no-redef]  # noqa: N802 - pydantic's name
        """Stand in for pydantic's settings."""
        return settings

    def to_camel(snake: str) -> str:
        """Stand in for pydantic's function."""
        return snake

    def to_snake(camel: str) -> str:
        """Stand in for pydantic's function."""
        return camel


try:
    import requests
    import urllib3
except ImportError:
    requests = urllib3 = None  # type: ignore[assignment]
    MISSING.append("requests")

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
    "BaseModel",
    "ConfigDict",
    "ValidationError",
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
    """Check that every library is there.

    :raises ConfigurationError: naming what is missing and the command that installs it.
    """
    if MISSING:
        wanted = " ".join(f"'{name}'" for name in MISSING)
        raise ConfigurationError(
            f"hosted.services needs Python libraries that {sys.executable} does not have; "
            f"install them with: {sys.executable} -m pip install {wanted}"
        )


def require_for(purpose: str, library: object, name: str) -> None:
    """Check that a library is there which only some tasks need, and so only they import.

    :raises ConfigurationError: naming the command that installs it.
    """
    if library is None:
        raise ConfigurationError(
            f"{purpose} needs the Python library {name}, which {sys.executable} does not have; "
            f"install it with: {sys.executable} -m pip install {name}"
        )
