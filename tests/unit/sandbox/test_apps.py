# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Section Endpoints / Applications, and Scan status of a release."""

from __future__ import annotations

from typing import Any

import pytest
import requests

from hosted_sandbox.testing import Sandbox
from unit.sandbox.conftest import Order, Push

RUNC = {"packages": [("runc", "1.0.0~rc6")]}
ZLIB = {"packages": [("zlib", "1:1.2.8.dfsg-1")]}


def _app(sandbox: Sandbox, slug: str = "shop") -> Any:
    return next(item for item in sandbox.api("GET", "/api/apps").json()["items"] if item["slug"] == slug)


def _create(sandbox: Sandbox, slug: str = "shop", **more: object) -> None:
    assert sandbox.api("POST", "/api/apps", {"slug": slug, **more}).status_code == 201


def _deploy(sandbox: Sandbox, tag: str) -> requests.Response:
    return sandbox.api("POST", "/api/apps/shop/deploy", {"tag": tag})


def _environment(sandbox: Sandbox, variables: dict[str, Any]) -> int:
    answer = sandbox.api("PUT", "/api/apps/shop/environment", {"environment": variables})
    return answer.status_code


def _service(sandbox: Sandbox) -> Any:
    """The application with what only the control port tells."""
    return sandbox.control("GET", f"/services/{_app(sandbox)['id']}")


@pytest.mark.rule("apps-1")
def test_slugs(sandbox: Sandbox) -> None:
    other = {"Authorization": "Bearer sandbox-other-token"}
    assert sandbox.api("POST", "/api/apps", {"slug": "theirs"}, headers=other).status_code == 201
    for slug in ("ab", "a" * 41, "Abc", "a_b", "", "abc\n", "äbc", "theirs"):
        assert sandbox.api("POST", "/api/apps", {"slug": slug}).status_code == 400, slug
    assert sandbox.api("GET", "/api/apps").json() == {"items": []}
    for slug in ("abc", "a" * 40, "a-1"):
        _create(sandbox, slug)


