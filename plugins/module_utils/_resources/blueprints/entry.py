# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries: the services, applications and keys of a blueprint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .rendering import Path


@dataclass(frozen=True)
class Entry:
    """One entry of a section, with the defaults of its section."""

    section: str
    key: str
    values: Mapping[str, Any]
    """What is written for it or in the defaults; nothing else."""
    hides_command: bool = False
    """Whether its launch command was encrypted, so that neither that nor the platform's is shown."""
    references: Sequence[str] = ()
    """The keys of the entries that its environment refers to."""

    @property
    def path(self) -> Path:
        """Where it is in the blueprint."""
        return (self.section, self.key)

    @property
    def name(self) -> str:
        """Its name on the platform: the slug of an application."""
        return str(self.values.get("name") or self.values.get("slug") or self.key)
