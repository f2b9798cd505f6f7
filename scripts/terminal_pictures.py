# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draw the pictures of terminals in docs/guides, from what real playbooks print on a sandbox.

`make pictures` runs it. The sandbox's clock stands still. Ids and folders, which differ in every
run, are  for screen readers and for the test that compares it with what the code prints now.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import tempfile
import termios
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape, unescape
from io import StringIO
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from demo import BUDGET, INVENTORY, SECOND_GAME, demo_environment
from hosted_sandbox.testing import NO_DELAYS, Sandbox

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "guides"
CALLBACKS = ROOT / "tests" / "integration" / "callback_plugins"
COLUMNS = 114
"""As wide as the recap of Ansible, so that a terminal breaks only the lines of long errors."""
BEFORE = "2026-11-06T20:00:00Z"
NOW = "2026-11-06T21:00:00Z"
"""A Friday, after the hours of the services that sleep."""
CONFIGURATION = """\
[defaults]
callbacks_enabled = hosted.services.cost{more}
callback_plugins = {callbacks}
callback_result_format = yaml
display_skipped_hosts = false
localhost_warning = false
nocolor = {plain}

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
    def file(self) -> str:
        """The file of the playbook."""
        return self.arguments[0]


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
THEME = TerminalTheme(
    (13, 17, 23),
    (230, 237, 243),
    [(72, 79, 88), (255, 123, 114), (86, 211, 100), (227, 179, 65),
     (121, 192, 255), (210, 168, 255), (86, 212, 221), (177, 186, 196)],
    [(139, 148, 158), (255, 161, 152), (126, 231, 135), (242, 204, 96),
     (165, 214, 255), (226, 197, 255), (179, 240, 255), (255, 255, 255)],
)  # fmt: skip
SVG = """\
<!-- Copyright (c) 2026, the hosted.services contributors
GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
SPDX-License-Identifier: GPL-3.0-or-later -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>%s</title>
<desc>%s</desc>
<style>
.{unique_id}-matrix, .{unique_id}-title {{
  font: {char_height}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}}
{styles}
</style>
<defs>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""
NAMESPACE = "http://www.w3.org/2000/svg"
TEXT = re.compile(
    r'(?P<before><text class="[^"]*)(?P<after>" x="[^"]*" y="(?P<y>[^"]*)"[^>]*>(?P<words>[^<]*)</text>)'
)
MOTION = (
    "@keyframes appear { from { opacity: 0; } }",
    "@media (prefers-reduced-motion: no-preference) {",
    "  g > text { animation: appear 1ms both; }",
)
LONGEST_PAUSE, LONGEST_MOTION = 600, 4800
"""Milliseconds. What moves by itself for more than five seconds needs a button to stop it (WCAG 2.2.2)."""
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


class Stage:
    """A sandbox and a folder, in which one scene after the other is played."""

    def __init__(self, sandbox: Sandbox, folder: Path, program: str, color: bool) -> None:
        self.sandbox = sandbox
        self.folder = folder
        self.program = program
        """The path of ansible-playbook."""
        self.color = color

    def play(self, scene: Scene) -> str:
        """Run a scene from the beginning, and return what a person sees on the terminal."""
        self.sandbox.reset(profile="plain", clock=BEFORE, delays=NO_DELAYS)
        self.sandbox.clock(freeze=True, set=NOW)
        self.sandbox.seed(dict(scene.seed))
        with tempfile.TemporaryDirectory(dir=self.folder) as home:
            self.prepare(Path(home), scene)
            status, output = on_terminal(
                [self.program, *scene.arguments], self.environment(Path(home), scene), Path(home)
            )
            if status != scene.status:
                raise RuntimeError(f"{scene.command} ended with status {status}:\n{output}")
            return prompt(scene) + steady(output, home)

    def prepare(self, home: Path, scene: Scene) -> None:
        """Write what the command reads."""
        (home / "account.hosted.yml").write_text(INVENTORY)
        if scene.playbook:
            (home / scene.file).write_text(scene.playbook)
        (home / "ansible.cfg").write_text(
            CONFIGURATION.format(
                callbacks=CALLBACKS,
                more=", fixed_time" if "sleep_plan" in scene.playbook else "",
                plain=str(not self.color).lower(),
            )
        )

    def environment(self, home: Path, scene: Scene) -> dict[str, str]:
        """Return the environment of the command."""
        ours = demo_environment(self.sandbox, home)
        kept = {name: value for name, value in ours.items() if not name.startswith("ANSIBLE_")}
        collections = {"ANSIBLE_COLLECTIONS_PATH": os.environ["ANSIBLE_COLLECTIONS_PATH"]}
        return {**kept, **collections, "TERM": "xterm-256color", "FIXED_TIME": NOW, **scene.environment}


def prompt(scene: Scene) -> str:
    """Return what is typed, and before it the playbook if the picture shows that."""
    shown = f"$ cat {scene.file}\n{scene.playbook}\n" if scene.shows_playbook else ""
    return f"{shown}$ {scene.command}\n"


