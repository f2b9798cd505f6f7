# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which services can be copied, and what the others are told."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.services.copyable import (
    check_active,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.services.view import View
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient


def view(status: str) -> View:
    client = FakeClient()
    client.add_service("svc_1", "web", status=status)
    service = client.service("svc_1")
    assert service is not None
    return View(service)


def test_an_active_service_can_be_copied() -> None:
    check_active(view("ACTIVE"))


@pytest.mark.parametrize(
    ("status", "way"),
    [
        ("SUSPENDED", "To go on, resume it first (state: resumed), or delete it without a copy"),
        ("FAILED", "there is nothing to copy: delete it without a copy"),
        ("PROVISIONING", "To go on, run this again once it is ACTIVE, or delete it without a copy"),
        ("NEWLY_INVENTED", "To go on, run this again once it is ACTIVE, or delete it without a copy"),
    ],
)
def test_another_one_is_told_its_status_and_what_to_do(status: str, way: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_active(view(status))
    message = caught.value.message
    assert message.startswith(f"keep_copy cannot copy service 'web' (svc_1): its status is {status}")
    assert message.endswith(way) and message.count("without a copy") == 1
