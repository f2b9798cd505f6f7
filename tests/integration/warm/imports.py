# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Import what all runs need."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path

from integration.warm import PLACE

LIBRARIES = (
    "cryptography.hazmat.primitives.asymmetric.rsa",
    "cryptography.hazmat.primitives.serialization.ssh",
    "pydantic.alias_generators",
    "pydantic.functional_validators",
    "pydantic.json_schema",
    "pydantic.main",
    "requests",
    "yaml",
)
STANDARD = (
    "argparse", "concurrent.futures", "ctypes", "dataclasses", "fcntl", "hashlib", "logging",
    "multiprocessing", "platform", "runpy", "shutil", "subprocess", "tempfile", "typing", "uuid", "zipfile",
)  # fmt: skip


def import_all(names: Iterable[str]) -> None:
    for name in names:
        importlib.import_module(name)


def import_folder(collections: Path, folder: str) -> None:
    """Import all plugins of the collection that are in a folder."""
    for file in sorted((collections / PLACE / "plugins" / folder).rglob("*.py")):
        name = ".".join(file.relative_to(collections).with_suffix("").parts)
        importlib.import_module(name.removesuffix(".__init__"))
