# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs hosted.services.ssh_key_info inside the controller."""

from ansible_collections.hosted.services.plugins.module_utils._resources.ssh_key_info import SSH_KEY_INFO
from ansible_collections.hosted.services.plugins.plugin_utils._controller.in_process import action_for

ActionModule = action_for(SSH_KEY_INFO)
