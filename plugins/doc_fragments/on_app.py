# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of what the modules share that work on one application."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragment of modules that work on one application."""

    DOCUMENTATION = r"""
options:
  slug:
    description: Slug of the application. If it does not exist, check mode warns and assumes that an earlier
      task creates it.
    type: str
    required: true
notes:
  - A token with scope C(REGISTRY) is sufficient.
"""
