# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where CI is set, no test is skipped without a word for want of a program that bindep.txt lists for them."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable

import pytest

from browser import CHROMIUM
from integration import database_servers, docker_registry
from integration.ansible_run import REPOSITORY
from unit.plugins.module_utils._sftp import servers

LISTED = re.findall(r"^([a-z0-9-]+) \[test ", (REPOSITORY / "bindep.txt").read_text(), re.MULTILINE)
NOT_INSTALLED = REPOSITORY / ".build" / "packages-missing"
"""What scripts/packages.sh could not install; where there is no such file, it has installed everything."""


def missing(*programs: str) -> str:
    """Name those of these programs that are not installed; empty when all are."""
    return ", ".join(name for name in programs if shutil.which(name) is None)


MISSING: dict[str, Callable[[], str]] = {
    "chromium": lambda: "" if CHROMIUM else "chromium",
    "default-jre-headless": lambda: missing("java"),
    "docker-registry": lambda: missing(*docker_registry.PROGRAMS),
    "jq": lambda: missing("jq"),
    "mariadb-client": lambda: missing("mysql", "mysqldump"),
    "mariadb-server-core": lambda: database_servers.missing("mariadb"),
    "openssh-client": lambda: missing("ssh-keygen", "sftp"),
    "openssh-server": servers.missing,
    "postgresql": lambda: database_servers.missing("postgresql"),
    "proftpd-core": servers.missing_proftpd,
    "proftpd-mod-crypto": servers.missing_proftpd,
    "prometheus": lambda: missing("promtool"),
    "rclone": servers.missing_rclone,
    "restic": lambda: missing("restic"),
    "shellcheck": lambda: missing("shellcheck"),
    "skopeo": lambda: missing("skopeo"),
    "systemd": lambda: missing("systemd-analyze"),
}
"""What tests look for, by the Debian package that has it: each says what is not there."""


def test_what_is_listed_is_looked_for() -> None:
    assert sorted(MISSING) == sorted(LISTED)


@pytest.mark.skipif(not os.environ.get("CI"), reason="tests that want a program may be skipped without it")
@pytest.mark.parametrize("package", sorted(MISSING))
def test_no_program_is_missing(package: str) -> None:
    lacks = MISSING[package]()
    if lacks and NOT_INSTALLED.exists() and package in NOT_INSTALLED.read_text().split():
        pytest.skip(f"{package} could not be installed, as the output of .ci/run says at its end")
    assert not lacks, f"{lacks}; install {package}, or the tests that want it are skipped: make packages"
