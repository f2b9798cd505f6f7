# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The keys of exports, which stay the same; tests/unit/data/blueprint_info has what is exported."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.contents import KEY
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import (
    Found,
    export_project,
)

NAMES = st.lists(st.text(st.characters(codec="utf-8"), min_size=1, max_size=12), max_size=6)


def services_of(names: list[str]) -> list[dict[str, Any]]:
    """Return services as in a listing."""
    shown = dict.fromkeys(("product", "runtime", "host", "dimensions", "can_power"))
    return [
        {"id": f"id-{number}", "name": name, "status": "ACTIVE", **shown} for number, name in enumerate(names)
    ]


@given(NAMES)
def test_every_name_gets_a_key_of_its_own(names: list[str]) -> None:
    keys = [entry.key for entry in export_project(Found("shop", services_of(names), {})).entries]
    assert len(set(keys)) == len(names)
    assert all(KEY.fullmatch(key) for key in keys)


@given(NAMES, st.randoms())
def test_the_order_of_the_list_does_not_matter(names: list[str], chance: Any) -> None:
    services = services_of(names)
    mixed = chance.sample(services, len(services))
    assert export_project(Found("shop", services, {})) == export_project(Found("shop", mixed, {}))
