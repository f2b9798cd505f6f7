# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Connection details (section Database connection of the specification)."""

from __future__ import annotations

from hosted_sandbox.engine import connection_details


def test_details() -> None:
    details = connection_details(
        engine="postgresql",
        host="db.internal.test",
        port=5432,
        user="owner",
        password="p@ss/word: 1",
        database="shop",
    )
    assert details == {
        "engine": "postgresql",
        "host": "db.internal.test",
        "port": 5432,
        "user": "owner",
        "password": "p@ss/word: 1",
        "database": "shop",
        "url": "postgresql://owner:p%40ss%2Fword%3A%201@db.internal.test:5432/shop",
    }
