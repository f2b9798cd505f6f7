# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stops, starts, restarts and updates many services in batches (Power, suspension, deletion)."""

from __future__ import annotations

from .app_deploy import APP_DEPLOY
from .fleets.members import FleetOptions, Modules, check_options
from .fleets.run import FleetRun
from .service import SERVICE
from .shared.plan import Plan, Resource, Task


class FleetResource(Resource[FleetOptions]):
    """Services that are worked on together, a batch after the other."""

    result_key = "services"

    def plan(self, task: Task[FleetOptions]) -> Plan:
        """Decide on every service, and plan the batches."""
        check_options(task.options)
        run = FleetRun(task, Modules(SERVICE, APP_DEPLOY))
        run.check_free()
        run.select()
        run.decide()
        return run.as_plan()


FLEET = FleetResource()
