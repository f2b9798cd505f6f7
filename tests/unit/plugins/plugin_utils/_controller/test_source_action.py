# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which actions read a blueprint: those of the resources that have something of it carried to them."""

from __future__ import annotations

from importlib import import_module

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._controller.rendered_sources import read_source
from unit.plugins.resources import RESOURCES

ACTIONS = "ansible_collections.hosted.services.plugins.action"


@pytest.mark.parametrize("name", sorted(RESOURCES))
def test_what_a_resource_has_carried_to_it_is_read_by_its_action(name: str) -> None:
    action = import_module(f"{ACTIONS}.{name}").ActionModule
    assert (action.read_source is read_source) == bool(RESOURCES[name].carried_options)
