# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""An order that fails, as a user reads it. Calls whose answer is lost are the fault matrix's."""

from __future__ import annotations

import json
import stat

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible

ORDER = """
- name: Order {name}
  hosted.services.service:
    name: {name}
    product: {product}
    host: node-paris-1
    dimensions: {{cpu_cores: 1, ram_gb: 1, storage_gb: 10}}
    state: started
    wait_interval: 0.2
    wait_timeout: {patience}
    secrets_dest: secrets.json
"""


def order(product: str = "postgresql", name: str = "new", patience: int = 30) -> str:
    """Return a task that orders a product, a database when nothing is said, and waits until it runs."""
    return ORDER.format(name=name, product=product, patience=patience)


SEED = {
    "products": [
        {
            "id": "broken-database",
            "name": "Database that cannot be created",
            "short_name": "Broken",
            "family": "APP",
            "engine": "postgresql",
            "outcome": "FAILED",
        }
    ]
}


def test_an_order_that_fails_keeps_its_secrets_and_says_why(ansible: Ansible, sandbox: Sandbox) -> None:
    """What is shown only once is on disk, for its owner alone, or in the result; no wait goes on in vain."""
    sandbox.seed(SEED)
    file = ansible.folder / "secrets.json"
    kept = order("broken-database", patience=3600).replace("secrets.json", str(file))
    returned = order("broken-database", "returned").replace(
        "secrets_dest: secrets.json", "return_secrets: true"
    )
    attended = order("attended-game", "attended", patience=3600)
    run = ansible.tasks("".join(f"{task}  ignore_errors: true\n" for task in (kept, returned, attended)))

    failed = run["Order new"]
    assert failed.failed and failed.result["changed"] is True
    assert failed.result["secrets_file"] == str(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    on_disk = json.loads(file.read_text())
    assert on_disk["service_id"] == failed.result["service_id"] == failed.result["service"]["id"]
    values = [secret["value"] for secret in on_disk["secrets"]]
    assert len(values) == 2
    assert max(values, key=len) not in run.output + json.dumps(failed.result)
    reason = sandbox.api("GET", f"/api/resources/{failed.result['service_id']}").json()["failureReason"]
    assert reason and reason in failed.message
    assert failed.result["last_status"] == failed.result["service"]["status"] == "FAILED"

    secrets = run["Order returned"].result["secrets"]["secrets"]
    assert len([secret for secret in secrets if secret["label"] and secret["value"]]) == 2
    folder = (ansible.folder / ".ansible" / "hosted_services" / "secrets").rglob("*")
    assert [path for path in folder if path.is_file() and path.stat().st_size] == [], "a lock holds nothing"

    assert "awaits an intervention" in run["Order attended"].message
    assert run["Order attended"].result["last_status"] == "AWAITING_ADMIN"
    assert {"last_state", "last_log_lines"} <= run["Order attended"].result.keys()
