# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the integration tests share: one sandbox, begun anew for every test, and ansible-playbook."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.runner import Runner, runner
from hosted_sandbox.embedded import Embedded
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import PROFILE, Ansible, begin_anew
from integration.database_servers import DATABASE, KINDS, ODD_NOTE, ROWS, TABLE, USER, Server, serving
from integration.warm import programs


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Start once what all workers use."""
    programs()


@pytest.fixture(scope="session")
def server() -> Iterator[Sandbox]:
    """The process behind all sandboxes of a run; SANDBOX_PROFILE fills the gaps of the specification."""
    with Sandbox("--profile", PROFILE) as sandbox:
        yield sandbox


@pytest.fixture(autouse=True)
def usual_umask() -> None:
    """Let each test create files with the usual modes, whatever the ones before it have left."""
    os.umask(0o022)


@pytest.fixture
def sandbox(server: Sandbox) -> Sandbox:
    """A platform on which nothing has happened yet."""
    begin_anew(server)
    return server


@pytest.fixture
def ansible(tmp_path: Path, sandbox: Sandbox) -> Ansible:
    return Ansible(tmp_path, sandbox)


@pytest.fixture(scope="module")
def platform() -> Iterator[Embedded]:
    """A sandbox in this process: what is called here is no part of what the other tests cover."""
    with Embedded() as sandbox:
        yield sandbox


@pytest.fixture
def work(platform: Embedded) -> Iterator[Runner]:
    """A runner of tasks on it. What it begins, begins anew; its clock stands still unless a task waits."""
    with runner(platform) as work:
        yield work


@pytest.fixture(scope="module", params=KINDS)
def running(request: pytest.FixtureRequest) -> Iterator[Server]:
    """A real database server for all tests of a file: it takes seconds to make one."""
    with serving(KINDS[request.param]) as server:
        yield server


@pytest.fixture
def engine(running: Server) -> Server:
    """That server with a new table that its user owns, of more rows than the platform's tunnel returns."""
    odd = ODD_NOTE.replace("'", "''")
    odd = odd.replace("\\", "\\\\") if running.engine == "mariadb" else odd
    rows = [f"(0, '{odd}')", *(f"({number}, 'by day')" for number in range(1, ROWS))]
    table = ["DROP TABLE IF EXISTS orders;", TABLE, "INSERT INTO orders VALUES", ", ".join(rows), ";"]
    running.sql("\n".join(table), DATABASE)
    if running.engine == "postgresql":
        running.sql(f"ALTER TABLE orders OWNER TO {USER};", DATABASE)
    return running


@pytest.fixture(scope="module", params=KINDS)
def servers(request: pytest.FixtureRequest) -> Iterator[tuple[Server, Server]]:
    """One for a source and one for a target, whose user and database have other names."""
    kind = KINDS[request.param]
    with serving(kind) as old, serving(kind, "tenant", "fresh") as new:
        yield old, new
