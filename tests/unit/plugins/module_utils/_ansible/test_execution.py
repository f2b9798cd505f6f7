# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task returns: on success, in check mode, on failure, and when it came half way."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import (
    RunContext,
    as_diff,
    execute,
    shown_options,
)
from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._api.errors import (
    HostedError,
    Interrupted,
    error_for_status,
)
from ansible_collections.hosted.services.plugins.module_utils._api.http_transport import (
    Request,
    Response,
    Transport,
)
from ansible_collections.hosted.services.plugins.module_utils._api.text import HIDDEN
from ansible_collections.hosted.services.plugins.module_utils._resources.backup import BACKUP
from ansible_collections.hosted.services.plugins.module_utils._resources.project import PROJECT
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.budget import read_budget
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.money import Commitment, Cost
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import Options, option
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import (
    Plan,
    Resource,
    Step,
    Task,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import WaitEnded
from unit.plugins.results import Result

TOKEN = "tok-hunter2"
OPTIONS: dict[str, Any] = {
    "base_url": "https://api.example.com",
    "token": TOKEN,
    "token_file": None,
    "auth_header": "Authorization",
    "auth_scheme": "Bearer",
    "validate_certs": True,
    "ca_path": None,
    "timeout": 60.0,
    "retries": 5,
    "allow_http_hosts": [],
    "name": "x",
    "variables": {"PASSWORD": "hunter2"},
}

HEADERS = {"before_header": "test execution x", "after_header": "test execution x"}
"""The diff of a task names what it is about."""


@dataclass(frozen=True, kw_only=True)
class ThingOptions(Options):
    """Options of each kind: plain, never shown, and redacted by Ansible."""

    name: str | None = None
    variables: dict[str, Any] | None = option(None, secret=True)
    pin: str | None = option(None, no_log=True)


class Thing(Resource[ThingOptions]):
    """A module whose plan is what the test gives it."""

    result_key = "thing"

    def __init__(self, make: Callable[[Task[ThingOptions]], Plan]) -> None:
        self.make = make

    def plan(self, task: Task[ThingOptions]) -> Plan:
        return self.make(task)


class Echo:
    """A platform that refuses everything, and repeats what it was sent after so much of its own."""

    def __init__(self, before: str = "") -> None:
        self.before = before

    def exchange(self, request: Request, seconds: float) -> Response:
        if request.body is None:  # the currency, which the task gets by without
            return Response(403, None, b"")
        said = f"{self.before}invalid value for KEY: {request.body['environment']['KEY']}"
        return Response(400, None, json.dumps({"statusCode": 400, "message": said}).encode())

    def clone(self) -> Echo:
        return self

    def close(self) -> None: ...


def run(
    make: Callable[[Task[ThingOptions]], Plan],
    options: dict[str, Any] | None = None,
    transport: Transport | None = None,
    **around: Any,
) -> dict[str, Any]:
    context = RunContext(connect=lambda settings, log: Client(settings, log, transport or Echo()), **around)
    return Result(execute(Thing(make), {**OPTIONS, **(options or {})}, context))


def fail() -> None:
    raise error_for_status("PUT /x: the platform refused (400): no", 400, hint=1)


def steps(*runs: Callable[[], Any]) -> list[Step]:
    return [Step(f"step {number}", run) for number, run in enumerate(runs, 1)]


def test_a_change_is_made_and_read_again() -> None:
    """Check mode shows the same and does nothing."""
    made: list[int] = []
    plan = Plan(
        result={"id": None},
        steps=steps(lambda: made.append(1), lambda: made.append(2)),
        reread=lambda: {"id": "new"},
        before={},
        after={"name": "x", "size": {"a": 1}},
        cost=Cost(None, Decimal("1.5")),
    )
    planned, result = (run(lambda task: plan, diff=True, check_mode=check) for check in (True, False))
    assert made == [1, 2]
    result.pop("invocation"), planned.pop("invocation")
    assert result == {
        "changed": True,
        "thing": {"id": "new"},
        "actions": ["step 1", "step 2"],
        "diff": {"before": "", "after": "name: x\nsize:\n  a: 1\n", **HEADERS},
        "cost": Cost(None, Decimal("1.5")).as_dict(),
    }
    assert planned == {**result, "thing": {"id": None}}


def priced(runs: dict[str, Callable[[], Any]]) -> Plan:
    """Return a plan that goes from 1.00 to 3.00 a month, by way of 2.00."""
    commits = {
        "resume": Commitment("resumption", "s", Decimal(2), id="s", before=Decimal(1)),
        "resize": Commitment("new size", "s", Decimal(3), id="s", before=Decimal(2)),
    }
    made = [Step(name, run, commitment=commits.get(name)) for name, run in runs.items()]
    return Plan(result={"id": "s"}, steps=made, cost=Cost(Decimal(1), Decimal(3)))


def lose() -> None:
    raise Interrupted("PUT /x: the connection was reset")


@pytest.mark.parametrize(
    ("runs", "after", "moves"),
    [
        ({"resume": bool, "resize": bool, "tell": bool}, "3.00", ["resume", "resize"]),
        ({"resume": bool, "tell": fail, "resize": bool}, "2.00", ["resume"]),
        ({"resume": bool, "resize": lose}, None, ["resume", "resize"]),
    ],
)
def test_a_cost_is_what_was_done_and_not_what_was_planned(
    runs: dict[str, Callable[[], Any]], after: str | None, moves: list[str]
) -> None:
    cost = run(lambda task: priced(runs))["cost"]
    assert (cost["monthly_before"], cost["monthly_after"], cost["moves"]) == ("1.00", after, moves)
    planned = run(lambda task: priced(runs), check_mode=True)["cost"]
    assert planned["monthly_after"] == "3.00" and planned["moves"] == ["resume", "resize"]


@pytest.mark.parametrize("foreseen", [HostedError("no room", node="n1"), None])
def test_check_mode_fails_as_the_run_would(foreseen: HostedError | None) -> None:
    """What would be done before that is shown, but a diff would show what cannot be reached."""
    plan = Plan(result=None, steps=steps(fail), after={"name": "x"}, failure=lambda: foreseen)
    result = run(lambda task: plan, diff=True, check_mode=True)
    assert result.get("failed", False) is ("diff" not in result) is (foreseen is not None)
    assert (result.get("msg"), result.get("node")) == (("no room", "n1") if foreseen else (None, None))
    assert result["actions"] == ["step 1"]


def test_a_failure_of_the_plan() -> None:
    def make(task: Task[ThingOptions]) -> Plan:
        task.warn("look")
        task.warn("look")
        fail()
        raise AssertionError

    result = run(make)
    result.pop("invocation")
    assert result == {
        "changed": False,
        "failed": True,
        "msg": "PUT /x: the platform refused (400): no",
        "status": 400,
        "hint": 1,
        "warnings": ["look"],
    }


@pytest.mark.parametrize(("at", "changed", "actions"), [(0, False, []), (1, True, ["step 1"])])
@pytest.mark.parametrize("failing", [fail, lose])
def test_a_failure_half_way_tells_how_far_it_came(
    at: int, changed: bool, actions: list[str], failing: Callable[[], None]
) -> None:
    """And the steps whose outcome is unknown."""
    runs: list[Callable[[], Any]] = [lambda: None, lambda: None]
    runs[at] = failing

    def make(task: Task[ThingOptions]) -> Plan:
        task.effects.facts["secrets_file"] = "/kept"
        return Plan(
            result={"id": None}, steps=steps(*runs), reread=lambda: {"id": "left"}, after={"name": "x"}
        )

    result = run(make, diff=True)
    assert result["failed"] is True
    assert (result["changed"], result["actions"]) == (changed, actions)
    assert result.get("unconfirmed") == ([f"step {at + 1}"] if failing is lose else None)
    assert result["thing"] == ({"id": "left"} if changed else None)
    assert result["secrets_file"] == "/kept", "what is known only here survives"
    assert "diff" not in result, "a diff shows what happened, not what was wished"


def test_a_defect_is_told_by_kind_and_place_without_its_text() -> None:
    def crash(task: Task[ThingOptions]) -> Plan:
        raise ZeroDivisionError("with hunter2 in its text")

    result = run(crash)
    assert (result["failed"], result["changed"]) == (True, False)
    assert "a defect of the collection: ZeroDivisionError at execution.py:" in result["msg"]
    assert result["places"][-1].endswith("in crash")
    assert "hunter2" not in str(result)
    assert "\n" not in result["msg"]


def test_a_wait_that_gives_up_tells_what_was_begun() -> None:
    """What was set in motion goes on, so something was changed."""

    class Fine(Echo):
        def exchange(self, request: Request, seconds: float) -> Response:
            return Response(204, None, b"")

    def make(task: Task[ThingOptions]) -> Plan:
        def start() -> None:
            task.client.send(r.SUSPEND, id="s")
            raise WaitEnded("gave up waiting")

        def wait() -> None:
            raise WaitEnded("gave up waiting")

        begun = task.options.name == "begun"
        return Plan(result="wished", steps=steps(start if begun else wait), reread=lambda: "as it is")

    result = run(make, {"name": "begun"}, Fine())
    assert (result["failed"], result["changed"], result["actions"]) == (True, True, ["step 1"])
    assert result["thing"] == "as it is"
    assert result["unfinished"] == ["step 1"], "the platform is still at it"
    result = run(make, {"name": "only waited"}, Fine())
    assert (result["failed"], result["changed"], result["actions"]) == (True, False, [])
    assert "unfinished" not in result


@pytest.mark.parametrize(
    "echo", ["hunter2", "eyJwYXNzd29yZCI6Imh1bnRlcjIifQ==", "pin%201234%26x", '{\\"deep\\": \\"in-a-list\\"}']
)
def test_what_the_platform_echoes_of_a_secret_is_hidden(echo: str) -> None:
    def make(task: Task[ThingOptions]) -> Plan:
        task.warn(f"careful with {echo}")
        raise error_for_status(f"PUT /x: no {echo}", 400, said=[{"word": echo}])

    options = {"variables": {"PASSWORD": "hunter2", "more": ["in-a-list", True]}, "pin": "pin 1234&x"}
    result = run(make, options)
    assert HIDDEN in result["msg"]
    assert HIDDEN in result["warnings"][0]
    assert HIDDEN in result["said"][0]["word"]
    for secret in ("hunter2", "pin%201234", "in-a-list"):
        assert secret not in str(result)


@pytest.mark.parametrize(
    ("secret", "before"),
    [
        ("first line of a secret\nsecond line of it", ""),
        ("correct horse  battery staple", ""),
        ("correct-horse-battery-staple-and-more", "x" * 960 + " "),
    ],
    ids=["lines", "spaces", "cut"],
)
@pytest.mark.parametrize("clone", [False, True], ids=["client", "clone"])
def test_an_echo_is_hidden_before_it_is_put_on_one_line_and_cut(
    secret: str, before: str, clone: bool
) -> None:
    def make(task: Task[ThingOptions]) -> Plan:
        client = task.client.clone() if clone else task.client
        client.send(r.APP_ENVIRONMENT, body={"environment": {"KEY": secret}}, slug="shop")
        raise AssertionError

    message = run(make, {"variables": {"KEY": secret}}, Echo(before))["msg"]
    assert f"invalid value for KEY: {HIDDEN}" in message
    assert "horse" not in message
    assert "line of" not in message


def test_what_would_steer_a_terminal_is_written_out() -> None:
    def make(task: Task[ThingOptions]) -> Plan:
        task.warn("called \x1b[31mred")
        return Plan(
            result={"name": "\x1b[31mred"}, before="a\r\n\x1b]0;title\x07", after={"n": "\u202ex\x9b"}
        )

    result = run(make, diff=True)
    assert result["warnings"] == [r"called \x1b[31mred"]
    assert result["diff"] == {
        "before": "a\\r\n\\x1b]0;title\\x07",
        "after": 'n: "\\u202ex\\x9B"\n',
        **HEADERS,
    }
    assert result["thing"] == {"name": "\x1b[31mred"}, "data are data"

    def refuse(task: Task[ThingOptions]) -> Plan:
        raise error_for_status("no \x9b31m", 400)

    assert run(refuse)["msg"] == r"no \x9b31m"


def test_no_secret_is_in_the_invocation() -> None:
    """Neither after a slip in the name of its option, nor in a URL."""
    resource = Thing(lambda task: Plan(result=None))
    shown = run(resource.make, {"pin": "1234"})["invocation"]["module_args"]
    assert (shown["token"], shown["variables"], shown["pin"]) == (HIDDEN, HIDDEN, HIDDEN)
    assert shown["name"] == "x" and "hunter2" not in str(shown)
    assert shown_options(resource, {"tokne": "hunter2", "name": "x"}) == {"tokne": HIDDEN, "name": "x"}
    assert shown_options(BACKUP, {"service": ["mc"], "wait": True}) == {"service": ["mc"], "wait": True}
    for url in ("https://me:hunter2@host", "https://me:hun/ter2@host:port"):
        address = shown_options(PROJECT, {"base_url": url})["base_url"]
        assert address.startswith("https://host") and "hun" not in address


def test_what_a_resource_redacts_is_nowhere_in_its_result_and_progress() -> None:
    """What is too short to tell anything stays: it is part of other words."""

    class Decrypting(Thing):
        def redacted_values(self, options: Mapping[str, Any]) -> Sequence[str]:
            return ["keys", "on"]

    def make(task: Task[ThingOptions]) -> Plan:
        task.progress("keys are on")
        return Plan(result={"said": ["keys are on"]})

    said: list[str] = []
    options = {**OPTIONS, "variables": None}
    context = RunContext(connect=lambda settings, log: Client(settings, log, Echo()))
    result = execute(Decrypting(make), options, replace(context, progress=said.append))
    assert result["thing"] == {"said": [f"{HIDDEN} are on"]}
    assert said == [f"{HIDDEN} are on"]


def test_a_diff_names_its_subject_and_writes_amounts_with_their_currency() -> None:
    plan = Plan(
        result=None, before={"monthly": Decimal("1.5")}, after={"monthly": Decimal(2), "unknown": None}
    )
    assert as_diff(plan, "service web", lambda amount: f"{amount} EUR") == {
        "before": "monthly: 1.5 EUR\n",
        "after": "monthly: 2 EUR\nunknown: null\n",
        "before_header": "service web",
        "after_header": "service web",
    }


@pytest.mark.parametrize(
    ("limit", "called", "said"),
    [
        (None, ["/api/resources/s/resume"], "refused (403)"),
        ("1", ["/api/apps/whoami"], "a budget is set, and whether"),
    ],
)
def test_a_budget_that_a_plan_adds_holds_for_a_client_that_was_cloned_before(
    limit: str | None, called: list[str], said: str
) -> None:
    """Without any, the guard reads nothing."""
    seen = list[str]()

    class Listening(Echo):
        def exchange(self, request: Request, seconds: float) -> Response:
            seen.append(request.url.removeprefix(OPTIONS["base_url"]))
            return super().exchange(request, seconds)

    def plan(task: Task[ThingOptions]) -> Plan:
        own = task.client.clone()
        if limit is not None:
            task.guard.tighten(read_budget(limit, "max_monthly"), "max_monthly")
        made = Commitment("resumption", "service 's'", Decimal(2), id="s", before=Decimal(0))
        return Plan(None, steps(lambda: own.send(r.RESUME, id="s", commitment=made)))

    assert said in run(plan, transport=Listening())["msg"]
    assert seen == called
