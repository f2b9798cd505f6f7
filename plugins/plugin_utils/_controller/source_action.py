# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Running a module whose ``src`` is a blueprint, in which the controller decrypts and renders values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.hosted.services.plugins.plugin_utils._controller.in_process import InProcessAction
from ansible_collections.hosted.services.plugins.plugin_utils._controller.rendered_sources import (
    read_source,
)


class SourceAction(InProcessAction):
    """Base of the actions that read a blueprint. All others start sooner without what that takes."""

    def _read_here(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the decrypted and rendered values of the file."""
        return read_source(self.resource, arguments, self._loader, self._templar.template)
