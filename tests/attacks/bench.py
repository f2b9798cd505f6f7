# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One story in one turn: a platform that is new, surroundings that are new, a run, a verdict."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from attacks.canaries import CANARIES, SPEAKABLE, TURNS
from attacks.hostile import Listing, Poison, each_text, platform, registry
from attacks.judge import Surroundings
from faults.runner import filled, made_inputs
from faults.scenarios import ACCOUNT
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Run
from integration.proxy_server import running
from unit.plugins.module_utils._sftp.odd_servers import odd_server

EVENT = (
    "BEGIN:VEVENT\r\nUID:{0}{1}\r\nSUMMARY:{1}\r\nX-A:{1}\r\n"
    "DTSTART:2026011{0}T000000Z\r\nDTEND:2026011{0}T230000Z\r\nEND:VEVENT\r\n"
)
NAMES = frozenset((
    "mc", "idle", "asleep", "db", "box", "games", "games-copy", "spare", "laptop", "desktop", "deploy", "new",
    "renamed", "nightly-1", "nightly-2", "clean", "t",
))  # fmt: skip
"""What the account of the scenarios calls its things: options name them as the platform does."""


OTHERS: dict[str, Any] = {
    "services": [
        {
            "name": f"other-{number}",
            "product": ("minecraft", "linux")[number % 2],
            "project": "another",
            "files": {"a.txt": text},
        }
        for number, text in enumerate(list(CANARIES.values())[SPEAKABLE:])
    ],
}
"""What has names that no task could give."""


class Unsafe(str):
    """A text that Ansible must take as data."""


class Dumper(yaml.SafeDumper):
    """Writes playbooks."""


Dumper.add_representer(Unsafe, lambda dumper, text: dumper.represent_scalar("!unsafe", str(text), style='"'))


@dataclass
class Bench:
    """What a story works with, and what it has left."""

    sandbox: Sandbox
    poison: Poison
    around: Surroundings
    ansible: Ansible
    url: str
    in_process: bool
    facts: dict[str, str]
    output: str = ""
    outcomes: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """How often an action succeeded, or did not."""

    def begin(self) -> None:
        """Let an account begin that has something of everything, and Ansible know it."""
        created = self.sandbox.reset(**ACCOUNT)
        self.sandbox.seed(OTHERS)
        self.facts |= {f"id_{name}": id for name, id in created["services"].items()}
        self.facts["public_key"] = (Path(self.facts["inputs"]) / "key.pub").read_text()
        key = {"name": "deploy", "publicKey": self.facts["public_key"]}
        self.sandbox.api("POST", "/api/users/me/ssh-keys", key)
        (self.around.run / "calendar.ics").write_text(calendar(self.poison), newline="")
        self.ansible.environment |= self.around.environment | {
            "HOSTED_SERVICES_URL": self.url,
            "ANSIBLE_CALLBACKS_ENABLED": "results_file,hosted.services.cost",
        }

    def named(self, text: str) -> str:
        """Return a text of a task with the facts in it, or a name as the platform says it."""
        return Unsafe(self.poison.said(text)) if text in NAMES else str(filled(text, self.facts))

    def as_yaml(self, value: Any) -> str:
        """Return data as YAML with the platform's names."""
        return yaml.dump(each_text(value, self.named), Dumper=Dumper, sort_keys=False, width=10_000)

    def play(self, plays: Any) -> Run:
        """Run plays, given as data, and keep what came of it."""
        text, folder = self.as_yaml(plays), self.around.work
        return self.keep(self.ansible.playbook(text, in_process=self.in_process, folder=folder))

    def tasks(self, tasks: list[dict[str, Any]]) -> Run:
        """Run tasks; each of them may fail."""
        return self.play(
            [{"hosts": "localhost", "gather_facts": False, "ignore_errors": True, "tasks": tasks}]
        )

    def keep(self, run: Run) -> Run:
        """Keep what a run has printed, and which of its tasks succeeded."""
        self.output += run.output
        for outcome in run.outcomes:
            self.outcomes[outcome.action, outcome.failed] += 1
        return run


@dataclass(frozen=True)
class Story:
    """Something that is done with a hostile platform. `covers` names what its playbooks do not."""

    name: str
    tell: Callable[[Bench], None]
    covers: str = ""


@dataclass(frozen=True)
class Verdict:
    """What became of a story in one turn."""

    story: str
    turn: int
    violations: list[str]
    outcomes: Mapping[tuple[str, bool], int]
    output: str


def judge(sandbox: Sandbox, story: Story, turn: int, in_process: bool = True) -> Verdict:
    """Tell a story on a platform that begins anew, inside the controller or by modules."""
    with tempfile.TemporaryDirectory(prefix="a-") as folder, ExitStack() as stack:
        inputs = made_inputs(Path(folder) / "inputs")
        around = Surroundings(Path(folder) / "a")
        poison = Poison(around.folder / "evil", turn, turn >= TURNS, NAMES)
        server = stack.enter_context(running(platform(sandbox, poison)))
        facts = {"folder": around.out, "inputs": inputs, "run": around.run, "url": server.url}
        known = {name: str(value) for name, value in facts.items()}
        bench = Bench(sandbox, poison, around, Ansible(around.run, sandbox), server.url, in_process, known)
        bench.begin()
        if "hostile server" in story.name:
            Listing.canary, Listing.turn = str(around.folder / "evil"), turn
            odd = stack.enter_context(odd_server(around.run, Listing))
            poison.servers["sftp"] = {key: odd.options[key] for key in ("host", "port", "username")}
            bench.facts["odd_key"] = str(odd.options["private_key_file"])
        if "hostile registry" in story.name:
            url = stack.enter_context(running(registry(sandbox, poison))).url
            poison.servers["registry"] = {"host": url.removeprefix("http://")}
        found = []
        try:
            story.tell(bench)
        except Exception as error:
            found.append(f"broke off: {error!r}")
        found += around.violations(bench.output)
    return Verdict(story.name, turn, found, bench.outcomes, bench.output)


def calendar(poison: Poison) -> str:
    """Return a calendar whose texts are canaries, escaped as the format wants it if anything is right."""
    said = [poison.said(f"event {number}").replace("\0", "") for number in range(9)]
    said = said if poison.deep else [text.replace("\n", "\\n") for text in said]
    events = [EVENT.format(number, text) for number, text in enumerate(said)]
    return f"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:{said[0]}\r\n{''.join(events)}END:VCALENDAR\r\n"