@pytest.mark.rule("apps-8", "list-deleted")
def test_an_application_is_a_service(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    push("shop", "1")
    _deploy(sandbox, "1")
    key = _app(sandbox)["id"]
    assert sandbox.api("GET", f"/api/resources/{key}").json()["family"] == "APP"
    assert sandbox.api("GET", f"/api/resources/{key}/settings").json()["source"]["tag"] == "1"
    assert sandbox.api("POST", f"/api/resources/{key}/power", {"signal": "restart"}).status_code == 200
    assert sandbox.api("DELETE", f"/api/resources/{key}").status_code == 200
    assert sandbox.api("GET", "/api/apps").json() == {"items": []}


@pytest.mark.rule("scans-1", "scan-passed", "apps-5", "apps-3")
@pytest.mark.parametrize(("architecture", "state"), [("amd64", "running"), ("arm64", "stopped")])
def test_an_image_is_scanned_and_deployed(
    sandbox: Sandbox, push: Push, architecture: str, state: str
) -> None:
    """One of another architecture than its node dies; and what was pushed survives a save."""
    _create(sandbox)
    digest = push("shop", "1", architecture=architecture)
    report = sandbox.api("GET", "/api/apps/shop/releases/1/scan").json()
    assert (report["scanStatus"], report["digest"]) == ("PASSED", digest)
    saved = sandbox.control("GET", "/state")
    sandbox.reset()
    sandbox.control("PUT", "/state", saved)
    assert _deploy(sandbox, "1").status_code == 200
    sandbox.clock(advance=5)
    app = _app(sandbox)
    assert app["imageRef"].endswith(f"/main/shop@{digest}")
    assert (app["platform"], app["scanStatus"]) == (f"linux/{architecture}", "PASSED")
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={app['id']}").json()
    assert metrics[app["id"]]["state"] == state


@pytest.mark.rule("apps-4", "apps-6")
def test_a_tag_moves_and_an_earlier_one_is_kept(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    first, second = push("shop", "1"), push("shop", "2")
    sandbox.api("POST", "/api/apps/shop/releases", {"tag": "live", "digest": first})
    sandbox.api("POST", "/api/apps/shop/releases", {"tag": "live", "digest": second})
    _deploy(sandbox, "live")
    assert _app(sandbox)["imageRef"].endswith(second)
    assert _deploy(sandbox, "1").status_code == 200
    assert _app(sandbox)["imageRef"].endswith(first)
    tags = [item["tag"] for item in sandbox.api("GET", "/api/apps/shop/releases").json()["items"]]
    assert tags == ["1", "2", "live"]


@pytest.mark.rule("apps-5")
def test_a_deploy_that_does_not_start_is_an_error(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    push("shop", "1")
    push("shop", "2", labels={"sandbox.start": "fail"})
    _deploy(sandbox, "1")
    assert _deploy(sandbox, "2").status_code == 502
    sandbox.operator(f"services/{_app(sandbox)['id']}", start_fails=True)
    assert _deploy(sandbox, "1").status_code == 502


def test_only_what_was_pushed_and_declared_is_deployed(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    nothing = {"tag": "1", "digest": f"sha256:{'0' * 64}"}
    assert sandbox.api("POST", "/api/apps/shop/releases", nothing).status_code == 400
    push("shop", "1", declare=False)
    assert _deploy(sandbox, "1").status_code == 404
    assert sandbox.api("GET", "/api/apps/none/releases").status_code == 404


@pytest.mark.rule("scan-pending")
def test_deploy_waits_for_the_verdict_then_gives_up(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    sandbox.delays(scan=0.1)
    first = push("shop", "1")
    assert _deploy(sandbox, "1").status_code == 200
    sandbox.clock(rate=100)
    sandbox.delays(scan=1000)
    push("shop", "2")
    answer = _deploy(sandbox, "2")
    assert answer.status_code == 422 and "still running" in answer.json()["message"]
    assert _app(sandbox)["imageRef"].endswith(first)


@pytest.mark.rule("scan-blocked")
def test_a_blocked_release_touches_nothing(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    push("shop", "1")
    _deploy(sandbox, "1")
    before = _service(sandbox)
    push("shop", "2", **RUNC)
    report = sandbox.api("GET", "/api/apps/shop/releases/2/scan").json()
    (flaw, *__) = report["scanVerdict"]["blocking"]
    assert (report["scanStatus"], flaw["package"], flaw["reason"]) == ("BLOCKED", "runc", "isolation")
    answer = _deploy(sandbox, "2")
    assert answer.status_code == 422
    assert all(flaw[part] in answer.json()["message"] for part in ("id", "package", "fixVersion"))
    assert _service(sandbox) == before


@pytest.mark.rule("scans-2")
def test_the_night_tells_of_what_became_blocking(sandbox: Sandbox, push: Push) -> None:
    sandbox.clock(freeze=True)
    _create(sandbox)
    push("shop", "1", packages=[("libfoo", "1.0")])
    assert _deploy(sandbox, "1").status_code == 200
    flaw = {"id": "CVE-2999-1", "format": "dpkg", "package": "libfoo", "fixed": "2.0", "severity": "High",
            "reason": "scope"}  # fmt: skip
    sandbox.operator("vulnerabilities", flaws=[flaw])
    assert _app(sandbox)["scanStatus"] == "PASSED"
    sandbox.clock(advance=86_400)
    app = _app(sandbox)
    assert app["scanStatus"] == "BLOCKED"
    metrics = sandbox.api("GET", f"/api/resources/metrics?ids={app['id']}").json()
    assert metrics[app["id"]]["state"] == "running"
    assert [notice["kind"] for notice in sandbox.ledger()["notices"]] == ["blocked"]
    assert _deploy(sandbox, "1").status_code == 422


@pytest.mark.rule("scans-3")
def test_a_verdict_is_lifted_on_one_version(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    digest = push("shop", "1", **RUNC)
    push("shop", "2", **RUNC)
    with pytest.raises(RuntimeError, match="written reason"):
        sandbox.operator("scans/shop", digest=digest, lift=" ")
    sandbox.operator("scans/shop", digest=digest, lift="not reachable from outside")
    assert _deploy(sandbox, "1").status_code == 200
    assert _deploy(sandbox, "2").status_code == 422


def test_an_application_may_be_active_from_its_first_deploy_on(sandbox: Sandbox, push: Push) -> None:
    sandbox.profile("plain", **{"app.first_status": "PROVISIONING"})
    _create(sandbox)
    sandbox.clock(advance=3600)
    assert _app(sandbox)["status"] == "PROVISIONING"
    push("shop", "1")
    assert _environment(sandbox, {"A": "1"}) == 200
    assert _deploy(sandbox, "1").status_code == 200
    assert _app(sandbox)["status"] == "ACTIVE"


@pytest.mark.rule("references")
def test_references_follow_their_target_at_start(sandbox: Sandbox, push: Push, order: Order) -> None:
    database = order("postgresql", "db")
    _create(sandbox)
    push("shop", "1")
    assert _environment(sandbox, {"URL": "${db.URL}", "OTHER": "x-${db.PORT}"}) == 200
    _deploy(sandbox, "1")
    url = sandbox.api("GET", f"/api/resources/{database}/database/connection").json()["url"]
    environment = _service(sandbox)["container"]["configuration"]["environment"]
    assert environment.items() >= {"URL": url, "OTHER": "x-5432"}.items()
    sandbox.api("DELETE", f"/api/resources/{database}")
    assert _deploy(sandbox, "1").status_code == 502


@pytest.mark.rule("auth-credentials")
def test_registry_credentials(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    login = sandbox.api("GET", "/api/registry/credentials").json()
    as_token = {"Authorization": f"Bearer {login['secret']}"}
    assert sandbox.api("GET", "/api/apps", headers=as_token).status_code == 401
    as_other = {"Authorization": "Bearer sandbox-other-token"}
    other = sandbox.api("GET", "/api/registry/credentials", headers=as_other)
    assert other.json()["project"] != login["project"]
    assert other.json()["secret"] != login["secret"]


@pytest.mark.rule("apps-2")
def test_what_is_null_is_chosen_and_what_is_named_is_taken(sandbox: Sandbox) -> None:
    project = sandbox.api("POST", "/api/projects", {"name": "web"}).json()["id"]
    quote, default = (
        sandbox.api("POST", "/api/apps/quote", {}).json(),
        {"cpuCores": 1, "ramGb": 1, "storageGb": 5},
    )
    assert quote["dimensions"] == default
    first = sandbox.api("GET", "/api/projects").json()[0]["id"]
    size = {"cpuCores": 2, "ramGb": 3, "storageGb": 7}
    for slug, given, taken in (
        ("null", (None, None, None), ("node-paris-1", first, default)),
        ("named", ("node-helsinki-arm", project, size), ("node-helsinki-arm", project, size)),
    ):
        _create(sandbox, slug, **dict(zip(("hostId", "projectId", "dimensions"), given, strict=True)))
        service = sandbox.api("GET", f"/api/resources/{_app(sandbox, slug)['id']}").json()
        assert (service["host"]["id"], service["projectId"], service["dimensions"]) == taken
        if slug == "null":
            assert service["pricing"]["monthlyMillicents"] == quote["monthlyMillicents"]


@pytest.mark.rule("scan-warned", "scan-failed")
def test_a_release_with_a_warning_or_a_failed_analysis_is_deployed(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    push("shop", "1", **ZLIB)
    report = sandbox.api("GET", "/api/apps/shop/releases/1/scan").json()
    assert report["scanStatus"] == "WARNED"
    assert report["scanVerdict"]["warningCount"] == len(report["scanVerdict"]["warnings"]) > 0
    assert _deploy(sandbox, "1").status_code == 200
    assert sandbox.ledger()["notices"] == []
    sandbox.operator("scans/shop", digest=push("shop", "2"), status="FAILED")
    assert _deploy(sandbox, "2").status_code == 200
    assert [notice["kind"] for notice in sandbox.ledger()["notices"]] == ["trace"]


@pytest.mark.rule("apps-7")
def test_an_environment_is_replaced_whole_or_not_at_all(sandbox: Sandbox, push: Push) -> None:
    _create(sandbox)
    push("shop", "1")
    assert _environment(sandbox, {f"V{number}": "x" for number in range(100)}) == 200
    assert _environment(sandbox, {"_C9": "3"}) == 200
    names = ({f"V{number}": "x" for number in range(101)}, {"1A": "x"}, {"A-B": "x"}, {"": "x"}, {"Ä": "x"})
    values = ({"PORT": "80"}, {"A": "${nobody.URL}"}, {"A": "${shop.URL}"}, {"A": 5})
    for variables in (*names, *values):
        assert _environment(sandbox, variables) == 400, variables
    assert _service(sandbox)["environment"] == {"_C9": "3"}
    _deploy(sandbox, "1")
    settings = sandbox.api("GET", f"/api/resources/{_app(sandbox)['id']}/settings").json()
    container = _service(sandbox)["container"]["configuration"]
    assert container["environment"] == {"_C9": "3", "PORT": str(settings["network"]["publicPort"])}
