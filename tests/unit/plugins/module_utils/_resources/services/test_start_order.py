# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The order of services, with cycles in the plan and outside of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.services.many_services import (
    explicit_references,
    order_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid


def test_a_cycle_takes_no_order_from_those_that_are_not_in_it() -> None:
    """Whether the cycle is outside of the plan, inside, or half of it."""
    references = {"web": ["a"], "a": ["b"], "b": ["a", "db"]}
    assert order_of(["web", "db"], references).needs["web"] == {"db"}
    order = order_of(["web", "db", "a", "b"], references)
    assert order.needs == {"web": {"a", "b", "db"}, "a": {"db"}, "b": {"db"}, "db": frozenset()}
    assert order.cycles == [["a", "b"]]
    assert order_of(["web", "a", "db"], references).needs == {
        "web": {"a", "db"},
        "a": {"db"},
        "db": frozenset(),
    }
    assert order_of(["a"], {"a": ["a"]}).cycles == []


def test_a_service_starts_after_those_that_the_task_lists() -> None:
    """A name may stand for a list of one, and one service may be named by its name and by its id."""
    ids = {"web": "svc_w", "svc_w": "svc_w", "db": "svc_d", "cache": "svc_c"}
    start_after = {"web": ["db", "cache"], "svc_w": "cache", "db": "cache"}
    found = explicit_references(start_after, lambda names: [ids[name] for name in names])
    assert found == {"svc_w": {"svc_d", "svc_c"}, "svc_d": {"svc_c"}}


@pytest.mark.parametrize("after", [None, [], 5, {"db": None}, [5], ["db", None]])
def test_what_lists_no_services_is_refused(after: Any) -> None:
    with pytest.raises(Invalid, match=r"start_after of 'web' is .*; write a list of services"):
        explicit_references({"web": after}, list)
