# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The state of the sandbox: plain records, kept in memory and written through to SQLite."""

from __future__ import annotations

from hosted_sandbox.store.sqlite import Store

__all__ = ["Store"]
