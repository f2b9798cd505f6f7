# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What goes wrong in deliveries: one clear error for each, before anything is written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PROFILE, Ansible, Run, begin_anew

SEED: dict[str, Any] = {
    "projects": ["web"],
    "services": [{"name": "database", "product": "postgresql", "project": "web"}],
    "apps": [
        {
            "slug": "shop",
            "project": "web",
            "images": [{"tag": "v1"}, {"tag": "v2", "labels": {"version": "2"}}],
            "deployed": "v1",
        },
        {
            "slug": "arm-shop",
            "host": "node-helsinki-arm",
            "images": [{"tag": "v1", "architecture": "arm64"}],
            "deployed": "v1",
        },
    ],
}
WRITES = ("apps.create", "releases.declare", "apps.deploy", "apps.environment")
SECRET = "a-secret-that-nobody-may-see"
FULL, REGISTRY = "sandbox-full-token", "sandbox-registry-token"
NOT_PUSHED = f"sha256:{'0' * 64}"


class Case(NamedTuple):
    """A task that has to fail: module, arguments, and what the error says, in check mode too unless not."""

    module: str
    arguments: dict[str, Any]
    says: tuple[str, ...]
    in_check_mode: bool = True


def environment(token: str = REGISTRY, **variables: Any) -> dict[str, Any]:
    """Return the arguments of an environment with a secret in it."""
    return {"token": token, "slug": "shop", "variables": variables, "secret_variables": {"KEY": SECRET}}


def release(**arguments: Any) -> dict[str, Any]:
    """Return the arguments of a release."""
    return {"slug": "shop", "tag": "new", "digest": NOT_PUSHED, **arguments}


CASES = {
    "variable PORT": Case("environment", environment(PORT="80"), ("PORT is reserved",)),
    "variable 1A": Case("environment", environment(**{"1A": "x"}), ("'1A'", "not begin with a digit")),
    "101 variables": Case(
        "environment",
        environment(**{f"V{number}": "x" for number in range(100)}),
        ("101 variables", "at most 100"),
    ),
    "boolean value": Case("environment", environment(DEBUG=True), ("DEBUG is a boolean", "quotes")),
    "reference to nobody": Case(
        "environment",
        environment(URL="${nobody.URL}"),
        ("the environment of application 'shop' was refused", "'nobody'", "neighbor in its project"),
        in_check_mode=False,
    ),
    "reference to nobody, seen at once": Case(
        "environment",
        environment(FULL, URL="${nobody.URL}"),
        ("the environment of application 'shop' was refused", "'nobody'", "neighbor in its project"),
    ),
    "reference with a slip of the pen": Case(
        "environment", environment(FULL, URL="${databse.URL}"), ("did you mean 'database'?",)
    ),
    "slug of 2 characters": Case("app", {"slug": "ab"}, ("2 characters", "3 to 40")),
    "slug of 41 characters": Case("app", {"slug": "a" * 41}, ("41 characters", "3 to 40")),
    "slug with capitals": Case("app", {"slug": "Shop"}, ("'Shop'", "lowercase")),
    "release of an unknown application": Case(
        "app_release", release(slug="shpo"), ("'shpo'", "did you mean 'shop'?"), in_check_mode=False
    ),
    "digest that is none": Case("app_release", release(digest="v1"), ("'v1' is not a digest", "sha256:")),
    "digest that was not pushed": Case(
        "app_release", release(pushed=True), ("was not declared", NOT_PUSHED, "app_image")
    ),
    "tag that was not declared": Case(
        "app_deploy", {"slug": "shop", "tag": "v11"}, ("'v11'", "is not declared")
    ),
    "tag that moved": Case(
        "app_deploy",
        {"slug": "shop", "tag": "v1", "digest": "{{ second }}"},
        ("'v1'", "the tag has moved"),
    ),
    "archive that is cut short": Case("app_image", {"slug": "shop", "path": "cut.tar"}, ("cut short",)),
    "archive that is not there": Case("app_image", {"slug": "shop", "path": "no.tar"}, ("there is no file",)),
    "amd64 image for an arm64 node": Case(
        "app_image",
        {"slug": "arm-shop", "path": "amd.tar", "platform": "linux/arm64"},
        ("linux/amd64", "linux/arm64", "die"),
    ),
    "environment without a variable": Case(
        "environment", {"slug": "shop", "variables": {}, "secret_variables": {}}, ("set clear: true",)
    ),
    "environment with null for its secrets": Case(
        "environment",
        {"slug": "shop", "variables": {"A": "1"}, "secret_variables": None},
        ("secret_variables is null",),
    ),
    "application without a project": Case("app", {"slug": "new-shop", "project": ""}, ("project", "empty")),
    "application on another host": Case(
        "app", {"token": FULL, "slug": "shop", "host": "node-helsinki-arm"}, ("is on host", "cannot change")
    ),
}


