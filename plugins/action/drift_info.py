# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""The action of hosted.services.drift_info: it runs inside the controller."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._resources.drift_info import DRIFT_INFO
from ansible_collections.hosted.services.plugins.plugin_utils._controller.source_action import SourceAction


class ActionModule(SourceAction):
    """Runs the module ``drift_info``."""

    resource = DRIFT_INFO
