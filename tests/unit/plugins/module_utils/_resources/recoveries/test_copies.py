# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What lies on shelves of copies; tests/unit/data/recover/copies.yml has which of it a service gets."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import Wanted
from ansible_collections.hosted.services.plugins.module_utils._resources.recoveries.copies import (
    Choice,
    read_shelves,
)
from unit.plugins.module_utils._resources.recoveries.platform import shelve

OLD, NEW = "20261101T030000Z", "20261120T030000Z"


def test_a_copy_leaves_out_what_its_plan_did_then(tmp_path: Path) -> None:
    """Where nobody knows that, all that any copy is known to leave out may be it."""
    old, new = (shelve(tmp_path, "svc_1", {"a": "1"}, moment=moment) for moment in (OLD, NEW))
    described = tmp_path / "svc_1" / "service.json"
    (tmp_path / "svc_1" / "nightly-20261121T030000Z").symlink_to(new)  # which is no copy
    for about, expected in (
        ({}, [([], False), ([], False)]),
        ({"exclude": "x", "excluded": {new.name: []}}, [([], False), ([], True)]),
        ({"excluded": {old.name: ["b"], "x": ["c"], new.name: 5}}, [(["b"], True), (["b", "c"], False)]),
        ({"excluded": ["b"]}, [([], False), ([], False)]),
    ):
        described.write_text(json.dumps(about))
        [shelf] = read_shelves(str(tmp_path))
        assert [each.left_out() for each in shelf.copies] == expected


@pytest.mark.parametrize("part", ["", "svc_1", f"svc_1/nightly-{NEW}", f"svc_1/nightly-{NEW}/database.dump"])
def test_what_everybody_can_write_to_is_named_once(tmp_path: Path, part: str) -> None:
    """Whoever can write there decides what is restored. A folder that is closed closes what is in it."""
    shelve(tmp_path, "svc_1", {"database.dump": "1"}, moment=NEW, name="db", engine="postgresql")
    path = tmp_path / part
    for each in (tmp_path, *tmp_path.rglob("*")):
        each.chmod(0o755 if each.is_dir() else 0o644)

    def remarks() -> list[str]:
        chooses = Choice(read_shelves(str(tmp_path)), ["shop"])
        chosen = chooses.known(Wanted("db", "db", "db", False))
        chooses.warn_of_writable(str(tmp_path), [chosen, chosen])
        return chooses.remarks

    assert remarks() == []
    path.chmod(0o777)
    [remark] = remarks()
    assert f"can write to {path}, and so" in remark and remark.endswith(f"chmod o-w {path}")
    if part:
        tmp_path.chmod(0o700)
        assert remarks() == []


def test_a_description_that_does_not_end_is_not_read(tmp_path: Path) -> None:
    """Somebody else may have written to the folder."""
    shelve(tmp_path, "svc_1", {"a": "1"})
    description = tmp_path / "svc_1" / "service.json"
    description.unlink(missing_ok=True)
    os.mkfifo(description)
    assert read_shelves(str(tmp_path))[0].about == {}
    description.unlink()
    description.symlink_to("/dev/zero")
    assert read_shelves(str(tmp_path))[0].about == {}
