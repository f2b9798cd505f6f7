# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What selects a service stands in place of the host of the play, and holds something."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.options import checked_arguments
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_info import SFTP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    SERVICE_ID,
    Resource,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


@pytest.mark.parametrize(
    "option", ["id", "name", "project", "new_project", "family", "product", "host", "keep_copy"]
)
def test_an_option_that_selects_holds_something(option: str) -> None:
    """An empty variable must not widen what a task works on, or where its copy goes."""
    with pytest.raises(Invalid, match=f"^{option} is empty"):
        checked_arguments(SERVICE, {option: ""})


@pytest.mark.parametrize("resource", [SFTP_INFO, SFTP_HOST_KEY])
@pytest.mark.parametrize("option", ["service", "project", "family"])
def test_each_option_that_selects_a_service_is_in_place_of_the_host_and_must_hold_something(
    resource: Resource, option: str
) -> None:
    assert option in resource.selectors
    assert not resource.works_on_host({option: None})


def test_a_host_of_the_inventory_is_a_service() -> None:
    assert SFTP_INFO.works_on_host({}) and SFTP_INFO.host_options == {"service": (SERVICE_ID,)}
