# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a task finds its blueprint: in a file or in an option."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..shared.options import FilePath, StateDirOptions, option
from .document import Document, read_document
from .rendering import Rendered


@dataclass(frozen=True, kw_only=True)
class SourceOptions(StateDirOptions):
    """Where a blueprint is, and how many of its parts are looked at in parallel."""

    src: FilePath | None = option(None, selects=True, reads_file=True)
    blueprint: dict[str, Any] | None = option(None, selects=True, secret=True)
    max_parallel: int = 16
    _rendered: dict[str, Any] | None = None
    """What the action has read of the file, if there is something that only the controller can read."""

    @property
    def rendered(self) -> Rendered | None:
        """The file as the controller has read it."""
        return Rendered.from_option(self._rendered)


def read_source(options: SourceOptions) -> Document:
    """Return the blueprint as data with the place of each value, from the file or the option."""
    if options.src is not None:
        return read_document(options.src, options.rendered)
    return Document(options.blueprint, "")
