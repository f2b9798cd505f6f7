# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Workers on a Mac: to ask macOS for its proxies crashes a forked process, so nothing of ours asks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible
from integration.warm import COLD

pytestmark = pytest.mark.night

INJECTED = Path(__file__).with_name("injected") / "macos"
TASKS = """\
- name: Call the platform by way of the broker
  hosted.services.project_info: {}
- name: Call it without
  hosted.services.project_info: {}
  vars: {hosted_keep_connections: false}
- name: Look a secret up
  ansible.builtin.debug:
    msg: "{{ lookup('hosted.services.registry_credentials').host is defined }}"
- name: Have an application
  hosted.services.app: {slug: shop, max_monthly: 5}
- name: Push an image
  hosted.services.app_image: {slug: shop, tag: v1, path: 1.tar}
"""
#: What others do: without it the test could not fail.
ASK = """
import os, requests
if os.fork() == 0:
    requests.get("http://127.0.0.1:1", timeout=1)
    os._exit(0)
os._exit(os.WTERMSIG(os.wait()[1]))
"""


def test_no_worker_asks_macos_for_proxies(ansible: Ansible, sandbox: Sandbox, tmp_path: Path) -> None:
    lookups = tmp_path / "lookups"
    lookups.touch()
    build_image(ansible.folder / "1.tar", {"app/server": b"1"})
    # An address of this machine that is not its loopback: for that one no proxy is looked up anyway.
    elsewhere = sandbox.base_url.replace("127.0.0.1", "0.0.0.0")
    ansible.environment |= {"HOSTED_SERVICES_URL": elsewhere, "HOSTED_SERVICES_ALLOW_HTTP_HOSTS": "0.0.0.0"}
    ansible.programs = COLD
    ansible.environment |= {"PYTHONPATH": str(INJECTED), "INJECTED_LOOKUPS": str(lookups)}
    run = ansible.tasks(TASKS, variables={"ansible_python_interpreter": sys.executable})
    assert lookups.read_text() == "", run.output
    run.succeed()
    assert sandbox.journal("projects.list")

    command = [sys.executable, "-c", ASK]
    asked = subprocess.run(command, env=ansible.environment, check=False, capture_output=True)
    assert asked.returncode != 0 and lookups.read_text() == "forked\n"
