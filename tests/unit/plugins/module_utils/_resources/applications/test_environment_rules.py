# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules for environments: what is refused before it is sent, and what only the platform can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import models as m
from ansible_collections.hosted.services.plugins.module_utils._api.errors import HostedError, error_for_status
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import (
    environment_rules as rules,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.lookup import (
    placeholder_app,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Task
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import FakeClient, task_of

APP = m.App.model_construct(id="svc_shop", slug="shop", name="shop")


# --- What was given ---------------------------------------------------------------------------------


def given_variables(**given: Any) -> Any:
    """Return the variables of a task with these options."""
    return rules.given_variables(task_of(ENVIRONMENT, FakeClient(), slug="shop", **given).options)


@pytest.mark.parametrize(
    ("variables", "secret", "given"),
    [
        ({"A": "1"}, None, ({"A": "1"}, {})),
        (None, {"S": "x"}, ({}, {"S": "x"})),
        ({"A": "1"}, {"S": "x"}, ({"A": "1"}, {"S": "x"})),
    ],
)
def test_variables_are_taken_as_they_are(variables: Any, secret: Any, given: Any) -> None:
    assert given_variables(variables=variables, secret_variables=secret) == given


@pytest.mark.parametrize(
    ("variables", "secret", "complaint"),
    [
        (None, None, "neither variables nor secret_variables holds a variable"),
        ({}, None, "neither variables nor secret_variables holds a variable"),
        ({}, {"S": "x"}, "^variables is an empty dictionary"),
        ({"A": "1"}, {}, "^secret_variables is an empty dictionary"),
    ],
)
def test_an_empty_value_does_not_remove_the_environment(variables: Any, secret: Any, complaint: str) -> None:
    with pytest.raises(Invalid, match=complaint):
        given_variables(variables=variables, secret_variables=secret)


def test_to_remove_everything_has_to_be_said_and_nothing_else() -> None:
    assert given_variables(clear=True) == ({}, {})
    for name in ("variables", "secret_variables"):
        for value in ({"A": "1"}, {}):
            with pytest.raises(Invalid, match=f"so {name} cannot be given with it"):
                given_variables(clear=True, **{name: value})


def test_nothing_is_cleared_or_written_again_unless_the_task_says_so() -> None:
    options = task_of(ENVIRONMENT, FakeClient(), slug="shop").options
    assert (options.clear, options.force) == (False, False)
    assert {"variables", "secret_variables"} <= ENVIRONMENT.selectors
    assert ENVIRONMENT.secret_options == {"secret_variables"}
    assert ENVIRONMENT.options["secret_variables"]["no_log"] is False, "it is redacted by its values"


def test_both_are_one_environment_and_no_variable_is_in_both() -> None:
    assert rules.merged({"A": "1"}, {"S": "x"}) == {"A": "1", "S": "x"}
    with pytest.raises(Invalid, match=r"^B, C: in variables and in secret_variables") as error:
        rules.merged({"A": "1", "C": "2", "B": "3"}, {"B": "hush-1", "C": "hush-2"})
    assert "hush" not in error.value.message


def test_at_most_a_hundred_variables() -> None:
    variables = {f"V{number}": "x" for number in range(100)}
    assert rules.merged(variables, {}) == variables
    with pytest.raises(Invalid, match="has 101 variables; at most 100"):
        rules.merged(variables, {"ONE_MORE": "x"})


@pytest.mark.parametrize("name", ["1A", "A-B", "A B", "", "Ä", 7, None, "A\n"])
def test_what_cannot_name_a_variable(name: Any) -> None:
    with pytest.raises(Invalid, match="is not a valid variable name"):
        rules.merged({name: "x"}, {})


def test_port_is_reserved() -> None:
    with pytest.raises(Invalid, match="PORT is reserved"):
        rules.merged({"PORT": "80"}, {})
    assert rules.merged({"_a1": "x", "PORTS": "80", "port": "80"}, {})


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "a boolean"),
        (1, "a number"),
        (1.5, "a number"),
        ([], "a list"),
        ({}, "a dictionary"),
        (None, "empty"),
    ],
)
def test_a_value_is_a_string_as_its_user_spells_it(value: Any, kind: str) -> None:
    with pytest.raises(Invalid, match=f"the value of the variable A is {kind}; it must be a string"):
        rules.merged({"A": value}, {})
    with pytest.raises(Invalid, match="of the variable A is of type bytes"):
        rules.merged({"A": b"hush"}, {})


# --- References -------------------------------------------------------------------------------------


def test_what_is_a_reference() -> None:
    environment = {"A": "${db.URL}/${cache.HOST_2}", "B": "$${db.URL}", "C": "${VAR:-a.b}", "D": "plain ${X}"}
    found = [("A", "db", "URL"), ("A", "cache", "HOST_2"), ("B", "db", "URL")]
    assert list(rules.references(environment)) == found


class Project(FakeClient):
    """A project of the application and its neighbors; or a token that may not see it."""

    def __init__(self, *aliases: str, closed: bool = False) -> None:
        super().__init__()
        self.aliases = aliases
        self.closed = closed
        self.looks = 0

    def project_graph(self, id: str) -> m.ProjectGraph:
        self.looks += 1
        if self.closed:
            raise error_for_status("not for this token", 403)
        others = [{"id": f"svc_{number}", "alias": alias} for number, alias in enumerate(self.aliases)]
        return m.ProjectGraph.model_validate({"nodes": [{"id": "svc_shop", "alias": "shop"}, *others]})


