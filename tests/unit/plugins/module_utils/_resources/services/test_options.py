# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What selects a service holds something, and sizes and choices are plain data for the platform."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.options import checked_arguments
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.options import (
    Choice,
    ServiceOptions,
    Size,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.order import quote_fields
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_host_key import SFTP_HOST_KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_info import SFTP_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    SERVICE_ID,
    Resource,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

PARTS = {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20}
ORDER: dict[str, Any] = {"name": "new", "product": "nginx", "host": "nd_1", "dimensions": PARTS}


def test_what_ansible_gives_becomes_objects_and_the_body_of_a_quote_again() -> None:
    given = {**ORDER, "options": [{"option": "slots", "choice": "10"}]}
    options = ServiceOptions.from_ansible(given)
    assert (options.dimensions, options.options) == (Size(**PARTS), [Choice(option="slots", choice="10")])
    assert quote_fields(options) == {
        "productSlug": "nginx",
        "hostId": "nd_1",
        "dimensions": {"cpuCores": 2, "ramGb": 4, "storageGb": 20},
        "options": [{"optionId": "slots", "choiceId": "10"}],
    }


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
