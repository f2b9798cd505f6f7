# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What another plugin leaves to Python's last collection is not lost because that is kept short."""

from __future__ import annotations

import pytest

from integration.ansible_run import Ansible, play_of
from integration.warm import COLD

KEEPER = """\
from ansible.plugins.callback import CallbackBase


class Kept:
    def __init__(self):
        self.cycle = self
        self.file = open("kept.txt", "w")
        self.file.write("from the beginning ")


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "keeper"

    def __init__(self):
        super().__init__()
        self.kept = Kept()

    def v2_playbook_on_stats(self, stats):
        self.kept.file.write("to the end")
        del self.kept
"""


@pytest.mark.parametrize("switch", ["1", pytest.param("0", marks=pytest.mark.night)])
def test_a_file_that_a_callback_leaves_open_is_written_to_its_end(ansible: Ansible, switch: str) -> None:
    """It is in a cycle that was there before the imports were exempt from collection."""
    (ansible.folder / "callback_plugins").mkdir()
    (ansible.folder / "callback_plugins" / "keeper.py").write_text(KEEPER)
    (ansible.folder / "play.yml").write_text(play_of("- hosted.services.project: {name: games}\n"))
    env = {"ANSIBLE_CALLBACKS_ENABLED": "keeper", "HOSTED_SERVICES_FREEZE": switch}
    run = ansible.program(COLD.playbook, "-i", ansible.inventory, "play.yml", env=env)
    assert run.returncode == 0, run.stdout + run.stderr
    assert (ansible.folder / "kept.txt").read_text() == "from the beginning to the end"