def check_references(
    task: Task[rules.EnvironmentOptions], app: m.App, environment: Mapping[str, str]
) -> rules.CheckedReferences:
    """Check the references of an environment as a task does that waits for no neighbor."""
    return rules.check_references(task, app, environment, rules.read_neighbors(task, app, environment))


def checked(
    client: FakeClient, environment: Mapping[str, str], check_mode: bool = False
) -> tuple[list[str], Any]:
    """Return what the platform alone can check, and the warnings."""
    task = task_of(ENVIRONMENT, client, check_mode, slug="shop")
    return check_references(task, APP, environment).unchecked, task.warnings


def test_a_reference_to_a_neighbor_is_fine() -> None:
    assert checked(Project("db"), {"A": "${db.URL}"}) == ([], [])


def test_without_a_reference_nobody_is_asked() -> None:
    client = Project("db")
    assert checked(client, {"A": "x", "B": "${a.b}"}) == ([], [])
    assert client.looks == 0


@pytest.mark.parametrize("alias", ["dp", "shop"])
def test_a_reference_to_no_neighbor_is_refused(alias: str) -> None:
    """Nor is an application a neighbor of its own."""
    with pytest.raises(
        Invalid, match=rf"A refers to \$\{{{alias}.URL\}}, but '{alias}' is no neighbor"
    ) as error:
        checked(Project("db"), {"A": f"${{{alias}.URL}}"})
    assert error.value.message.startswith("the environment of application 'shop' was refused: ")
    assert "'db'" in error.value.message


def test_check_mode_foresees_a_neighbor_that_the_play_creates() -> None:
    found, warnings = checked(Project("db"), {"A": "${cache.URL}", "B": "${db.URL}", "C": "${x.y}"}, True)
    assert found == ["${cache.URL}"]
    assert len(warnings) == 1 and "only if the play makes it" in warnings[0]


def test_the_project_of_an_application_is_found_past_one_without_services() -> None:
    class Projects(Project):
        def project_graph(self, id: str) -> m.ProjectGraph:
            empty = m.ProjectGraph.model_validate({"id": id, "nodes": None})
            return super().project_graph(id) if id == "prj_2" else empty

    client = Projects("db")
    client.add_project("prj_2", "games")
    assert checked(client, {"A": "${db.URL}"}) == ([], [])


def test_the_neighbors_that_are_missing_are_named_in_check_mode() -> None:
    task = task_of(ENVIRONMENT, Project("db"), check_mode=True, slug="shop")
    environment = {"A": "${cache.URL}${db.URL}", "B": "${cache.HOST} ${x.y}"}
    assert check_references(task, APP, environment).missing == ["cache"]


@pytest.mark.parametrize(
    ("project", "expected"),
    [
        (None, (["${x.URL}"], ["x"])),
        ("games", (["${db.URL}", "${x.URL}"], ["db", "x"])),
        ("nope", (["${db.URL}", "${other.URL}", "${x.URL}"], [])),
    ],
)
def test_a_new_application_refers_to_services_of_the_project_that_it_joins(
    project: str | None, expected: tuple[list[str], list[str]]
) -> None:
    """One that may join any project refers to a service of any; one that nobody has is not there."""

    class Projects(Project):
        def project_graph(self, id: str) -> m.ProjectGraph:
            node = {"id": "svc_1", "alias": "other" if id == "prj_2" else "db"}
            return m.ProjectGraph.model_validate({"id": id, "nodes": [node]})

    client = Projects()
    client.add_project("prj_2", "games")
    given = {} if project is None else {"project": project}
    task = task_of(ENVIRONMENT, client, check_mode=True, slug="shop", **given)
    environment = {"A": "${db.URL}", "B": "${other.URL}", "C": "${x.URL}"}
    found = check_references(task, placeholder_app("shop"), environment)
    assert found == rules.CheckedReferences(*expected)


def test_a_token_that_does_not_open_the_project_leaves_the_check_to_the_platform() -> None:
    found = checked(Project(closed=True), {"A": "${db.URL}${db.HOST}", "B": "${db.URL} ${x.y}"})
    assert found == (["${db.HOST}", "${db.URL}"], [])


def test_an_alias_that_several_have_is_told_where_it_is_used() -> None:
    assert checked(Project("db", "db", "web"), {"A": "${web.URL}"}) == ([], [])
    found, (warning,) = checked(Project("db", "db"), {"A": "${db.URL}"})
    assert found == [] and "several services of the project have the alias 'db'" in warning


@pytest.mark.parametrize(
    ("environment", "hints"),
    [
        ({"A": "x"}, []),
        ({"A": "${db.URL}"}, ["each alias that is referred to ('db') must be a neighbor"]),
        ({"B": "${a.b}"}, []),
    ],
)
def test_a_refusal_by_the_platform_is_told_with_what_may_be_its_cause(
    environment: dict[str, str], hints: list[str]
) -> None:
    error = rules.explain_environment_error(HostedError("no", status=422), APP, environment)
    assert error.message.startswith("the environment of application 'shop' was refused: no")
    assert all(hint in error.message for hint in hints)
    assert error.message.count(";") == len(hints)
    assert error.details == {"status": 422}
