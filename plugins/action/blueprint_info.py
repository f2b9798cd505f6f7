# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs hosted.services.blueprint_info inside the controller."""

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO
from ansible_collections.hosted.services.plugins.plugin_utils._controller.in_process import action_for
from ansible_collections.hosted.services.plugins.plugin_utils._controller.rendered_sources import read_source

ActionModule = action_for(BLUEPRINT_INFO, read_source)