class Wrongs(NamedTuple):
    """What came of all cases, and what the platform looked like before and after."""

    run: Run
    before: Any
    after: Any
    journal: list[dict[str, Any]]


def records(sandbox: Sandbox) -> Any:
    """Return what the account has: its applications with their environments and releases."""
    apps = sandbox.api("GET", "/api/apps").json()["items"]
    return [
        (
            app,
            sandbox.control("GET", f"/services/{app['id']}")["environment"],
            sandbox.api("GET", f"/api/apps/{app['slug']}/releases").json(),
        )
        for app in apps
    ]


@pytest.fixture(scope="module")
def wrongs(server: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Wrongs:
    """All cases in one play, each for real and then in check mode."""
    begin_anew(server)
    server.seed(SEED)
    folder = tmp_path_factory.mktemp("errors")
    make_images(folder)
    second = server.api("GET", "/api/apps/shop/releases/v2/scan").json()["digest"]
    before = records(server)
    server.clear_journal()
    run = Ansible(folder, server).playbook(
        json.dumps([{"hosts": "localhost", "gather_facts": False, "tasks": list(tasks())}]),
        "--diff",
        "-vvv",
        env={"HOSTED_SERVICES_TOKEN": REGISTRY},
        variables={"second": second},
    )
    journal = server.journal()
    return Wrongs(run, before, records(server), journal)


def make_images(folder: Path) -> None:
    """Write an image for amd64, and one of which the end is missing."""
    build_image(folder / "amd.tar", {"app/server": b"x" * 50_000}, compression=None)
    content = (folder / "amd.tar").read_bytes()
    (folder / "cut.tar").write_bytes(content[: len(content) // 2])


def tasks() -> Any:
    """Yield a task for each case and each way."""
    for name, case in CASES.items():
        for suffix, check_mode in (("", False), (", in check mode", True)):
            if case.in_check_mode or not check_mode:
                yield {
                    "name": name + suffix,
                    f"hosted.services.{case.module}": case.arguments,
                    "check_mode": check_mode,
                    "ignore_errors": True,
                }


FORESEEN = {"reference to nobody, seen at once", "reference with a slip of the pen", "tag that moved"}
"""What an earlier task of the play may be about to create, so that check mode goes on."""


@pytest.mark.parametrize("name", CASES)
def test_the_error_says_what_is_wrong(name: str, wrongs: Wrongs) -> None:
    """One sentence holds the value, the limit, or what to do; check mode says the same, or warns of it."""
    outcome = wrongs.run[name]
    assert outcome.outcome == "failed", outcome
    for words in CASES[name].says:
        assert words in outcome.message
    assert "\n" not in outcome.message.strip()
    assert outcome.result["changed"] is False
    checked = wrongs.run[f"{name}, in check mode"] if CASES[name].in_check_mode else None
    if checked and name in FORESEEN:
        assert any(outcome.message in warning for warning in checked.result["warnings"])
    elif checked:
        assert checked.message == outcome.message


def test_nothing_was_written(wrongs: Wrongs) -> None:
    """A small token cannot read who the neighbors are, so the platform refused that; nothing else."""
    sent = [line for line in wrongs.journal if line["route"] in WRITES]
    assert [(line["route"], line["token"]) for line in sent] == [("apps.environment", "REGISTRY")]
    assert sent[0]["body"]["environment"]["URL"] == "${nobody.URL}" and sent[0]["status"] >= 400
    assert wrongs.before == wrongs.after
    assert len(wrongs.before) == 2


def test_nobody_sees_a_secret_or_a_traceback(wrongs: Wrongs) -> None:
    """Not even at -vvv, and not in a result."""
    shown = wrongs.run.output + json.dumps([outcome.result for outcome in wrongs.run.outcomes])
    assert "Traceback" not in shown
    assert [secret for secret in (SECRET, FULL, REGISTRY) if secret in shown] == []


def test_a_small_token_stays_with_its_routes(wrongs: Wrongs) -> None:
    """A token of scope REGISTRY is never used for the routes of services."""
    small = [line["template"] for line in wrongs.journal if line["token"] == "REGISTRY"]
    assert small
    assert [path for path in small if path.startswith("/api/resources")] == []


def test_the_profile_is_the_one_that_was_asked_for(server: Sandbox) -> None:
    """So that a run over all profiles is one."""
    assert server.control("GET", "/profile")["name"] == PROFILE
