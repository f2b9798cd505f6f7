# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check a tarball as Galaxy does when it is uploaded; a warning counts as a failure."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

# ansible-lint has read the same files before, with the sources of the collection around them.
SETTINGS = "[galaxy-importer]\nrun_ansible_lint = False\nlog_level_main = WARNING\n"
WANTED = {
    "meta/runtime.yml",
    "plugins/inventory/inventory.py",
    "README.md",
    "LICENSE",
}
UNWANTED = (
    ".",
    "Makefile",
    "scripts/",
    "tests/",
)


def misplaced(tarball: Path) -> list[str]:
    """Name the files that are missing from the tarball, and those that have no place in it."""
    with tarfile.open(tarball) as archive:
        names = set(archive.getnames())
    missing = [f"{name} is not in {tarball.name}" for name in sorted(WANTED - names)]
    return missing + [f"{name} is in {tarball.name}" for name in sorted(names) if name.startswith(UNWANTED)]


def complaints(tarball: Path) -> list[str]:
    """Name what Galaxy's importer complains about."""
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "galaxy-importer.cfg")
        settings.write_text(SETTINGS, encoding="utf-8")
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
    tarball = Path(sys.argv[1])
    problems = misplaced(tarball) + complaints(tarball)
    for problem in problems:
        print(problem)
    print(f"{tarball.name}: {len(problems)} problem(s)")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
