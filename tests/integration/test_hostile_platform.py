# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and texts of the platform that are templates, or that steer terminals: nothing comes of it."""

from __future__ import annotations

import json
import re
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import yaml

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.proxy_server import ProxyServer, running

POISONED = {
    "name", "label", "shortName", "locationLabel", "hourlyLabel", "message", "email", "detail", "content",
    "address", "reference", "alias", "lines", "title", "description", "currency", "date", "url",
}  # fmt: skip
STEERING = "\x1b[31m\x1b]0;owned\x07\x9b2J\r\u202e\x7f"
SEED = {"projects": ["web"], "services": [
    {"name": "mc", "product": "minecraft", "project": "web", "files": {"a.txt": "hello\n"}},
    {"name": "db", "product": "postgresql", "project": "web"},
]}  # fmt: skip


def poison(value: Any, form: str, key: str = "") -> Any:
    """Return an answer in which every text for people has a form, which may hold the text."""
    if isinstance(value, dict):
        return {name: poison(item, form, name) for name, item in value.items()}
    if isinstance(value, list):
        return [poison(item, form, key) for item in value]
    return form.replace("TEXT", value) if isinstance(value, str) and key in POISONED else value


def hostile(sandbox: Sandbox, folder: Path, more: str) -> AbstractContextManager[ProxyServer]:
    """Return a platform whose names want to be evaluated: to leave a file, and the number 133701337."""
    run = f"lookup('pipe', 'touch {folder / 'evaluated'}')"
    form = f"TEXT{{{{ 7 * 19100191 }}}}{{{{ {run} }}}}{more}{STEERING}"

    def change(content: bytes) -> bytes:
        try:
            return json.dumps(poison(json.loads(content), form)).encode()
        except ValueError:
            return content

    return running(ProxyServer(sandbox, change=change))


def check(output: str, folder: Path) -> None:
    """Check that nothing was evaluated, and that no terminal would have been steered."""
    assert not (folder / "evaluated").exists()
    assert "133701337" not in output
    assert "defect of the collection" not in output
    assert "Traceback" not in output
    assert [char for char in set(output) if not char.isprintable() and char != "\n"] == []


OWN_LINES = '"} 1\nowned_metric 1\n- owned: true\n\towned'
FORMATS = r"""
- hosts: localhost
  gather_facts: false
  tasks:
    - hosted.services.report_info: {}
      register: account
    - hosted.services.blueprint_info: {project: "{{ account.report.projects[0].id }}"}
      register: exported
    - hosted.services.service: {id: "{{ account.report.services[0].id }}", state: absent}
    - ansible.builtin.copy:
        {dest: "{{ playbook_dir }}/{{ item.key }}", content: "{{ item.value }}", mode: "0600"}
      loop: "{{ made | dict2items }}"
      vars:
        made:
          made.prom: "{{ account.report | hosted.services.report_prometheus }}"
          made.html: "{{ account.report | hosted.services.report_html }}"
          made.yml: "{{ exported.blueprints[0].text }}"
"""


def test_no_name_adds_a_line_to_another_format(ansible: Ansible, sandbox: Sandbox) -> None:
    """Metrics, the page, an exported blueprint, the table and the file of costs; names of any length."""
    sandbox.seed(SEED)
    env = {
        "ANSIBLE_CALLBACKS_ENABLED": "results_file,hosted.services.cost",
        "HOSTED_SERVICES_COST_OUTPUT": str(ansible.folder / "made.json"),
    }
    with hostile(sandbox, ansible.folder, more=OWN_LINES + "x" * 4000) as server:
        run = ansible.playbook(FORMATS, env={**env, "HOSTED_SERVICES_URL": server.url}).succeed()
    check(run.output, ansible.folder)
    texts = {path.suffix: path.read_text() for path in ansible.folder.glob("made.*")}
    for text in (run.output, *texts.values()):
        assert [line for line in text.splitlines() if line.lstrip().startswith(("owned", "- owned"))] == []
    for text in texts.values():
        assert [char for char in set(text) if not char.isprintable() and char not in "\n\xa0"] == []
    metrics = texts[".prom"].splitlines()
    assert [line for line in metrics if not line.startswith(("# ", "hosted_report_"))] == []
    assert max(map(len, run.stdout.partition("COST")[2].splitlines())) < 300
    assert OWN_LINES in yaml.safe_load(texts[".yml"].replace("!unsafe ", ""))["project"]


def test_a_price_below_zero_fits_no_limit(ansible: Ansible, sandbox: Sandbox) -> None:
    """Nor is room made by the rate of a service that is there."""
    sandbox.seed({**SEED, "balance_cents": 100_000})
    size = {"cpu_cores": 1, "ram_gb": 2, "storage_gb": 10}
    order = {"name": "new", "product": "minecraft", "host": "node-paris-1", "dimensions": size}

    def change(content: bytes) -> bytes:
        return re.sub(rb'(onthlyMillicents": ?)\d+', rb"\g<1>-5000", content)

    with running(ProxyServer(sandbox, change=change)) as server:
        orders = [{**order, "base_url": server.url, limit: "1"} for limit in ("max_monthly", "budget")]
        tasks = json.dumps([{"hosted.services.service": options} for options in orders])
        run = ansible.tasks(tasks, "ignore_errors: true\n")
    assert [done.failed and "not known" in done.message for done in run.outcomes] == [True, True]
    services = sandbox.api("GET", "/api/resources").json()["items"]
    assert sorted(service["name"] for service in services) == ["db", "mc"]
