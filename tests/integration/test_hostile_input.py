# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Odd arguments through ansible-playbook. All options with all odd values are tried in the unit tests."""

from __future__ import annotations

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible

TASKS = r"""
- hosted.services.app: {slug: acme, dimensions: true}
- hosted.services.app: {slug: acme, dimensions: {1: 2}}
- hosted.services.project: {name: "a", retries: .inf}
- hosted.services.service: {id: "../../projects"}
- hosted.services.service: {id: ".."}
- hosted.services.file: {service: mc, path: "../etc/passwd", content: x}
- hosted.services.file: {service: mc, path: "a\0b", content: x}
- hosted.services.file: {service: mc, path: a, src: "a\0b"}
- hosted.services.file: {service: mc, path: null, state: absent}
- hosted.services.ssh_key: {name: a, public_key_file: "a\0b"}
- hosted.services.project: {name: "g\u0430mes", state: absent, id: "\u0430"}
- hosted.services.sftp_host_key: {host: "a\0b"}
"""


def test_odd_arguments_are_refused_in_plain_words(ansible: Ansible, sandbox: Sandbox) -> None:
    """Each in one sentence, with nothing changed."""
    sandbox.seed({"services": [{"name": "mc", "product": "minecraft"}]})
    sandbox.clear_journal()
    run = ansible.tasks(TASKS, "ignore_errors: true\n").succeed()
    for outcome in run.outcomes[:-2] + run.outcomes[-1:]:
        assert outcome.outcome == "failed", outcome
        assert outcome.message
        assert "\n" not in outcome.message
    assert "defect of the collection" not in run.output
    assert "Traceback" not in run.output
    assert "dimensions has a value that the option cannot have" in run.outcomes[0].message
    assert [line for line in sandbox.journal() if line["method"] != "GET"] == []
