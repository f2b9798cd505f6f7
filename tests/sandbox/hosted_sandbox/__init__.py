# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A local hosting platform for tests: API, control port, SFTP and image registry."""

from __future__ import annotations

__version__ = "1.0.0"
