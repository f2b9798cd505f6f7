# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Applications on a real sandbox: tasks of the modules run against it, within this process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible.module_utils.common.arg_spec import ModuleArgumentSpecValidator

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import argument_spec
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources import app
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.connecting import connection
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource, Task
from hosted_sandbox.testing import Sandbox
from unit.plugins.results import Result

DELAYS = {"provision": 0.05, "start": 0.02, "stop": 0.02, "resume": 0.02, "scan": 0.05, "scan_wait": 0.3}
OTHERS = ("terse", "wrapped")
WRITES = ("apps.create", "releases.declare", "apps.deploy", "apps.environment")
IMAGES: dict[str, dict[str, Any]] = {
    "v1": {},
    "v2": {"packages": {"zlib": "1:1.2.8.dfsg-1"}},
    "blocked": {"packages": {"runc": "1.0.0~rc6"}},
    "broken": {"labels": {"sandbox.start": "fail"}},
}


class Platform:
    """A sandbox with the application `shop`, which runs v1, and tasks with a token of scope REGISTRY."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox
        images = [{"tag": tag, **made_of} for tag, made_of in IMAGES.items()]
        sandbox.seed({"apps": [{"slug": "shop", "images": images, "deployed": "v1"}]})
        self.digests = {tag: self.digest_of(tag) for tag in IMAGES}
        sandbox.clear_journal()

    def digest_of(self, tag: str) -> str:
        """Return what a tag names."""
        return str(self.sandbox.api("GET", f"/api/apps/shop/releases/{tag}/scan").json()["digest"])

    @property
    def app(self) -> dict[str, Any]:
        items = self.sandbox.api("GET", "/api/apps").json()["items"]
        return next(item for item in items if item["slug"] == "shop")

    @property
    def in_service(self) -> str:
        return str(self.app["imageRef"]).partition("@")[2]

    @property
    def record(self) -> dict[str, Any]:
        """The application as the sandbox keeps it: its environment, and the container with its own."""
        found: dict[str, Any] = self.sandbox.control("GET", f"/services/{self.app['id']}")
        return found

    @property
    def container(self) -> dict[str, str]:
        """The environment that the container was made with."""
        found: dict[str, str] = self.record["container"]["configuration"]["environment"]
        return found

    def run(self, resource: Resource, check_mode: bool = False, **options: Any) -> dict[str, Any]:
        """Run a task on `shop`, or what else is named, and return its result."""
        given = self.options(resource, options)
        return Result(execute(resource, given, RunContext(check_mode, diff=True)))

    def task(self, resource: Resource, **options: Any) -> Task[Any]:
        given = self.options(resource, options)
        read = resource.read_options(given)
        return Task(Client(connection(read)), read)

    def options(self, resource: Resource, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return all options of a task, with waits that are short."""
        options: dict[str, Any] = {
            "base_url": self.sandbox.base_url,
            "token": self.sandbox.registry_token,
            "timeout": 5,
            "slug": "shop",
            **({"wait_timeout": 10, "wait_interval": 0.1} if resource.waits else {}),
            **given,
        }
        validation = ModuleArgumentSpecValidator(argument_spec(resource)).validate(options)
        assert validation.error_messages == []
        found: dict[str, Any] = validation.validated_parameters
        return found

    def writes(self, *routes: str) -> list[Any]:
        """Return the status of each call that would change something; None where the platform did not act."""
        wanted = routes or WRITES
        return [line["status"] for line in self.sandbox.journal() if line["route"] in wanted]

    def uses_only_application_routes(self) -> bool:
        """Whether the tasks got by with what a token of scope REGISTRY opens, but for the currency."""
        calls = [line for line in self.sandbox.journal() if line["token"] == "REGISTRY"]
        return bool(calls) and all(
            line["template"].startswith(("/api/apps", "/api/registry/credentials", "/api/wallet"))
            for line in calls
        )


@pytest.fixture(scope="session")
def server(sandbox_process: Sandbox) -> Sandbox:
    """The process behind all tests."""
    return sandbox_process


@pytest.fixture(params=["plain", *(pytest.param(name, marks=pytest.mark.night) for name in OTHERS)])
def platform(
    server: Sandbox, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Platform:
    """The same platform; the night fills the gaps of the specification in several ways."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(app, "QUIET_SECONDS", 1.5)
    server.reset(profile=request.param, delays=DELAYS)
    return Platform(server)


@pytest.fixture
def plain(server: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Platform:
    """A platform whose answers are the likeliest."""
    monkeypatch.setenv("ANSIBLE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(app, "QUIET_SECONDS", 1.5)
    server.reset(profile="plain", delays=DELAYS)
    return Platform(server)