def on_terminal(command: Sequence[str], environment: Mapping[str, str], folder: Path) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its status and all that it printed."""
    reader, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    with subprocess.Popen(
        command, env=dict(environment), cwd=folder, stdin=terminal, stdout=terminal, stderr=terminal
    ) as process:
        os.close(terminal)
        output = b"".join(iter(lambda: read_terminal(reader), b""))
    os.close(reader)
    return process.returncode, output.decode().replace("\r\n", "\n")


def read_terminal(reader: int) -> bytes:
    """Read from a terminal; return nothing once nobody has it open any more."""
    try:
        return os.read(reader, 65536)
    except OSError:
        return b""


def steady(output: str, home: str) -> str:
    """Return an output with the same ids and folders in every run."""
    ids: dict[str, str] = {}
    for found in ID.findall(output):
        ids.setdefault(found, str(uuid.uuid5(uuid.NAMESPACE_OID, str(len(ids)))))
    for found, replacement in ids.items():
        output = output.replace(found, replacement)
    return output.replace(home, "/home/you")


# --- Drawing ------------------------------------------------------------------------------------------


def screen(output: str) -> Text:
    """Return what a terminal shows of an output, with its colors."""
    lines = [Text.from_ansi(line) for line in output.rstrip().split("\n")]
    for line in lines:
        line.rstrip()
    return Text("\n").join(lines)


def drawn(name: str, output: str) -> str:
    """Return an output as a picture."""
    console = Console(
        record=True,
        width=COLUMNS,
        file=StringIO(),
        force_terminal=True,
        color_system="standard",
        highlight=False,
    )
    console.print(screen(output), overflow="fold", soft_wrap=False)
    texts = [command_of(output), "\n".join(lines_of(output))]
    described = SVG % tuple(escape(text).replace("{", "{{").replace("}", "}}") for text in texts)
    found = console.export_svg(
        title="", theme=THEME, code_format=described, font_aspect_ratio=0.602, unique_id=name
    )
    return moving("\n".join(line.rstrip() for line in found.split("\n")))


def moving(picture: str) -> str:
    """Return a picture in which one paragraph appears after the other, as a terminal shows them.

    It comes to rest within five seconds, and does not move for readers who ask for less motion.
    """
    paragraphs = paragraphs_of(picture)

    def mark(text: re.Match[str]) -> str:
        return f"{text['before']} p{paragraphs[text['y']]}{text['after']}"

    last = max(paragraphs.values())
    pause = min(LONGEST_PAUSE, LONGEST_MOTION // max(last, 1))
    delays = [f"  .p{number} {{ animation-delay: {number * pause}ms; }}" for number in range(1, last + 1)]
    return TEXT.sub(mark, picture).replace("</style>", "\n".join([*MOTION, *delays, "}", "</style>"]), 1)


def paragraphs_of(picture: str) -> dict[str, int]:
    """Return the number of the paragraph that each row of a picture belongs to, by the row's y."""
    rows: dict[str, str] = {}
    for text in TEXT.finditer(picture):
        rows[text["y"]] = rows.get(text["y"], "") + unescape(text["words"]).strip()
    found, number, blank = {}, 0, False
    for y in sorted(rows, key=float):
        number += bool(blank and rows[y])
        blank = not rows[y]
        found[y] = number
    return found


def command_of(output: str) -> str:
    """Return what was typed last."""
    return [line for line in output.split("\n") if line.startswith("$ ")][-1].removeprefix("$ ")


def lines_of(output: str) -> list[str]:
    """Return the text of an output, line by line."""
    return screen(output).plain.split("\n")


def texts_of(picture: str) -> tuple[list[str], list[str]]:
    """Return the lines that a picture has as its description, and the words that it draws."""
    root = ElementTree.fromstring(picture)  # noqa: S314 - a file of the repository
    rows: dict[float, str] = {}
    for text in root.findall(f".//{{{NAMESPACE}}}g[@class]/{{{NAMESPACE}}}text"):
        y = float(text.attrib["y"])
        rows[y] = rows.get(y, "") + (text.text or "")
    words = " ".join(row for _y, row in sorted(rows.items())).replace("\xa0", " ").split()
    return (root.findtext(f"{{{NAMESPACE}}}desc") or "").split("\n"), words


@contextmanager
def stage(program: str = "ansible-playbook", color: bool = True) -> Iterator[Stage]:
    """Provide a stage on which scenes can be played."""
    with Sandbox() as sandbox, tempfile.TemporaryDirectory(prefix="terminal-") as folder:
        yield Stage(sandbox, Path(folder), program, color)


def main() -> None:
    """Draw every picture."""
    with stage() as played:
        for name, scene in SCENES.items():
            (FOLDER / f"{name}.svg").write_text(drawn(name, played.play(scene)), encoding="utf-8")


if __name__ == "__main__":
    main()
