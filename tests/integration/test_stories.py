# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ordinary work: each story of tests/stories/stories.yml goes well at once, and nothing needless is said.

A step is run with --check, then for real, then again. The first must write nothing, the last change nothing;
each may print the warnings that the story lists, and must print those.
"""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from faults.runner import filled, made_inputs
from hosted_sandbox.registry.images import build_image
from hosted_sandbox.testing import READING_POSTS, Sandbox
from integration.ansible_run import COLLECTIONS, PROFILE, REPOSITORY, Ansible, Outcome, Run
from integration.warm import programs

Step = dict[str, Any]
TOLD = yaml.safe_load((REPOSITORY / "tests" / "stories" / "stories.yml").read_text())
STORIES: list[Step] = TOLD["stories"]
ALLOWED: list[str] = TOLD["platforms"].get(PROFILE, [])
RUNS = {"check": ("--check",), "first": (), "again": ()}
KEYS = {
    "story", "before", "by_hand", "later", "files", "tasks", "plays", "arguments", "environment", "forgets",
    "skips", "changes_again", "calls", "needed", "foresees", "then",
}  # fmt: skip


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every user has: a key, a few files, and two versions of an application."""
    folder = made_inputs(tmp_path_factory.mktemp("stories"))
    for version in ("1", "2"):
        build_image(folder / f"{version}.tar", {"app/server": version.encode()})
    return folder


class Judge:
    """Runs the steps of a story on one account, and notes what is not as it should be."""

    def __init__(self, ansible: Ansible, sandbox: Sandbox, inputs: Path) -> None:
        self.ansible, self.sandbox, self.inputs = ansible, sandbox, inputs
        self.public_key = (inputs / "key.pub").read_text()
        self.checked: list[Outcome] = []

    def judge(self, story: Step) -> list[str]:
        """Return what is wrong with a story; nothing is tried after a run that fails."""
        found = list[str]()
        for number, step in enumerate([story, *story.get("then", [])], 1):
            assert step.keys() <= KEYS, step.keys() - KEYS
            self.prepare(step)
            for kind in (kind for kind in RUNS if kind not in step.get("skips", [])):
                found += [f"step {number}, {kind}: {problem}" for problem in self.run(step, kind)]
                if any(f"{kind}: failed: " in problem for problem in found):
                    return found
        return found

    def prepare(self, step: Step) -> None:
        """Let the platform, time and this machine be as a step finds them."""
        if "before" in step:
            self.sandbox.seed(filled(step["before"], {"public_key": self.public_key}))
        for method, path, body in step.get("by_hand", []):
            ids = self.ids()
            answer = self.sandbox.api(method, filled(path, ids), filled(body, ids))
            assert answer.ok, f"{method} {path}: {answer.text}"
            self.sandbox.clock(advance=1)  # a platform may show it a second late, or a read
            self.ids()
        if "later" in step:
            self.sandbox.clock(advance=step["later"])
        for name, text in step.get("files", {}).items():
            path = self.ansible.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("{public_key}", self.public_key))

    def ids(self) -> dict[str, str]:
        projects = self.sandbox.api("GET", "/api/projects").json()
        services = self.sandbox.api("GET", "/api/resources").json()["items"]
        found = {f"project {project['name']}": str(project["id"]) for project in projects}
        return found | {service["name"]: service["id"] for service in services}

    def run(self, step: Step, kind: str) -> list[str]:
        """Run a step in one of three ways; return what is wrong with that."""
        if step.get("forgets"):
            shutil.rmtree(self.ansible.folder / ".ansible", ignore_errors=True)
        seen = max((line["n"] for line in self.sandbox.journal()), default=0)
        run = self.ansible.playbook(
            yaml.safe_dump(plays(step), sort_keys=False),
            *RUNS[kind],
            *step.get("arguments", []),
            env=step.get("environment"),
            variables={
                "inputs": str(self.inputs),
                "playbook_program": programs().local_playbook,
                "collections_folder": COLLECTIONS,
            },
        )
        if run.rc:
            failed = [task for task in run.outcomes if task.failed]
            told = [f"failed: {task.name}: {task.result.get('stderr') or task.message}" for task in failed]
            return told or [f"failed: {run.output}"]
        journal = self.sandbox.journal(after=seen)
        found = [*unexpected(run, step.get("needed", {}), kind)]
        if kind != "first" and not (kind == "again" and step.get("changes_again")):
            found += [f"written: {line['method']} {line['path']}" for line in journal if is_write(line)]
        if step.get("foresees"):
            found += unforeseen(self.checked, run.outcomes) if kind == "first" else []
            self.checked = run.outcomes
        return found + (repeated(step, run, journal) if kind == "again" else [])


