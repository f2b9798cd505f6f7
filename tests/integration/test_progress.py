# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work says how far it is while it runs: on a terminal, and nowhere else."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PLAY_SECONDS, Ansible

PLAY = """
- hosts: localhost
  gather_facts: false
  vars:
    hosted_progress_interval: 0.000001
  tasks:
    - hosted.services.service:
        name: survival
        product: minecraft
        host: node-paris-1
        dimensions: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
        wait_interval: 0.1
        state: started
    - hosted.services.sftp_password:
        service: survival
        return_secrets: true
      register: access
    - &sync
      hosted.services.sftp_sync:
        service: survival
        password: "{{ access.secrets.password }}"
        known_hosts: "{{ playbook_dir }}/known_hosts"
        src: "{{ playbook_dir }}/site"
        dest: www
    - hosted.services.file:
        service: survival
        paths: "{{ range(150) | map('regex_replace', '^', 'www/page-') }}"
        state: absent
    - <<: *sync
      no_log: true
    - <<: *sync
      vars:
        hosted_progress_interval: 0
"""
LINE = re.compile(r"^  \[localhost\] (.*)$", re.MULTILINE)


def on_a_terminal(ansible: Ansible, playbook: Path) -> str:
    """Run a playbook on a terminal of its own and return what is on its screen."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["ansible-playbook", "-i", ansible.inventory, playbook],
        env=ansible.environment,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        screen = b""
        try:
            while piece := os.read(ours, 65536):
                screen += piece
        except OSError:  # how Linux says that nobody writes there any more
            pass
        os.close(ours)
        process.wait(PLAY_SECONDS)
    text = screen.decode().replace("\r\n", "\n")
    assert process.returncode == 0, text
    return text


@pytest.fixture
def playbook(ansible: Ansible, sandbox: Sandbox) -> Path:
    """Long work: a wait, an upload, a removal of many files."""
    sandbox.delays(provision=1)
    site = ansible.folder / "site"
    site.mkdir()
    for number in range(150):
        (site / f"page-{number}").write_text("welcome")
    (site / "large").write_bytes(bytes(3_000_000))
    path = ansible.folder / "play.yml"
    path.write_text(PLAY)
    return path


def test_progress_on_a_terminal(ansible: Ansible, playbook: Path) -> None:
    screen = on_a_terminal(ansible, playbook)
    __, wait, __, push, removal, hidden, turned_off = re.split(r"^TASK .*$", screen, flags=re.MULTILINE)
    assert any(line.startswith("waiting for ") for line in LINE.findall(wait)), screen
    said = LINE.findall(push)
    assert "copy: 151 of 151, 3.0 MB of 3.0 MB" in said, screen
    assert any(re.fullmatch(r"copy: \d+ of 151, [12]\.\d MB of 3\.0 MB", line) for line in said), screen
    [removed] = LINE.findall(removal)
    assert removed.startswith("step 2 of 2: remove 50 entries of www on service 'survival'"), screen
    assert not LINE.findall(hidden + turned_off), screen


def test_silence_elsewhere(ansible: Ansible, playbook: Path) -> None:
    run = ansible.playbook(playbook.read_text()).succeed()
    assert not LINE.findall(run.output)
    assert run.stderr == ""
