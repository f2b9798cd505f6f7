# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures for pytest, available wherever the package is installed.

`sandbox` is a platform on which nothing has happened yet. `--sandbox-profiles` runs each test that uses it
under several gap profiles.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from hosted_sandbox.testing import Sandbox

PREFIX = "HOSTED_SERVICES_"
"""Environment variables with this prefix tell the collection which platform to use, and how."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command-line option."""
    parser.getgroup("hosted-sandbox").addoption(
        "--sandbox-profiles",
        metavar="NAMES",
        help="run each test that uses the sandbox under each of these gap profiles, with commas between: "
        "plain, terse, wrapped, or all of them",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuse unknown profiles before anything runs."""
    if (names := config.getoption("--sandbox-profiles")) is not None:
        profiles(names)


def profiles(names: str) -> list[str]:
    """Return the profiles that the option names.

    :raises pytest.UsageError: if it names none, or an unknown one.
    """
    # Imported late, as in the fixtures: most runs of pytest need none of it.
    from hosted_sandbox.gaps import Profile  # noqa: PLC0415 - pytest loads this file always

    if not names.replace(",", "").strip():
        raise pytest.UsageError(
            f"--sandbox-profiles: {names!r} names no profile. Name at least one, such as plain, or leave the "
            "option out"
        )
    given = Profile.NAMES if names == "all" else [name.strip() for name in names.split(",")]
    try:
        return [Profile(name).name for name in given]
    except ValueError as error:
        raise pytest.UsageError(f"--sandbox-profiles: {error}") from error


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test under all profiles of the option, unless it selects its profiles itself."""
    names: str | None = metafunc.config.getoption("--sandbox-profiles")
    marks = metafunc.definition.iter_markers("parametrize")
    own = any("sandbox_profile" in str(mark.args[:1]) for mark in marks)
    if names and not own and "sandbox_profile" in metafunc.fixturenames:
        metafunc.parametrize("sandbox_profile", profiles(names))


@pytest.fixture
def sandbox_profile() -> str:
    """The gap profile of the test; define a fixture of this name to select another one."""
    return "plain"


@pytest.fixture(scope="session")
def sandbox_server() -> Iterator[Sandbox]:
    """The process behind all tests; under pytest-xdist, each worker has its own."""
    from hosted_sandbox.testing import Sandbox  # noqa: PLC0415 - as above

    with Sandbox() as server:
        yield server
        assert server.output() == "", "the sandbox reported an error of its own"


@pytest.fixture
def sandbox(
    sandbox_server: Sandbox,
    sandbox_profile: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
) -> Sandbox:
    """A platform on which nothing has happened yet, and where everything happens at once.

    Programs that the test starts use it, and no other account: it is in their environment. What the
    collection keeps, such as generated passwords, goes to a folder of the test's own.
    """
    from hosted_sandbox.testing import NO_DELAYS  # noqa: PLC0415 - as above

    sandbox_server.reset(profile=sandbox_profile, values={}, delays=NO_DELAYS)
    for name in [name for name in os.environ if name.startswith(PREFIX)]:
        monkeypatch.delenv(name)
    monkeypatch.setenv(f"{PREFIX}URL", sandbox_server.base_url)
    monkeypatch.setenv(f"{PREFIX}TOKEN", sandbox_server.token)
    monkeypatch.setenv(f"{PREFIX}HOME", str(tmp_path_factory.mktemp("hosted_services")))
    return sandbox_server
