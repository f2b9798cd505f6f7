# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The environments that refer to a service: what they become, and what has to be given."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import App, ProjectGraph, Service
from ansible_collections.hosted.services.plugins.module_utils._resources.clones.source import Data
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.dependents import (
    Dependent,
    check_references,
    is_running,
    read_dependents,
    release_in_service,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.options import (
    RelocateOptions,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.relocations.origin import Origin
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.relocation_record import (
    Phase,
    Relocation,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.module_utils._resources.relocations.in_memory import DIGEST, OTHER, case, web

WEB = App(id="app_1", name="web", slug="acme-web", status="ACTIVE", image_ref="r/acme-web@sha256:1")
URL = "http://localhost:8080"


def origin(*edges: tuple[str, str, list[str]]) -> Origin:
    """Return a service to which others refer."""
    graph = {
        "nodes": [{"id": "svc_1", "alias": "mc"}, {"id": "svc_9", "name": "proxy"}],
        "edges": [{"from": one, "to": other, "through": names} for one, other, names in edges],
    }
    service = Service(id="svc_1", name="survival", family="GAME", status="ACTIVE")
    return Origin(service, None, ProjectGraph.model_validate(graph), {"app_1": WEB}, Data.FILES, running=True)


@pytest.fixture
def read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Read the dependents of a service, with a folder of its own."""
    monkeypatch.setenv("HOSTED_SERVICES_HOME", str(tmp_path))

    def go(
        of: Origin, new_id: str | None = None, remembered: tuple[str, ...] = (), **given: Any
    ) -> list[Dependent]:
        options = RelocateOptions(service="survival", base_url=URL, **given)
        record = Relocation.of(options, "svc_1")
        record.write(Phase.ORDERED, new_id=new_id, dependents=list(remembered))
        return read_dependents(Task(cast(Any, None), options), of, record)

    return go


def test_references_lead_to_where_the_service_is() -> None:
    dependent = Dependent(
        WEB,
        frozenset({"A"}),
        {"A": "${mc.HOST}:${mc.PORT}", "B": "${other.URL}", "C": 1, "D": "$${mc.HOST}", "E": "${mc-2.URL}"},
        {"F": "x${mc.URL}"},
    )
    assert dependent.environment({"mc", "mc-2"}, "mc-2") == {
        "slug": "acme-web",
        "variables": {
            "A": "${mc-2.HOST}:${mc-2.PORT}",
            "B": "${other.URL}",
            "C": 1,
            "D": "$${mc-2.HOST}",
            "E": "${mc-2.URL}",
        },
        "secret_variables": {"F": "x${mc-2.URL}"},
    }


def test_an_empty_part_of_an_environment_is_left_out() -> None:
    assert Dependent(WEB, frozenset()).environment(set(), "mc") == {
        "slug": "acme-web",
        "variables": None,
        "secret_variables": None,
    }


def test_an_environment_that_refers_to_another_service_is_refused() -> None:
    """Such as the one that was in the place of the service before."""
    dependent = Dependent(WEB, frozenset({"GAME"}), {"GAME": "${survival.HOST}"}, {})
    check_references([dependent], {"survival"}, "service 'survival'")
    with pytest.raises(Invalid, match=r"to which its GAME refers now.*\$\{mc-2.FIELD\} or \$\{mc-3.FIELD\}"):
        check_references([dependent], {"mc-3", "mc-2"}, "service 'survival-2'")
    check_references([replace(dependent, referring=frozenset())], {"mc-2"}, "service 'survival-2'")


def test_applications_are_given_their_environments_by_slug_or_id(read: Any) -> None:
    edge = ("app_1", "svc_1", ["GAME"])
    for key in ("acme-web", "app_1"):
        [found] = read(origin(edge), environments={key: {"GAME": "x"}}, secret_environments={key: {"K": "y"}})
        assert (found.plain, found.secret) == ({"GAME": "x"}, {"K": "y"})


def test_what_refers_to_the_new_service_counts_on_the_way(read: Any) -> None:
    edge = ("app_1", "svc_2", ["GAME"])
    assert read(origin(edge)) == []
    assert len(read(origin(edge), new_id="svc_2", environments={"acme-web": {"GAME": "x"}})) == 1
    for given in ("environments", "secret_environments"):
        own = {given: {"acme-web": {"GAME": "x"}}}
        assert len(read(origin(), remembered=("acme-web",), **own)) == 1
    assert read(origin(), remembered=("acme-web",)) == []


def test_an_application_that_does_not_refer_to_it_has_no_environment_here(read: Any) -> None:
    """Its environment would not be written, so that it must not be given either."""
    said = "environments names 'acme-web'; applications that refer to the service: none. Nothing was ordered"
    with pytest.raises(Invalid, match=said):
        read(origin(), environments={"acme-web": {"GAME": "x"}})
    edges = [("app_1", "svc_1", ["GAME"])]
    with pytest.raises(Invalid, match="'other'; applications that refer to the service: acme-web"):
        read(origin(*edges), environments={"acme-web": {"GAME": "x"}, "other": {}})


def test_what_the_two_services_refer_to_is_no_dependent(read: Any) -> None:
    """Nor is an edge from nowhere. One that names no variable refers to it all the same."""
    edges: list[Any] = [("svc_2", "svc_1", ["A"]), ("svc_1", "svc_2", ["B"]), (None, "svc_1", ["C"])]
    assert read(origin(*edges), new_id="svc_2") == []
    [found] = read(origin(("app_1", "svc_1", None)), environments={"acme-web": {"GAME": "x"}})  # type: ignore[arg-type]
    assert found.referring == frozenset()


def test_a_project_of_which_nothing_is_shown_has_no_references(read: Any) -> None:
    assert read(replace(origin(), graph=ProjectGraph())) == []
    graph = ProjectGraph.model_validate({"edges": [{"from": "svc_9", "to": "svc_1", "through": ["UP"]}]})
    with pytest.raises(Invalid, match=r"service 'svc_9' \(svc_9\) refers to"):
        read(replace(origin(), graph=graph))


@pytest.mark.parametrize(
    ("edge", "given", "message"),
    [
        (("app_1", "svc_1", ["GAME", "URL"]), {}, "application 'acme-web' lacks GAME, URL"),
        (("app_1", "svc_1", ["GAME"]), {"environments": {"acme-web": {"X": "1"}}}, "lacks GAME"),
        (("svc_9", "svc_1", ["UP"]), {}, r"service 'proxy' \(svc_9\) refers to service 'survival'"),
        (("app_1", "svc_1", []), {"environments": {"other": {}}}, "environments names 'other'"),
    ],
)
def test_what_is_not_known_is_refused(edge: Any, given: dict[str, Any], message: str, read: Any) -> None:
    with pytest.raises(Invalid, match=message):
        read(origin(edge), **given)


def test_what_is_left_alone_needs_nothing(read: Any) -> None:
    edges = [("app_1", "svc_1", ["GAME"]), ("svc_9", "svc_1", ["UP"])]
    assert read(origin(*edges), without_dependents=["acme-web", "svc_9"]) == []


@pytest.mark.parametrize(
    ("image", "status", "deployable"),
    [
        (f"r/acme-web@{DIGEST}", "ACTIVE", True),
        (f"r/acme-web@{DIGEST}", "SUSPENDED", False),
        ("r/acme-web:v1", "ACTIVE", False),
        (None, "ACTIVE", False),
    ],
)
def test_only_what_is_in_service_is_deployed_again(image: str | None, status: str, deployable: bool) -> None:
    app = WEB.model_copy(update={"image_ref": image, "status": status})
    assert Dependent(app, frozenset()).deployable is deployable


def test_an_image_is_deployed_again_by_the_tag_that_was_deployed(tmp_path: Path) -> None:
    """If that is not shown, by one that is declared for the same digest."""
    found = case(tmp_path)
    task, dependent = found.work.task, web(found.account)
    assert release_in_service(task, dependent) == ("v1", DIGEST)
    found.account.tag = None
    found.account.declared = {"v2": OTHER, "v3": DIGEST}
    assert release_in_service(task, dependent) == ("v3", DIGEST)
    found.account.source_shown = False
    assert release_in_service(task, dependent) == ("v3", DIGEST)
    found.account.tag, found.account.source_shown = "v2", True
    assert release_in_service(task, dependent) == ("v3", DIGEST), "v2 was declared again for another image"
    del found.account.declared["v3"]
    with pytest.raises(Invalid, match=f"no tag of the image that application 'acme-web' runs, {DIGEST}"):
        release_in_service(task, dependent)


@pytest.mark.parametrize(
    ("state", "runs"), [("running", True), ("starting", True), ("stopped", False), (None, False)]
)
def test_whether_an_application_runs(state: str | None, runs: bool, tmp_path: Path) -> None:
    found = case(tmp_path)
    found.account.states["app_1"] = state
    assert is_running(found.work.task, web(found.account)) is runs
