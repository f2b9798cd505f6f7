# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The databases that the sandbox sells: a real engine behind the tunnel (spec, section Database tunnel)."""

from __future__ import annotations

from hosted_sandbox.engine.database import CutError, DatabaseEngine, EngineError

__all__ = ["CutError", "DatabaseEngine", "EngineError"]
