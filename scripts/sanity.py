# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run `ansible-test sanity` on a copy of this folder; arguments are passed on.

ansible-test insists on a folder called ansible_collections/hosted/services that is not a link. It also
downloads the installer of pip from a host of its own, which many networks do not reach: the pip that
Python brings along does as well. It keeps both that installer and its virtual environments below the
home folder, so it gets a home of its own and nobody's is touched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import ansible_test

ROOT = Path(__file__).resolve().parent.parent
WORK = Path(os.environ.get("SANITY_FOLDER", ROOT / ".build" / "sanity"))
COPY = WORK / "ansible_collections" / "hosted" / "services"
HOME = WORK / "home"
INSTALLER = "import ensurepip\n\nensurepip.bootstrap(default_pip=True)\n"
# The layout of a git checkout without git: what is never part of the collection.
OUTSIDE = shutil.ignore_patterns(".git", ".build", ".venv", ".*_cache", "__pycache__", ".ansible", "*.tar.gz")


def files() -> list[str] | None:
    """List what git tracks or would add; nothing when this is not a git checkout."""
    if not (ROOT / ".git").exists():
        return None
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def refresh_copy() -> None:
    """Make the copy equal to this folder, but keep ansible-test's output: it holds an environment."""
    output, kept = COPY / "tests" / "output", WORK / "output"
    if output.exists():
        shutil.rmtree(kept, ignore_errors=True)
        output.rename(kept)
    shutil.rmtree(COPY, ignore_errors=True)
    names = files()
    if names is None:
        shutil.copytree(ROOT, COPY, ignore=OUTSIDE, symlinks=True)
    else:
        for name in names:
            target = COPY / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target, follow_symlinks=False)
        # Without a repository of its own the copy would count as an ignored part of this one: no files.
        subprocess.run(["git", "init", "--quiet", str(COPY)], check=True)
    if kept.exists():
        output.parent.mkdir(exist_ok=True)
        kept.rename(output)


def provide_pip_installer() -> None:
    """Put an installer of pip where ansible-test looks before it downloads one."""
    source = Path(ansible_test.__path__[0], "_internal", "python_requirements.py").read_text(encoding="utf-8")
    cache = HOME / ".ansible" / "test" / "cache"
    cache.mkdir(parents=True, exist_ok=True)
    for version in re.findall(r"\bpip='([0-9.]+)'", source):
        (cache / f"get_pip_{version.replace('.', '_')}.py").write_text(INSTALLER, encoding="utf-8")


def environment() -> dict[str, str]:
    """Give ansible-test its own home, and leave pip the settings and the cache of the user."""
    home = Path.home()
    mine = {
        "XDG_CONFIG_HOME": os.environ.get("XDG_CONFIG_HOME", str(home / ".config")),
        "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", str(home / ".cache")),
        "HOME": str(HOME),
    }
    # These name this folder; what is tested is the copy.
    dropped = {"PYTHONPATH", "ANSIBLE_COLLECTIONS_PATH"}
    return {name: value for name, value in os.environ.items() if name not in dropped} | mine


def main() -> int:
    """Prepare the copy and run the tests in it."""
    refresh_copy()
    provide_pip_installer()
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    command = ["ansible-test", "sanity", "--venv", "--python", python, "--color", "no", *sys.argv[1:]]
    return subprocess.run(command, cwd=COPY, env=environment(), check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
