# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose account a token is of, in a form that files may keep."""

from __future__ import annotations

import hashlib


def owner_of(email: str | None) -> str:
    """Return a hash of whom an account belongs to; empty if the platform does not tell."""
    return hashlib.sha256(email.encode()).hexdigest()[:32] if email else ""
