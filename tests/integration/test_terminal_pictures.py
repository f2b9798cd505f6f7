# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of terminals in the guides show what the code prints now."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from ansible.release import __version__

from ansible_collections.hosted.services.scripts.terminal_pictures import (
    FOLDER,
    SCENES,
    Scene,
    Stage,
    lines_of,
    texts_of,
)
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY
from integration.warm import programs

PINNED = re.findall(
    r"^ansible-core==(.+)$", (REPOSITORY / "tests/requirements.txt").read_text(), re.MULTILINE
)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Provide a sandbox of its own: what is called here is no part of what the other tests cover."""
    with Sandbox() as sandbox:
        yield Stage(sandbox, tmp_path_factory.mktemp("terminal"), programs().playbook, color=False)


def without_width(lines: Sequence[str]) -> list[str]:
    """Return lines without the stars that fill a terminal: a warm Ansible does not know how wide it is."""
    return [re.sub(r"\*{3,}$", "***", line) for line in lines]


@pytest.mark.skipif(__version__ not in PINNED, reason="each ansible-core prints something else")
@pytest.mark.parametrize(
    ("name", "scene"),
    [
        pytest.param(name, scene, id=name, marks=[pytest.mark.night] if number else [])
        for number, (name, scene) in enumerate(SCENES.items())
    ],
)
def test_a_picture_shows_what_the_code_prints(stage: Stage, name: str, scene: Scene) -> None:
    shown, _words = texts_of((FOLDER / f"{name}.svg").read_text(encoding="utf-8"))
    assert without_width(shown) == without_width(lines_of(stage.play(scene))), "run `make pictures`"


def test_each_picture_is_shown_on_the_tour() -> None:
    tour = (REPOSITORY / "docs/guides/tour.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((terminal-[a-z]+)\.svg\)", tour)) == sorted(SCENES)
    assert sorted(path.stem for path in Path(FOLDER).glob("terminal-*.svg")) == sorted(SCENES)
