# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A sample of the attacks, which `make test-attacks` runs whole, and proof that the judge sees a slip."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attacks.bench import judge
from attacks.canaries import PRODUCT, TURNS
from attacks.judge import Surroundings
from attacks.stories import STORIES
from cases import NAMES, REPOSITORY
from hosted_sandbox.testing import Sandbox

BY_NAME = {story.name: story for story in STORIES}
SAMPLE = ("values", "inventory")
SLIPS = {
    "home/evil": "",
    "far/down/out/../escaped": "",
    "home/.bashrc": "",
    "far/down/out/a.json": '{"hosted_evil": 1}',
    "far/down/out/a.yml": "a: {hosted_evil: 1}",
    "far/down/out/a.html": "<img src=evil>",
    "far/down/out/a.prom": 'hosted_a{b="c"} 1\nhosted_evil 1\n',
    "far/down/out/b.prom": 'hosted_a{b="c"d"} 1\n',
    "far/down/out/a.service": "[Service]\nExecStart=/bin/touch a\n",
    "state/a": "\x1b[31m",
}


@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_the_attacks(name: str, sandbox: Sandbox) -> None:
    """Nothing is evaluated, written elsewhere or printed raw; each story has another turn."""
    verdict = judge(sandbox, BY_NAME[name], list(BY_NAME).index(name) % TURNS)
    assert not verdict.violations, "\n".join([*verdict.violations, verdict.output])
    assert any(number for (_action, failed), number in verdict.outcomes.items() if not failed)


@pytest.mark.parametrize("path", SLIPS)
def test_the_judge_sees_what_was_written(path: str, tmp_path: Path) -> None:
    around = Surroundings(tmp_path)
    assert not [*around.violations("all is well\n")]
    (tmp_path / path).write_text(SLIPS[path])
    assert [*around.violations("")]


@pytest.mark.parametrize(
    "printed", ["\x1b[31m", "\x9b", "\u202e", PRODUCT, "Traceback (most recent call last)"]
)
def test_the_judge_sees_what_was_printed(printed: str, tmp_path: Path) -> None:
    assert [*Surroundings(tmp_path).violations(f"a {printed} b")]


def test_everything_of_ours_is_in_a_story() -> None:
    """Directly, or in a playbook or role of ours that is."""
    places = (
        "attacks/stories.*",
        "attacks/bench.py",
        "integration/*_machine.py",
        "integration/inventory/*.py",
    )
    texts = [path.read_text() for place in places for path in (REPOSITORY / "tests").glob(place)]
    told = {name for name in NAMES if f"module {name}" in BY_NAME}
    ours = re.compile(r'(?:hosted\.services\.|installed, \w+, ")(\w+)')
    while found := set(ours.findall("".join(texts))) - told:
        told |= found
        texts = [
            path.read_text() for name in found for path in (REPOSITORY / "playbooks").glob(f"{name}.yml")
        ]
        texts += [path.read_text() for name in found for path in (REPOSITORY / "roles" / name).rglob("*.yml")]
    kinds = ("modules", "lookup", "filter", "inventory", "callback")
    files = [path for kind in kinds for path in (REPOSITORY / "plugins" / kind).glob("*.py")]
    files += [*(REPOSITORY / "playbooks").glob("*.yml"), *(REPOSITORY / "roles").glob("*/")]
    assert sorted({path.stem for path in files} - told - {"__init__"}) == []
