# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Deliveries: the role app_delivery by its molecule scenario, and the playbooks deploy and rollback."""

from __future__ import annotations

import re
import time
from typing import Any

import pytest
import requests

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run

SECRET = "not-for-anybody"
NOT_PUSHED = f"sha256:{'0' * 64}"


@pytest.fixture
def small(ansible: Ansible, sandbox: Sandbox) -> Ansible:
    """ansible-playbook with a token of scope REGISTRY, and two versions of an application on disk."""
    ansible.environment["HOSTED_SERVICES_TOKEN"] = sandbox.registry_token
    for version in ("1", "2"):
        build_image(ansible.folder / f"{version}.tar", {"app/server": version.encode()})
    return ansible


def deliver(small: Ansible, version: str, *arguments: str, **variables: Any) -> Run:
    """Run the playbook `deploy` for a version. What is None among the variables is left out."""
    given = {
        "app_delivery_slug": "acme-shop",
        "app_delivery_tag": version,
        "app_delivery_path": str(small.folder / f"{version}.tar"),
        "app_delivery_variables": {"VERSION": version},
        "app_delivery_secret_variables": {"KEY": SECRET},
        "app_delivery_max_monthly": "5",
        **variables,
    }
    return small.playbook(
        "- ansible.builtin.import_playbook: hosted.services.deploy",
        *arguments,
        variables={name: value for name, value in given.items() if value is not None},
    )


def roll_back(small: Ansible, **variables: str) -> Run:
    return small.playbook(
        "- ansible.builtin.import_playbook: hosted.services.rollback",
        variables={"rollback_slug": "acme-shop", **variables},
    )


def create_app(sandbox: Sandbox) -> None:
    """Create the application, and wait until the list, which may lag, shows it."""
    assert sandbox.api("POST", "/api/apps", {"slug": "acme-shop"}).ok
    while not any(one.get("slug") for one in sandbox.api("GET", "/api/apps").json()["items"]):
        time.sleep(0.1)


def in_service(sandbox: Sandbox) -> str:
    """Return the digest that runs."""
    (app,) = sandbox.api("GET", "/api/apps").json()["items"]
    return str(app["imageRef"]).partition("@")[2]


def writes(sandbox: Sandbox) -> list[str]:
    """Return the calls that changed something, but for quotes."""
    calls = [line["route"] for line in sandbox.journal() if line["method"] != "GET"]
    return [route for route in calls if route != "apps.quote"]


def held(sandbox: Sandbox, digest: str) -> bool:
    """Tell whether the registry holds an image of the application."""
    login = sandbox.api("GET", "/api/registry/credentials").json()
    url = f"http://{login['host']}/v2/{login['project']}/acme-shop/manifests/{digest}"
    accept = {"Accept": "application/vnd.oci.image.manifest.v1+json"}
    found = requests.get(url, auth=(login["username"], login["secret"]), headers=accept, timeout=10)
    assert found.status_code in (200, 404)
    return found.status_code == 200


def shows(run: Run, digest: str, version: str) -> None:
    """Check that the diff shows the digest, the names in the environment, the verdict and a price."""
    assert f"+digest: {digest}" in run.output
    assert f"+  VERSION: '{version}'" in run.output and "KEY: " in run.output
    assert "verdict: PENDING" in run.output
    assert "monthly: " in run.output
    assert SECRET not in run.output


def test_check_mode_shows_a_delivery_and_writes_nothing(small: Ansible, sandbox: Sandbox) -> None:
    """A first one to its end, although the application is not there yet."""
    run = deliver(small, "1", "--check", "--diff").succeed()
    digest = run["hosted.services.app_delivery : Push the image"].result["image"]["digest"]
    shows(run, digest, "1")
    assert re.search(r"\+monthly: '?3\.885", run.output)
    assert writes(sandbox) == [] and not held(sandbox, digest)
    assert sandbox.api("GET", "/api/apps").json()["items"] == []


