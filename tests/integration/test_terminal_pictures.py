# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The pictures of terminals in the guides show what the code prints now."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from ansible.release import __version__

from ansible_collections.hosted.services.scripts.terminal_pictures import (
    FOLDER,
    SCENES,
    Scene,
    described,
    play,
    screen,
)
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import REPOSITORY
from integration.warm import programs

PINNED = re.findall(
    r"^ansible-core==(\S+)", (REPOSITORY / "tests/requirements.txt").read_text(), re.MULTILINE
)


@pytest.fixture(scope="module")
def platform() -> Iterator[Sandbox]:
    """Provide a sandbox of its own: what is called here is no part of what the other tests cover."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.mark.skipif(__version__ not in PINNED, reason="each ansible-core prints something else")
@pytest.mark.parametrize(
    ("name", "scene"),
    [
        pytest.param(name, scene, id=name, marks=[pytest.mark.night] if number else [])
        for number, (name, scene) in enumerate(SCENES.items())
    ],
)
def test_a_picture_shows_what_the_code_prints(platform: Sandbox, name: str, scene: Scene) -> None:
    picture = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert described(picture) == screen(play(platform, scene, programs().playbook)).plain, (
        "run: make pictures"
    )


def test_each_picture_is_shown_on_the_tour() -> None:
    tour = (REPOSITORY / "docs/guides/tour.md").read_text(encoding="utf-8")
    assert sorted(re.findall(r"\]\((terminal-[a-z]+)\.svg\)", tour)) == sorted(SCENES)
    assert sorted(path.stem for path in FOLDER.glob("terminal-*.svg")) == sorted(SCENES)
