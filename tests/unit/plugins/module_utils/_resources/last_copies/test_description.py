# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What orders a service again: everything that the platform tells, and nothing that anybody runs."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from ansible_collections.hosted.services.plugins.module_utils._api.models import App
from ansible_collections.hosted.services.plugins.module_utils._resources.last_copies.last_copy import (
    describe_service,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.services.view import View
from unit.plugins.fakes import FakeClient, task_of

AT = "2026-01-01T00:00:00Z"


class Loader(yaml.SafeLoader):
    """Reads what Ansible reads."""


Loader.add_constructor("!unsafe", lambda loader, node: ("unsafe", node.value))


def described(client: FakeClient, app: App | None = None, state: str | None = "running") -> tuple[str, Any]:
    """Return the text for the only service, and the task that it holds."""
    task = task_of(SERVICE, client, id="svc_1", state="absent")
    service = client.service("svc_1")
    assert service is not None
    text = describe_service(task, View(service, state=state), client.settings("svc_1"), app, AT)
    ((only,),) = [yaml.load(text, Loader)]  # noqa: S506 - derived from the safe one
    return text, only


def test_everything_that_the_platform_tells() -> None:
    client = FakeClient()
    client.add_service("svc_1", "web")
    client.setting_records["svc_1"]["deploy"]["command"] = "run --fast"
    text, task = described(client)
    assert task == {
        "name": "Order service web again",
        "hosted.services.service": {
            "name": "web",
            "project": "default",
            "family": "APP",
            "product": "nginx",
            "runtime": "rt_1",
            "host": "nd_1",
            "dimensions": {"cpu_cores": 2, "ram_gb": 4, "storage_gb": 20},
            "public": False,
            "command": "run --fast",
            "state": "present",
        },
    }
    assert list(task) == ["name", "hosted.services.service"], "as people write them"
    assert next(iter(task["hosted.services.service"])) == "name"
    assert "service 'web' (svc_1) was made at 2026-01-01T00:00:00Z" in text
    assert "backups and snapshots on the platform were destroyed" in text
    assert "did not tell" not in text


@pytest.mark.parametrize("name", ["{{ lookup('pipe', 'id') }}", "{% raw %}", "{# x #}"])
def test_a_name_that_looks_like_a_template_is_never_run(name: str) -> None:
    client = FakeClient()
    client.add_service("svc_1", name)
    __, task = described(client)
    assert task["hosted.services.service"]["name"] == ("unsafe", name)
    assert task["name"] == ("unsafe", f"Order service {name} again")


def test_a_name_cannot_leave_the_comment() -> None:
    client = FakeClient()
    client.add_service("svc_1", "web\n- name: evil\n  ansible.builtin.command: id\n#\u2028\x85")
    app = App(id="svc_1", slug="shop", status="ACTIVE", image_ref="shop\n- name: evil\n#\t")
    assert set(described(client, app)[1]) == {"name", "hosted.services.app"}
    text, task = described(client)
    assert set(task) == {"name", "hosted.services.service"}
    assert task["hosted.services.service"]["name"].startswith("web\n- name: evil")
    head = text.partition("---")[0]
    assert all(line.startswith("# ") for line in head.splitlines())


def test_what_the_platform_does_not_tell_is_named() -> None:
    client = FakeClient()
    client.add_service("svc_1", "web", product=None, host=None, dimensions={"cpuCores": 2}, projectId=None)
    text, task = described(client)
    assert "did not tell product and host and dimensions either" in text
    assert "project" not in task["hosted.services.service"]
    assert "host" not in task["hosted.services.service"]
