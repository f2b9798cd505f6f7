# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a blueprint is read from."""

from __future__ import annotations

from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.source import (
    SourceOptions,
    read_source,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    declarations_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import NoSuchItem


def test_a_blueprint_selects_and_may_hold_secrets() -> None:
    """So an empty one is refused, and what is in it is not shown; a file is read on this machine."""
    declared = declarations_of(SourceOptions)
    assert {"src", "blueprint"} <= declared.selectors
    assert "src" in declared.sources and "blueprint" in declared.secrets


def test_the_option_is_taken_as_it_is() -> None:
    document = read_source(SourceOptions(blueprint={"project": "shop"}))
    assert document.data == {"project": "shop"} and not document.places


def test_a_file_has_the_places_of_its_values(tmp_path: Path) -> None:
    path = tmp_path / "shop.yml"
    path.write_text("project: shop\nservices:\n  db: {product: postgresql}\n")
    document = read_source(SourceOptions(src=FilePath(str(path)), blueprint={"project": "other"}))
    assert document.data == {"project": "shop", "services": {"db": {"product": "postgresql"}}}
    assert document.where(("services", "db", "product")).startswith("shop.yml:3:8:")


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NoSuchItem, match=r"gone\.yml' cannot be read"):
        read_source(SourceOptions(src=FilePath(str(tmp_path / "gone.yml"))))


def test_what_the_action_has_read_is_used(tmp_path: Path) -> None:
    """The module has no variables and no vault, so it takes the answers of the controller."""
    assert SourceOptions().rendered is None
    assert SourceOptions(_rendered={"text": "project: shop\n", "answers": []}).rendered is not None