WRONGS: dict[str, tuple[dict[str, Any], str]] = {
    "PORT": ({"app_delivery_variables": {"PORT": "80"}}, "PORT is reserved"),
    "cut short": ({"app_delivery_path": "cut.tar"}, "cut short"),
    "no variable at all": (
        {"app_delivery_variables": {}, "app_delivery_secret_variables": {}},
        "app_delivery_clear_environment",
    ),
    "too dear": ({"app_delivery_max_monthly": "1"}, "over max_monthly 1.00"),
    "no image": ({"app_delivery_path": None}, "Set either app_delivery_path"),
    "a health check without a scheme": (
        {"app_delivery_health_url": "shop.example.com/health"},
        "app_delivery_health_url shop.example.com/health must begin with http:// or https://",
    ),
    "a health check that ends at once": (
        {"app_delivery_health_url": "https://{address}/", "app_delivery_health_retries": "0"},
        "app_delivery_health_retries 0 and app_delivery_health_delay 3",
    ),
    "a status that no response has": (
        {"app_delivery_health_url": "https://{address}/", "app_delivery_health_status": [200, 99]},
        "Check app_delivery_health_status [200, 99]",
    ),
}


@pytest.mark.night
@pytest.mark.parametrize("name", WRONGS)
def test_what_cannot_be_delivered_is_refused_before_anything_is_written(
    small: Ansible, sandbox: Sandbox, name: str
) -> None:
    """Not even the application is created, which would be paid for."""
    content = (small.folder / "1.tar").read_bytes()
    (small.folder / "cut.tar").write_bytes(content[: len(content) // 4])
    wrong, said = WRONGS[name]
    run = deliver(small, "1", **wrong)
    assert run.rc != 0 and said in run.output
    assert writes(sandbox) == []


@pytest.mark.night
def test_a_suspended_application_is_refused_before_anything_is_written(
    small: Ansible, sandbox: Sandbox
) -> None:
    """Else it would resume with the environment of another version. It is delivered to once it has."""
    deliver(small, "1").succeed()
    first, before = in_service(sandbox), container(sandbox)
    (app,) = sandbox.api("GET", "/api/apps").json()["items"]
    sandbox.operator(f"services/{app['id']}", status="SUSPENDED")
    sandbox.clear_journal()
    for arguments in ((), ("--check",)):
        run = deliver(small, "2", *arguments)
        assert run.rc != 0 and "is SUSPENDED" in run.output and "state: started" in run.output
    assert writes(sandbox) == []
    sandbox.operator(f"services/{app['id']}", status="ACTIVE")
    assert (in_service(sandbox), container(sandbox)) == (first, before)
    deliver(small, "2").succeed()
    assert in_service(sandbox) != first and container(sandbox)["VERSION"] == "2"


@pytest.mark.night
@pytest.mark.parametrize("new", [True, False])
def test_what_nothing_in_the_role_would_make_is_refused_before_anything_is_written(
    small: Ansible, sandbox: Sandbox, new: bool
) -> None:
    """For all that check mode knows, an earlier task makes the neighbor; nothing pushes the image later."""
    small.environment["HOSTED_SERVICES_TOKEN"] = sandbox.token
    if not new:
        create_app(sandbox)
    sandbox.clear_journal()
    wrong = {"app_delivery_variables": {"URL": "${nope.URL}"}, "app_delivery_secret_variables": {"S": "x"}}
    run = deliver(small, "1", **wrong)
    assert run.rc != 0 and "No service of the project has the alias nope" in run.output
    checked = deliver(small, "1", "--check", **wrong).succeed()
    assert "'nope' is no neighbor in its project" in checked.output
    for arguments in ((), ("--check",)):
        run = deliver(small, "1", *arguments, app_delivery_path=None, app_delivery_digest=NOT_PUSHED)
        assert run.rc != 0 and "was not declared" in run.output and NOT_PUSHED in run.output
    assert writes(sandbox) == []


@pytest.mark.night
def test_rolling_back_after_a_version_that_does_not_run_puts_the_last_good_one_in_service(
    small: Ansible, sandbox: Sandbox
) -> None:
    """On this platform the broken version stays in service; a rollback is wanted most then."""
    sandbox.reset(profile="plain")
    deliver(small, "1").succeed()
    first = roll_back(small)
    assert first.rc != 0 and "knows of nothing before it" in first.output and "There are 1" in first.output
    deliver(small, "2").succeed()
    good = in_service(sandbox)
    broken = build_image(small.folder / "3.tar", {"app/server": b"3"}, labels={"sandbox.start": "fail"})
    assert deliver(small, "3", app_delivery_rollback=False).rc != 0
    assert in_service(sandbox) == broken
    roll_back(small).succeed()
    assert in_service(sandbox) == good
    assert roll_back(small).succeed() and in_service(sandbox) not in (good, broken)


@pytest.mark.night
@pytest.mark.parametrize("nothing", ["", " "])
def test_a_tag_to_go_back_to_holds_something(small: Ansible, sandbox: Sandbox, nothing: str) -> None:
    """A variable without a value does not stand for the release before."""
    sandbox.clear_journal()
    run = roll_back(small, rollback_tag=nothing)
    assert run.rc != 0 and "rollback_tag is empty" in run.output
    assert sandbox.journal() == []


@pytest.mark.night
def test_relative_paths_begin_where_the_command_is_run(small: Ansible, sandbox: Sandbox) -> None:
    """The playbook lies in the collection, where nobody has an image or wants a file written."""
    deliver(small, "1", app_delivery_path="1.tar", app_delivery_state_dir="states").succeed()
    assert held(sandbox, in_service(sandbox))
    assert len(list((small.folder / "states").glob("*.json"))) == 1


def container(sandbox: Sandbox) -> dict[str, str]:
    """Return the environment that the container of the application was made with."""
    (app,) = sandbox.api("GET", "/api/apps").json()["items"]
    record = sandbox.control("GET", f"/services/{app['id']}")
    found: dict[str, str] = record["container"]["configuration"]["environment"]
    return found


@pytest.mark.night
def test_a_delivery_without_variables_leaves_the_environment(small: Ansible, sandbox: Sandbox) -> None:
    """To have none takes a word of its own; variables that hold nothing are an error, and touch nothing."""
    deliver(small, "1").succeed()
    none = {"app_delivery_variables": None, "app_delivery_secret_variables": None}
    empty: dict[str, Any] = {"app_delivery_variables": {}, "app_delivery_secret_variables": {}}
    deliver(small, "1", **none).succeed()
    sandbox.clear_journal()
    null = ("-e", '{"app_delivery_secret_variables": null}')
    for failed in (deliver(small, "1", *null), deliver(small, "1", **empty)):
        assert failed.rc != 0 and "app_delivery_clear_environment" in failed.output
    assert writes(sandbox) == [] and container(sandbox)["KEY"] == SECRET
    deliver(small, "1", **none, app_delivery_clear_environment=True).succeed()
    assert {"KEY", "VERSION"}.isdisjoint(container(sandbox))


@pytest.mark.night
def test_a_delivery_counts_once_in_a_budget(small: Ansible, sandbox: Sandbox) -> None:
    """The role looks at each application in check mode before it creates it for real."""
    plays = "".join(
        f"""
- ansible.builtin.import_playbook: hosted.services.deploy
  vars: {{app_delivery_slug: {slug}, hosted_budget: {{run: 8}}}}
"""
        for slug in ("shop-one", "shop-two", "shop-three")
    )
    given = {"app_delivery_tag": "1", "app_delivery_path": str(small.folder / "1.tar")}
    run = small.playbook(plays, variables=given)
    slugs = [app["slug"] for app in sandbox.api("GET", "/api/apps").json()["items"]]
    assert slugs == ["shop-one", "shop-two"], run.output
    # so the third does not fit
    assert re.search(r"this run has added 7\.77( \w{3})?\. Nothing was sent", run.output), run.output
