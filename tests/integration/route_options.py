# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which options lead a module to a route, where the module does more than one thing.

By module and route: options, with the values that do if not every value does. They are in `cases.yml` in the
folder of the module's target. `integration.coverage` puts them on its page and compares them with a whole
run: each option and each value was in a task that called the route, and no task called it without one.
"""

from __future__ import annotations

from cases import by_module

LEADS: dict[str, dict[str, list[str]]] = by_module("route_options")
