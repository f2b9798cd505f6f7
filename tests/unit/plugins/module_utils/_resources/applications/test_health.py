# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Health checks: what they accept, and what becomes of a release that is not healthy."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.models import App
from ansible_collections.hosted.services.plugins.module_utils._resources.app_deploy import APP_DEPLOY
from ansible_collections.hosted.services.plugins.module_utils._resources.app_release import APP_RELEASE
from ansible_collections.hosted.services.plugins.module_utils._resources.applications import health
from ansible_collections.hosted.services.plugins.module_utils._resources.applications.health import (
    HealthCheck,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.apps import Platform, plain, server
from unit.plugins.responder import responding

__all__ = ["plain", "server"]
QUICK = {"timeout": 0.3, "interval": 0.1}


def test_the_address_of_the_application_may_be_in_the_url() -> None:
    check = HealthCheck(url="http://{address}/health")
    check.check()
    app = App.model_construct(slug="a", address="a.example:8080")
    assert check.url_of(app) == "http://a.example:8080/health"
    with pytest.raises(Invalid, match="application 'a' has no address"):
        check.url_of(App.model_construct(slug="a", address=None))


def test_a_password_in_the_url_is_not_shown() -> None:
    with pytest.raises(Invalid) as raised:
        HealthCheck(url="http://me:secret@a/").check()
    assert "secret" not in raised.value.message


def test_a_release_is_healthy_once_it_responds(plain: Platform) -> None:
    """Check mode requests nothing; each run does, also one that changes nothing."""
    with responding(lambda number: 200 if number > 2 else 503) as workload:
        check = {"url": workload.url, "timeout": 10, "interval": 0.1}
        planned = plain.run(APP_DEPLOY, check_mode=True, tag="v2", health_check=check)
        assert workload.requests == []
        deployed = plain.run(APP_DEPLOY, tag="v2", health_check=check)
        assert len(workload.requests) == 3
        assert not any("Authorization" in headers for _path, headers in workload.requests)
        again = plain.run(APP_DEPLOY, tag="v2", health_check=check)
        assert len(workload.requests) == 4
    assert [deployed["changed"], again["changed"]] == [True, False]
    assert deployed["actions"] == planned["actions"] and len(deployed["actions"]) == 1
    assert plain.in_service == plain.digests["v2"]


def test_the_previous_version_comes_back(plain: Platform) -> None:
    with responding(lambda number: 500) as workload:
        check = {"url": workload.url, **QUICK}
        result = plain.run(APP_DEPLOY, tag="v2", health_check=check, rollback=True)
    assert result["failed"] and result["changed"] and result["rolled_back"]
    assert f"not healthy: {workload.url} responds with status 500, not 200, for 0.3 seconds" in result["msg"]
    assert "Rolled back to the previous version" in result["msg"]
    assert plain.in_service == plain.digests["v1"]
    assert not plain.run(APP_DEPLOY, tag="v1")["changed"]


def test_without_rollback_it_stays_and_stays_red(plain: Platform) -> None:
    """A later run deploys it again, and does not take it for a good one to roll back to."""
    with responding(lambda number: 500) as workload:
        check = {"url": workload.url, **QUICK}
        first = plain.run(APP_DEPLOY, tag="v2", health_check=check)
        later = plain.run(APP_DEPLOY, tag="v2", health_check=check, rollback=True)
    assert first["failed"] and first["changed"] and "It stays in service" in first["msg"]
    assert "not seen to succeed" in later["actions"][0]
    assert later["failed"] and later["rolled_back"] and plain.in_service == plain.digests["v1"]


def test_a_release_that_was_in_service_is_never_rolled_back(plain: Platform) -> None:
    with responding(lambda number: 200 if number == 1 else 500) as workload:
        check = {"url": workload.url, **QUICK}
        plain.run(APP_DEPLOY, tag="v2", health_check=check)
        later = plain.run(APP_DEPLOY, tag="v2", health_check=check, rollback=True)
    assert later["failed"] and not later["changed"] and "It stays in service" in later["msg"]
    assert plain.in_service == plain.digests["v2"] and len(plain.writes()) == 1


def test_the_last_good_version_comes_back(plain: Platform) -> None:
    """Not one that was not healthy either."""
    plain.run(APP_RELEASE, tag="v3", digest=plain.digests["v2"])
    with responding(lambda number: 500) as workload:
        check = {"url": workload.url, **QUICK}
        plain.run(APP_DEPLOY, tag="v2", health_check=check)
        plain.run(APP_DEPLOY, tag="v3", health_check=check, rollback=True)
    assert plain.in_service == plain.digests["v1"]


def test_a_version_whose_check_was_cut_off_is_not_a_good_one(
    plain: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody saw it respond, so the next version that does not start is not rolled back to it."""

    def killed(*given: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(health, "await_healthy", killed)
        plain.run(APP_DEPLOY, tag="v2", health_check={"url": "http://localhost:1", **QUICK})
    assert plain.in_service == plain.digests["v2"]
    failed = plain.run(APP_DEPLOY, tag="broken", rollback=True)
    assert failed["rolled_back"] and plain.in_service == plain.digests["v1"]


@pytest.mark.parametrize("rollback", [True, False])
def test_a_version_that_was_deployed_meanwhile_is_left_alone(plain: Platform, rollback: bool) -> None:
    """A hotfix of another run, while the first one still waits for its own version to respond."""
    hotfix = plain.digests["blocked"]
    plain.sandbox.operator("scans/shop", digest=hotfix, lift="ok")
    others: list[dict[str, Any]] = []

    def answer(number: int) -> int:
        if number == 2:
            others.append(plain.run(APP_DEPLOY, tag="blocked"))
        return 500

    with responding(answer) as workload:
        check = {"url": workload.url, "timeout": 3, "interval": 0.1}
        result = plain.run(APP_DEPLOY, tag="v2", health_check=check, rollback=rollback)
    assert [other["changed"] and not other.get("failed") for other in others] == [True]
    assert plain.in_service == hotfix and len(plain.writes("apps.deploy")) == 2
    assert result["failed"] and f"{hotfix} was put in service meanwhile" in result["msg"]
    assert "It stays in service" not in result["msg"] and "Rolled back" not in result["msg"]
    assert ("so nothing was rolled back" in result["msg"]) is rollback
    assert result.get("rolled_back") is (False if rollback else None)
    again = plain.run(APP_DEPLOY, tag="blocked")
    assert not again["changed"], "nothing is noted against the version of the other run"
