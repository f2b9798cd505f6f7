# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is remembered of clones; tests/unit/data/clone/target.yml has where they go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Project
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprints.export import (
    Export,
    Exported,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.rules import (
    blueprint_of,
    read_environments,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import (
    CloneOptions,
    Original,
    SourceProject,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    StateDirOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.pending import (
    Fingerprints,
    record_of,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid

# --- What is made --------------------------------------------------------------------


DIGEST = f"sha256:{'a1' * 32}"


def source_of(*slugs: str, ran: Sequence[str] = (), tag: str | None = None) -> SourceProject:
    """Return a project of applications, of which some have been deployed and the first shows its tag."""
    originals = [
        Original(
            *(slug, slug, slug, True),
            Exported("applications", slug, {}, id=slug),
            {"name": slug, "host": None, "settings": {"source": {"tag": tag if slug == slugs[0] else None}}},
            App(id=slug, slug=slug, status="ACTIVE", image_ref=f"r/a@{DIGEST}" if slug in ran else None),
            referring=["URL"],
        )
        for slug in slugs
    ]
    return SourceProject(Project(id="prj-shop", name="shop"), originals, [], Export("shop"))


def test_an_image_is_that_of_the_source() -> None:
    source = source_of("acme-web", "acme-api", "acme-new", ran=("acme-web", "acme-api"), tag="v2")
    names = {each.key: f"{each.was}-x" for each in source.originals}
    options = CloneOptions(source="shop", project="copy")
    data, _states = blueprint_of(options, source, {key: {} for key in names}, {}, names=names, there={})
    assert {key: values.get("image") for key, values in data["applications"].items()} == {
        "acme-web": {"tag": "v2", "digest": DIGEST},
        "acme-api": {"tag": "clone-a1a1a1a1a1a1", "digest": DIGEST},
        "acme-new": None,
    }


def test_variables_that_this_controller_wrote_are_known(tmp_path: Path) -> None:
    source = source_of("acme-web")
    record = record_of(StateDirOptions(state_dir=FilePath(str(tmp_path))), "acme-web")
    Fingerprints.at(record, "acme-web").keep({"LOG_LEVEL": "info", "URL": "x"})

    def read(**given: Any) -> None:
        own: Any = {"source": "shop", "project": "copy", "state_dir": str(tmp_path), **given}
        read_environments(Task(cast(Any, SimpleNamespace()), CloneOptions(**own)), source, None)

    with pytest.raises(Invalid, match=r"'acme-web' lacks LOG_LEVEL, URL\. Nothing was ordered"):
        read()
    read(without_environment=["acme-web"])
