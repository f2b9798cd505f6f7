# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What people run first, and the README; the playbook itself is a story in tests/stories."""

from __future__ import annotations

from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY, Ansible, Run

QUICKSTART = "- ansible.builtin.import_playbook: hosted.services.quickstart"
READING = {"GET", "HEAD"}
QUOTE = "/api/order/quote"


def quickstart(ansible: Ansible, *arguments: str) -> Run:
    (ansible.folder / "account.hosted.yml").write_text("plugin: hosted.services.inventory\n")
    return ansible.playbook(QUICKSTART, "-i", "account.hosted.yml", *arguments).succeed()


def written(sandbox: Sandbox) -> list[str]:
    """What was asked of the platform that changes something; a quote does not."""
    calls = [(call["method"], call["path"]) for call in sandbox.journal()]
    return [f"{method} {path}" for method, path in calls if method not in READING and path != QUOTE]


def test_the_example_of_the_readme_is_true(ansible: Ansible, sandbox: Sandbox) -> None:
    """Its playbook, its inventory and the graph that it prints of them."""
    readme = (REPOSITORY / "README.md").read_text()
    playbook = readme.partition("### A playbook\n\n```yaml\n")[2].partition("```")[0]
    graph = readme.partition("$ ansible-inventory -i account.hosted.yml --graph\n")[2].partition("```")[0]
    ansible.playbook(playbook).succeed()
    (ansible.folder / "account.hosted.yml").write_text("plugin: hosted.services.inventory\n")
    printed = ansible.program("ansible-inventory", "-i", "account.hosted.yml", "--graph")
    assert printed.stdout == graph


def test_the_intended_error_is_announced_first(ansible: Ansible, sandbox: Sandbox) -> None:
    """Or those who run the demo take it for one of theirs."""
    flawed = ansible.folder / "flawed.tar"
    build_image(
        flawed, files={"app/hello": b"hello"}, command=["/app/hello"], packages=[("runc", "1.0.0~rc6")]
    )
    run = quickstart(ansible, "-e", f"quickstart_flawed_image={flawed}")
    (first, *_others) = [turn for turn, outcome in enumerate(run.outcomes) if outcome.outcome == "failed"]
    announced = [outcome.name for outcome in run.outcomes[:first] if "error is intended" in outcome.message]
    assert announced == ["Announce the error"]
