# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the pictures of terminals in docs/guides, from what real playbooks print on a sandbox.

`make pictures` runs it. Ids, times and folders, which differ in every run, are replaced by others that do
not. Each picture has its text as its description, for screen readers and for the test that compares it with
what the code prints now.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape, unescape
from io import StringIO
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from ansible_collections.hosted.services.scripts.sources import ROOT
from demo import BUDGET, INVENTORY, SECOND_GAME, demo_environment
from hosted_sandbox.testing import NO_DELAYS, Sandbox

FOLDER = ROOT / "docs" / "guides"
CALLBACKS = ROOT / "tests" / "integration" / "callback_plugins"
COLUMNS = 114
"""As wide as the recap of Ansible, so that only the lines of long errors are broken."""
BEFORE = "2026-11-06T20:00:00Z"
NOW = "2026-11-06T21:00:00Z"
"""A Friday, after the hours of the services that sleep."""
RATE = 30
"""How fast the sandbox's clock runs, so that what is started again has run for some seconds before."""
CONFIGURATION = """\
[defaults]
callbacks_enabled = hosted.services.cost{more}
callback_plugins = {callbacks}
callback_result_format = yaml
display_skipped_hosts = false
localhost_warning = false
force_color = true

[inventory]
inventory_unparsed_warning = false
"""
ORDER = """\
- hosts: localhost
  gather_facts: false
  tasks:
    - name: Order a game server and start it
      hosted.services.service:
        name: survival
        product: minecraft
        host: node-paris-1
        dimensions: {cpu_cores: 2, ram_gb: 4, storage_gb: 20}
        max_monthly: 15
        state: started
"""
DEPLOY = """\
- name: Deploy a new version of the shop
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Deploy it
      hosted.services.app_deploy:
        slug: shop
        tag: v2
"""
SLEEP = """\
- name: Let the test servers sleep at night
  hosts: localhost
  gather_facts: false
  tasks:
    - name: Suspend or resume them, as the clock says
      hosted.services.sleep_plan:
        name: office-hours
        project: test
        time_zone: Europe/Paris
        awake:
          - days: [mon, tue, wed, thu, fri]
            from: "07:30"
            to: "20:00"
      register: sleep

    - name: Show what the plan saves in a month
      ansible.builtin.debug:
        msg: "{{ sleep.plan.saves_monthly }} a month"
"""


@dataclass(frozen=True)
class Scene:
    """A picture: what is typed at the prompt, and the account on which it runs."""

    command: str
    playbook: str = ""
    shows_playbook: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    seed: Mapping[str, Any] = field(default_factory=dict)
    status: int = 0

    @property
    def arguments(self) -> list[str]:
        """The command, without the variables before it."""
        return self.command.partition("ansible-playbook ")[2].split()

    @property
    def typed(self) -> str:
        """What is typed, and before it the playbook if the picture shows that."""
        shown = f"$ cat {self.arguments[0]}\n{self.playbook}\n" if self.shows_playbook else ""
        return f"{shown}$ {self.command}\n"


GAME = {"product": "minecraft", "host": "node-paris-1"}
IMAGES = [{"tag": "v1"}, {"tag": "v2", "packages": {"runc": "1.0.0~rc6"}}]
SCENES = {
    "terminal-order": Scene("ansible-playbook survival.yml --check --diff", ORDER, shows_playbook=True),
    "terminal-quickstart": Scene("ansible-playbook -i account.hosted.yml hosted.services.quickstart"),
    "terminal-budget": Scene(
        f"HOSTED_SERVICES_BUDGET='{BUDGET}' ansible-playbook second_game.yml",
        SECOND_GAME,
        environment={"HOSTED_SERVICES_BUDGET": BUDGET},
        seed={
            "projects": ["quickstart"],
            "services": [{"name": "survival", "project": "quickstart", **GAME}],
        },
        status=2,
    ),
    "terminal-blocked": Scene(
        "ansible-playbook shop.yml",
        DEPLOY,
        seed={"apps": [{"slug": "shop", "images": IMAGES, "deployed": "v1"}]},
        status=2,
    ),
    "terminal-sleep": Scene(
        "ansible-playbook sleep.yml --check",
        SLEEP,
        seed={
            "projects": ["test"],
            "services": [
                {"name": "test-game", "project": "test", **GAME},
                {"name": "test-db", "project": "test", "product": "postgresql"},
            ],
        },
    ),
}
FONT_OF_RICH = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
"""It would be fetched from another host; a terminal's own font does as well."""
TIME = re.compile(r"(?<=T)21:\d\d:\d\d\.\d{3}Z")
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def play(sandbox: Sandbox, scene: Scene, program: str = "ansible-playbook") -> str:
    """Run a scene from the beginning, and return what a person sees on the terminal."""
    sandbox.reset(profile="plain", clock=BEFORE, delays=NO_DELAYS)
    sandbox.clock(rate=RATE, set=NOW)
    sandbox.seed(dict(scene.seed))
    with tempfile.TemporaryDirectory(prefix="terminal-") as home:
        (Path(home) / "account.hosted.yml").write_text(INVENTORY)
        if scene.playbook:
            (Path(home) / scene.arguments[0]).write_text(scene.playbook)
        more = ", fixed_time" if "sleep_plan" in scene.playbook else ""
        (Path(home) / "ansible.cfg").write_text(CONFIGURATION.format(callbacks=CALLBACKS, more=more))
        command = [program, *scene.arguments]
        done = subprocess.run(
            command,
            env=environment(sandbox, Path(home), scene),
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    if done.returncode != scene.status:
        raise RuntimeError(f"{scene.command} ended with status {done.returncode}:\n{done.stdout}")
    return scene.typed + steady(done.stdout, home)


def environment(sandbox: Sandbox, home: Path, scene: Scene) -> dict[str, str]:
    """Return the environment of a scene's command."""
    ours = demo_environment(sandbox, home)
    kept = {name: value for name, value in ours.items() if not name.startswith("ANSIBLE_")}
    collections = {"ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"]}
    return {**kept, **collections, "FIXED_TIME": NOW, **scene.environment}


def steady(output: str, home: str) -> str:
    """Return an output with the same ids, times and folders in every run."""
    for number, found in enumerate(dict.fromkeys(ID.findall(output))):
        output = output.replace(found, str(uuid.uuid5(uuid.NAMESPACE_OID, str(number))))
    output = TIME.sub("21:00:00.000Z", output)
    return output.replace(home, "/home/you")


def screen(output: str) -> Text:
    """Return what a terminal shows of an output, with its colors."""
    lines = [Text.from_ansi(line) for line in output.rstrip().split("\n")]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def drawn(name: str, command: str, output: str) -> str:
    """Return an output as a picture."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True, highlight=False)
    console.print(screen(output), overflow="fold")
    picture = FONT_OF_RICH.sub("", console.export_svg(title="", unique_id=name))
    texts = f"<title>{escape(command)}</title>\n<desc>{escape(screen(output).plain)}</desc>"
    return re.sub(r"(<svg [^>]*>)", lambda svg: f"{svg[1]}\n{texts}", picture, count=1)


def described(picture: str) -> str:
    """Return the text that a picture has as its description."""
    return unescape(picture.partition("<desc>")[2].partition("</desc>")[0])


def main() -> None:
    """Draw every picture."""
    with Sandbox() as sandbox:
        for name, scene in SCENES.items():
            picture = drawn(name, scene.command, play(sandbox, scene))
            (FOLDER / f"{name}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
