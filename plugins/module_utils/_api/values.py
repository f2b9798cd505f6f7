# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The values that fields of the platform take, as far as the specification names them."""

from __future__ import annotations

FAMILIES = ["GAME", "APP", "COMPUTE", "VIRTUAL_MACHINE", "DEDICATED", "BUCKET"]
