# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Entries of a blueprint."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.entry import Entry


@pytest.mark.parametrize(
    ("values", "name"),
    [({}, "db"), ({"name": "Main"}, "Main"), ({"slug": "acme-db"}, "acme-db"), ({"id": "svc_1"}, "db")],
)
def test_an_entry_has_a_name_and_a_place(values: dict[str, str], name: str) -> None:
    entry = Entry("services", "db", values)
    assert (entry.name, entry.path) == (name, ("services", "db"))
