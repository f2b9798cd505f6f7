# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text of an export: it reads back as the data, whatever the platform calls things."""

from __future__ import annotations

import yaml
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.document import (
    parse_document,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import (
    Export,
    Exported,
    export_text,
)

TEXTS = st.text(st.characters(codec="utf-8"), max_size=20)


@given(TEXTS, TEXTS, TEXTS)
def test_any_name_reads_back_and_no_remark_ends_its_comment(project: str, name: str, remark: str) -> None:
    entry = Exported(
        "services",
        "db",
        {"name": name, "dimensions": {"ram_gb": 2}, "public": False},
        id="1",
        remarks=[remark],
    )
    export = Export(project, [entry], remarks=[remark])
    document = parse_document(export_text(export), "shop.yml")
    assert not document.problems
    assert document.data == export.data


def test_words_that_yaml_takes_for_something_else_stay_text() -> None:
    for word in ("null", "on", "123", "1e3", "a: b", "x #y", "!vault", "*a", "&a", "=", "2026-11-23", "~"):
        key = word if word.isalnum() else "key"
        export = Export(word, [Exported("services", key, {"name": word}, id="1")])
        assert yaml.safe_load(export_text(export)) == export.data


def test_odd_line_breaks_and_what_turns_around_the_text_are_escaped() -> None:
    """Read back otherwise, a name would be that of a service that is not there, and so is ordered."""
    for name in ("a\x85 b", "\u2028%", "gnp\u202e.txt", "{{ x }}\x85y", "run\nit\x1b[2J", "tea\u200d\ufeff"):
        values = {"name": name, "command": name}
        export = Export(name, [Exported("services", "key", values, id="1", remarks=[name])])
        text = export_text(export)
        assert parse_document(text, "shop.yml").data == export.data
        assert not [char for char in text if not char.isprintable() and char != "\n"]
