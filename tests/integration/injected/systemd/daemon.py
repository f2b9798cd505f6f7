# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part that tells whether there is a journal."""

from __future__ import annotations


def booted() -> bool:
    """Say that there is one."""
    return True
