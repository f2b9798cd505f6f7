# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reading options by name, for code that does not know their types yet. Remove it with the last of that."""

from __future__ import annotations

from typing import Any


class ByName:
    """Options that can be read by their names, as if they were a dictionary."""

    def __getitem__(self, name: str) -> Any:
        """Return the value of an option."""
        return getattr(self, name)

    def __contains__(self, name: str) -> bool:
        """Tell whether there is such an option."""
        return hasattr(self, name)

    def get(self, name: str, default: Any = None) -> Any:
        """Return the value of an option, or what stands for one that there is not."""
        return getattr(self, name, default)
