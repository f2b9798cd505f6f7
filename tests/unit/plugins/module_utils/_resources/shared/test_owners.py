# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Owners are told apart, and a file does not say who they are."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.owners import owner_of


def test_an_owner_is_a_hash_or_nothing() -> None:
    assert owner_of("ops@example.com") == owner_of("ops@example.com") != owner_of("dev@example.com")
    assert "example" not in owner_of("ops@example.com")
    assert owner_of(None) == owner_of("") == ""
