# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The part that takes entries."""

from __future__ import annotations

import os
from typing import Any


def send(**fields: Any) -> None:
    """Note an entry."""
    sendv(str(fields))


def sendv(*entries: str) -> None:
    """Note entries as they are."""
    with open(os.environ["PLANTED_JOURNAL"], "a", encoding="utf-8") as file:
        file.writelines(f"{entry}\n" for entry in entries)
