# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a tarball as Galaxy does when it is uploaded; a warning counts as a failure."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

# Automation Hub switches these on. The importer ends ansible-lint after three minutes, and a busy machine
# needs longer: only a release runs it here. `make lint-ansible` reads the same files with more rules.
SETTINGS = """[galaxy-importer]
check_required_tags = True
require_v1_or_greater = True
run_ansible_lint = {lint}
log_level_main = WARNING
"""
WANTED = {
    "meta/runtime.yml",
    "extensions/eda/plugins/event_source/account.py",
    "extensions/eda/plugins/event_source/account.schema.json",
    "extensions/eda/rulebooks/restart.yml",
    "plugins/inventory/inventory.py",
    "README.md",
    "SECURITY.md",
    "LICENSE",
}
UNWANTED = (".", "Makefile", "docs/awx/", "extensions/molecule/", "scripts/", "tests/")


def misplaced(tarball: Path) -> list[str]:
    """Name the files that are missing from the tarball, and those that have no place in it."""
    with tarfile.open(tarball) as archive:
        names = set(archive.getnames())
    missing = [f"{name} is not in {tarball.name}" for name in sorted(WANTED - names)]
    return missing + [f"{name} is in {tarball.name}" for name in sorted(names) if name.startswith(UNWANTED)]


def complaints(tarball: Path, lint: bool) -> list[str]:
    """Name what Galaxy's importer complains about."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "galaxy-importer.cfg")
        settings.write_text(SETTINGS.format(lint=lint), encoding="utf-8")
        run = subprocess.run(
            [sys.executable, "-m", "galaxy_importer.main", str(tarball.resolve())],
            cwd=folder,
            env=os.environ | {"GALAXY_IMPORTER_CONFIG": str(settings)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    found = [line for line in run.stdout.splitlines() if line.startswith(("WARNING", "ERROR", "CRITICAL"))]
    if run.returncode and not found:
        return run.stdout.splitlines()
    return found


def main() -> int:
    """Check the tarball that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tarball", type=Path)
    parser.add_argument("--lint", action="store_true", help="run ansible-lint as Automation Hub does, too")
    options = parser.parse_args()
    problems = misplaced(options.tarball) + complaints(options.tarball, options.lint)
    print(*problems, f"{options.tarball.name}: {len(problems)} problem(s)", sep="\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
