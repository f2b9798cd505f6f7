# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One sandbox for all modules that are run straight against one, and a key that opens SFTP on it.

Each pause moves the clocks of all sandboxes of this process on: a second one makes every test dearer.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import asyncssh
import pytest

from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import SEED
from unit.plugins.simulated_time import TIME

PROFILE = os.environ.get("SANDBOX_PROFILE", "plain")
DELAYS = {"backup": 0.3, "restore": 0.3, "restore_begins": 0.3, "start": 0, "stop": 0}


@pytest.fixture(autouse=True)
def pauses_take_no_time(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Simulate pauses, except for tests that are marked ``real_time``: others act meanwhile in them."""
    monkeypatch.setattr(TIME, "on", "real_time" not in request.keywords)


@pytest.fixture(scope="session")
def sandbox_process() -> Iterator[Sandbox]:
    """The process behind all tests, which begin it anew."""
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture
def sandbox(sandbox_process: Sandbox) -> Sandbox:
    """A platform with a few services that can be backed up; SANDBOX_PROFILE fills the gaps of the spec."""
    sandbox_process.reset(delays=DELAYS, profile=PROFILE)
    sandbox_process.seed(SEED)
    return sandbox_process


@pytest.fixture(scope="session")
def key_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A private key, with the public one beside it."""
    path = tmp_path_factory.mktemp("key") / "key"
    key = asyncssh.generate_private_key("ssh-ed25519")
    path.touch(mode=0o600)
    path.write_bytes(key.export_private_key())
    path.with_suffix(".pub").write_bytes(key.export_public_key())
    return path


@pytest.fixture
def port() -> Iterator[int]:
    """A port that something listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield listener.getsockname()[1]