def repeated(step: Step, run: Run, journal: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong with the second run: what it changed, read twice, or called too often."""
    found = []
    if not step.get("changes_again") and re.search(r"changed=[1-9]", run.stdout):  # not by commands of a play
        found += [f"changed: {task.name}" for task in run.outcomes if task.result.get("changed")]
    if "calls" in step:
        found += read_twice(run, journal)
    if len(journal) > step.get("calls", len(journal)):
        calls = [f"{line['method']} {line['path']}" for line in journal]
        found.append(f"{len(journal)} calls, not {step['calls']}: {', '.join(calls)}")
    return found


def returned_keys(outcome: Outcome) -> dict[str, set[str]]:
    """Return the keys of what a result is about: of an object, or of the first of a list."""
    ours = {"changed", "actions", "invocation", "diff", "warnings", "msg", "cost", "secrets_file"}
    firsts = {name: value[0] if isinstance(value, list) and value else value for name, value in
              outcome.result.items() if name not in ours and not name.startswith("_")}  # fmt: skip
    return {name: set(first) for name, first in firsts.items() if isinstance(first, dict)}


def unforeseen(checked: list[Outcome], done: list[Outcome]) -> Iterator[str]:
    """Name what came otherwise than check mode foresaw. What only reads may find nothing as yet."""
    for foreseen, real in zip(checked, done, strict=True):
        keys, came = returned_keys(foreseen), returned_keys(real)
        reads = foreseen.action.endswith(("_info", "_query"))
        if foreseen.result["changed"] is not real.result["changed"] or not (
            reads or keys.keys() == came.keys()
        ):
            yield f"{foreseen.action}: foreseen otherwise: {foreseen.result}, and not {real.result}"
        yield from (
            f"{foreseen.action}: {action}"
            for action in foreseen.result.get("actions", [])
            if "None" in action
        )
        for name in keys.keys() & came.keys():
            if more := keys[name] - came[name]:
                yield f"{foreseen.action}: {name} has not {more}"


def plays(step: Step) -> list[dict[str, Any]]:
    """Return the plays of a step; most have one, over localhost, and show its tasks alone."""
    given = step.get("plays", [{"tasks": step.get("tasks", [])}])
    usual = {"hosts": "localhost", "gather_facts": False}
    return [play if "import_playbook" in play else {**usual, **play} for play in given]


def is_write(line: dict[str, Any]) -> bool:
    return line["method"] != "GET" and line["route"] not in READING_POSTS


def warnings(run: Run) -> list[str]:
    """Return what was printed as a warning, each in one line."""
    printed = re.split(r"^(?=\[[A-Z]+(?: [A-Z]+)?\]: )", run.stderr, flags=re.MULTILINE)
    return [" ".join(text.split()) for text in printed if re.match(r"\[(DEPRECATION )?WARNING\]", text)]


def unexpected(run: Run, needed: Any, kind: str) -> Iterator[str]:
    """Compare the warnings with those that are needed: texts of all runs, or a list for each kind of run."""
    texts = needed.get(kind, []) if isinstance(needed, dict) else needed
    said, meant = list(map(squeezed, warnings(run))), list(map(squeezed, texts))
    for text in warnings(run):
        if not any(part in squeezed(text) for part in [*meant, *map(squeezed, ALLOWED)]):
            yield f"needless: {text}"
    for text, part in zip(texts, meant, strict=True):
        if not any(part in one for one in said):
            yield f"not said: {text}"


def squeezed(text: str) -> str:
    """Return a text without blanks: Ansible breaks lines, also within words."""
    return "".join(text.split())


def read_twice(run: Run, journal: list[dict[str, Any]]) -> Iterator[str]:
    """Name what a task has read twice."""
    for task in run.outcomes:
        within = [line for line in journal if task.begun <= line["real_at"] <= task.ended]
        calls = Counter(f"{line['method']} {line['path']} {line['query'] or ''}".strip() for line in within)
        if again := {call: n for call, n in calls.items() if n > 1}:
            yield f"{task.name}: read more than once: {again}"


@pytest.mark.parametrize("story", STORIES, ids=[story["story"] for story in STORIES])
def test_story(story: Step, ansible: Ansible, sandbox: Sandbox, inputs: Path) -> None:
    if problems := Judge(ansible, sandbox, inputs).judge(story):
        pytest.fail("\n".join(problems), pytrace=False)


SERVER = {"services": [{"name": "mc", "product": "minecraft"}]}
RESTARTED = {"before": SERVER, "tasks": [{"hosted.services.service": {"name": "mc", "state": "restarted"}}]}
WARNED = {"tasks": [{"ansible.builtin.debug": {"msg": "{{ lookup('file', 'none', errors='warn') }}"}}]}
TELLS = {"tasks": [{"ansible.builtin.debug": {"msg": "hello"}}], "needed": ["of this run"]}
REFUSED = {"tasks": [{"hosted.services.service": {"name": "none", "state": "started"}}]}


@pytest.mark.parametrize(
    ("story", "problem"),
    [
        (WARNED, "step 1, check: needless: [WARNING]: "),
        (TELLS, "step 1, check: not said: of this run"),
        (RESTARTED, "step 1, again: written: POST /api/resources/"),
        ({**WARNED, "needed": ["none"], "then": [REFUSED]}, "step 2, check: failed: hosted.services."),
        ({"tasks": [{"hosted.services.project_info": {}}], "calls": 0}, "step 1, again: 1 calls, not 0"),
    ],
    ids=["needless", "not said", "changed", "failed", "calls"],
)
def test_a_story_that_must_fail(
    story: Step, problem: str, ansible: Ansible, sandbox: Sandbox, inputs: Path
) -> None:
    assert problem in Judge(ansible, sandbox, inputs).judge(story)[0]
