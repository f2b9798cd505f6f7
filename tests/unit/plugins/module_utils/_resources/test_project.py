# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Projects: what others do between a plan and its steps."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, carry_out, task_of


@pytest.mark.parametrize("filled", [False, True])
def test_a_project_of_the_new_name_makes_way_while_it_is_empty(filled: bool) -> None:
    """A play under the new name has made it."""
    client = FakeClient()
    client.add_project("prj_1", "shop")
    client.add_project("prj_9", "games")
    plan = PROJECT.plan(task_of(PROJECT, client, name="shop", new_name="games"))
    if filled:
        client.add_service("svc_1", projectId="prj_9")
        with pytest.raises(Invalid, match="which is not empty"):
            carry_out(plan)
        assert client.calls == []
    else:
        assert carry_out(plan)["id"] == "prj_1"
        assert client.calls == [("delete_project", "prj_9"), ("rename_project", "prj_1", "games")]
