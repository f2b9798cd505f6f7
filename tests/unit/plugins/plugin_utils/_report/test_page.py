# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What sections share: sections with titles, boxes that scroll, tables."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from ansible_collections.hosted.services.plugins.plugin_utils._report.page import (
    Column,
    check_report,
    table,
)


def test_a_table_has_heads_of_columns_and_rows() -> None:
    columns = [Column("Service"), Column("A month", "a month", number=True)]
    found = table("Services", columns, [["db", "1.00"]])
    heads = [(each.text, each.get("scope"), each.get("class")) for each in found.iter("th")]
    assert heads == [("Service", "col", None), ("A month", "col", "n"), ("db", "row", None)]
    [data] = found.iter("td")
    assert (data.get("data-of"), data.get("class"), data.text) == ("a month", "n", "1.00")
    assert found.get("aria-label") == "Services"


@pytest.mark.parametrize("given", [None, "answers", ["answers"], {}, {"report": {"answers": {}}}])
def test_what_is_no_report_is_refused(given: Any) -> None:
    assert check_report({"answers": {}}) == {"answers": {}}
    with pytest.raises(Invalid, match="this is no report; give the filter what module report_info returns"):
        check_report(given)
