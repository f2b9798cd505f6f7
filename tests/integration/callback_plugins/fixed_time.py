# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Lets sleep plans decide at a moment that is always the same, so that a run prints the same each time."""

from __future__ import annotations

import os
from datetime import datetime

from ansible.plugins.callback import CallbackBase

from ansible_collections.hosted.services.plugins.module_utils._resources import sleep_plan

DOCUMENTATION = r"""
name: fixed_time
type: aggregate
short_description: Fix the clock of sleep plans
description:
  - Lets the sleep plans of this run decide at the moment in E(FIXED_TIME), such as V(2026-11-06T21:00:00Z).
"""


class CallbackModule(CallbackBase):
    """Changes the collection in the process that forks the workers."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "fixed_time"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self) -> None:
        super().__init__()
        moment = datetime.fromisoformat(os.environ["FIXED_TIME"])
        vars(sleep_plan)["current_time"] = lambda: moment
