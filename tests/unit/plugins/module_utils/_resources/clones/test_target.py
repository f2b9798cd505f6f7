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

from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    BadRequest,
    HostedError,
    Interrupted,
    RateLimited,
)
from ansible_collections.hosted.services.plugins.module_utils._api.models import App, Project
from ansible_collections.hosted.services.plugins.module_utils._api.platform_clock import PlatformClock
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
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.target import (
    CloneRecord,
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
from unit.plugins.fakes import FakeClient


@pytest.mark.parametrize(
    ("error", "noted"),
    [(BadRequest("no", 400), False), (RateLimited("later"), False), (Interrupted("lost"), True)],
)
def test_an_order_that_came_to_nothing_for_sure_is_not_noted(
    error: HostedError, noted: bool, tmp_path: Path
) -> None:
    record = CloneRecord(str(tmp_path / "record.json"))
    with pytest.raises(type(error)), record.ordering("id-Survival", PlatformClock()):
        assert "id-Survival" in Path(record.path).read_text()
        raise error
    assert ("id-Survival" in Path(record.path).read_text()) is noted


def test_an_order_that_is_refused_leaves_the_note_of_one_that_was_lost(tmp_path: Path) -> None:
    """The platform may refuse it because the one that was lost is carried out by now."""
    record = CloneRecord(str(tmp_path / "record.json"), sent={"id-Survival": "2026-11-20T03:00:00Z"})
    with pytest.raises(BadRequest), record.ordering("id-Survival", PlatformClock()):
        assert record.sent["id-Survival"] != "2026-11-20T03:00:00Z"
        raise BadRequest("exists", 400)
    assert "2026-11-20T03:00:00Z" in Path(record.path).read_text()


@pytest.mark.parametrize(
    ("created", "taken"),
    [("2026-11-20T03:00:01Z", True), ("2026-11-20T03:11:00Z", False), ("2026-11-20T02:58:00Z", False)],
)
def test_what_appears_is_taken_if_it_came_up_with_a_lost_order(
    created: str, taken: bool, tmp_path: Path
) -> None:
    account = FakeClient()
    account.add_service("svc_1", "Survival-x", createdAt=created)
    record = CloneRecord(str(tmp_path / "record.json"), ids={"id-lobby": "svc_2"})
    assert not record.takes("id-Survival", "svc_1", cast(Any, account)), "nothing was ordered"
    record.sent["id-Survival"] = "2026-11-20T03:00:00Z"
    assert record.takes("id-Survival", "svc_1", cast(Any, account)) is taken
    assert record.ids.get("id-Survival") == ("svc_1" if taken else None)
    assert record.takes("id-lobby", "svc_2", cast(Any, account)), "it is known by its id"
    assert not record.takes("id-Survival", "svc_3", cast(Any, account)), "it is not listed"


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
