# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A warm start is like a cold one: streams, folder, environment, settings, how it ends, and who ends it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from integration.ansible_run import Ansible
from integration.warm import COLD, Programs, programs

pytestmark = pytest.mark.night

REPORT = """\
import os, sys, time
print(sys.argv, sys.stdin.isatty(), os.getcwd(), sorted(os.environ.items()), time.tzname, oct(os.umask(0)))
print(__name__, sys.executable, file=sys.stderr)
sys.exit(len(sys.argv) + 6)
"""
PLAY = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - ansible.builtin.debug:
        msg: "{{ lookup('pipe', 'pwd; env | sort; umask') }} {{ lookup('config', 'DEFAULT_FORKS') }}"
    - ansible.builtin.command: {argv: [pwd]}
      register: where
    - ansible.builtin.fail: {msg: "{{ where.stdout }}"}
"""


@pytest.fixture
def warm() -> Programs:
    """The programs, unless WARM_START=0 says that there are none."""
    if programs().python == sys.executable:
        pytest.skip("WARM_START=0")
    return programs()


def test_python(warm: Programs, tmp_path: Path) -> None:
    """A program from the standard input, and one from a file with arguments."""
    script = tmp_path / "script.py"
    script.write_text(REPORT)
    environment = {"LANG": "C.UTF-8", "TZ": "Asia/Tokyo", "ODD": "a\udcffb"}
    for arguments in ([], [str(script), "one", "two"], ["-c", REPORT]):
        ends = [
            subprocess.run(
                [program, *arguments],
                input=REPORT.encode(), cwd=tmp_path, env=environment, capture_output=True, check=False,
                umask=0o27,
            )
            for program in (sys.executable, warm.python)
        ]  # fmt: skip
        cold, warmed = [(end.returncode, end.stdout, end.stderr) for end in ends]
        assert warmed == cold
        assert cold[0] in (7, 9) and b"Asia/Tokyo" in cold[1] and b"0o27" in cold[1]


@pytest.mark.parametrize("more", [{}, {"ANSIBLE_FORKS": "7"}, {"ANSIBLE_DISPLAY_SKIPPED_HOSTS": "false"}])
def test_playbook(warm: Programs, ansible: Ansible, more: dict[str, str]) -> None:
    """The same settings, and the same output, also where a setting makes it start cold."""
    play = ansible.folder / "play.yml"
    play.write_text(PLAY)
    ends = [
        subprocess.run(
            [program, "-i", ansible.inventory, play],
            cwd=ansible.folder, env={**ansible.environment, **more, "RESULTS_FILE": os.devnull},
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
        )
        for program in (COLD.playbook, warm.playbook)
    ]  # fmt: skip
    cold, warmed = [(end.returncode, end.stdout, end.stderr) for end in ends]
    assert warmed == cold
    assert cold[0] == 2 and f"MSG: {ansible.folder}".encode()[5:] in cold[1]
    assert list((ansible.folder / ".ansible" / "tmp").iterdir()) == []


def test_how_it_ends(warm: Programs, tmp_path: Path) -> None:
    """By the signal that ended it; and whoever is killed takes it along."""
    killed = subprocess.run([warm.python], input=b"import os; os.kill(os.getpid(), 9)", env={}, check=False)
    assert killed.returncode == -signal.SIGKILL
    mark = tmp_path / "pid"
    source = f"import os, time; open({str(mark)!r}, 'w').write(str(os.getpid())); time.sleep(600)"
    running = subprocess.Popen([warm.python], stdin=subprocess.PIPE, env={})
    assert running.stdin is not None
    running.stdin.write(source.encode())
    running.stdin.close()
    while not mark.exists() or not mark.read_text():
        assert running.poll() is None
    running.kill()
    running.wait()
    while Path(f"/proc/{mark.read_text()}").exists():
        time.sleep(0.01)
