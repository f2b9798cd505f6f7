# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run ansible-lint as somebody does who has just cloned the project.

It reads a copy with the files that git tracks or would add: no .build, no collection on the search path, no
cache. So it passes for others as well, such as Red Hat's certification checker.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

from ansible_collections.hosted.services.scripts.sources import ROOT, checkout

WORK = ROOT / ".build" / "lint"
# These name this folder, or would have ansible-lint install the collection for everybody.
DROPPED = ("ANSIBLE_COLLECTIONS_PATH", "PYTHONPATH", "VIRTUAL_ENV")


def main() -> int:
    """Make the copy, and run ansible-lint in it."""
    shutil.rmtree(WORK, ignore_errors=True)
    surroundings = {name: value for name, value in os.environ.items() if name not in DROPPED}
    command = ["ansible-lint", "--profile=production", *sys.argv[1:]]
    environment = surroundings | {"HOME": str(WORK / "home")}
    return subprocess.run(command, cwd=checkout(WORK / "clone"), env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
