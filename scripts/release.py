# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Make a release in a copy of this folder: `python scripts/release.py VERSION`.

The version goes into the files that carry it, the changelog's fragments become the changelog, and the tarball
and the wheel of the sandbox are built. The tarball is checked as Galaxy does and installed into an empty
folder, and the demo is run from there, with the sandbox of the wheel. Nothing is tagged or
published, and this folder stays as it is; --write brings the new version and changelog back into it, to be
committed. A release needs the address of the repository in galaxy.yml.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import yaml

from ansible_collections.hosted.services.scripts.build import build as build_collection
from ansible_collections.hosted.services.scripts.sources import ROOT, copy_sources, source_time

SEMANTIC = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?")
VERSIONS = {
    "galaxy.yml": "version: {}",
    "roles/sandbox/vars/main.yml": 'sandbox_version: "{}"',
    "tests/sandbox/hosted_sandbox/__init__.py": '__version__ = "{}"',
}
"""The lines that carry the version; a test holds that they have the same one."""
CHANGED = (*VERSIONS, "CHANGELOG.rst", "changelogs")
NOWHERE = "example.invalid"
"""The host of the repository's address until a maintainer fills it in."""
UNSET = """galaxy.yml: repository is {0!r}, an address that leads nowhere. Write that of the project's
public git repository everywhere, with `git grep -lF {0} | xargs sed -i 's#{0}#https://...#g'`,
commit, and run `make release` again."""


def set_version(copy: Path, version: str) -> None:
    """Write the version into every file that carries it."""
    for name, line in VERSIONS.items():
        path = copy / name
        pattern = "(?m)^" + re.escape(line).replace(re.escape("{}"), ".*?") + "$"
        text, count = re.subn(pattern, line.format(version), path.read_text(encoding="utf-8"))
        if count != 1:
            sys.exit(f"{name} has {count} lines like {line.format('...')}, and not one")
        path.write_text(text, encoding="utf-8")


def make_changelog(copy: Path, folder: Path) -> None:
    """Turn the fragments into the changelog, new plugins and roles included."""
    # antsibull-changelog asks git which files count.
    run(["git", "init", "--quiet"], copy, {})
    path = {"ANSIBLE_COLLECTIONS_PATH": str(folder), "PYTHONPATH": ""}
    for command in ("release", "lint"):
        run(["antsibull-changelog", command], copy, path)


def build(copy: Path, output: Path) -> tuple[Path, Path]:
    """Build the tarball, and the wheel of the sandbox: the same bytes each time, from one commit."""
    seconds = source_time(copy)
    print("==> scripts/build.py", flush=True)
    tarball = build_collection(copy, output, seconds)
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    wheel = [*pip, "wheel", "--no-deps", "--wheel-dir", str(output), "tests/sandbox"]
    run(wheel, copy, {"SOURCE_DATE_EPOCH": str(seconds)})
    return tarball, next(output.glob("*.whl"))


def check(tarball: Path, wheel: Path, folder: Path) -> None:
    """Check the tarball as Galaxy does, and run the demo with nothing but the tarball and the wheel."""
    installed = folder / "installed"
    alone = {"ANSIBLE_COLLECTIONS_PATH": str(installed), "PYTHONPATH": ""}
    run([sys.executable, "scripts/galaxy.py", "--lint", str(tarball)], ROOT, {})
    install = ["ansible-galaxy", "collection", "install", "--offline", str(tarball), "-p", str(installed)]
    run(install, folder, alone)
    sandbox = folder / "sandbox"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(sandbox)
    shutil.copy2(ROOT / "tests" / "demo.py", folder / "demo.py")
    run([sys.executable, str(folder / "demo.py")], folder, {**alone, "PYTHONPATH": str(sandbox)})


def run(command: list[str], folder: Path, environment: dict[str, str]) -> None:
    """Run a command, and end with its status when it fails."""
    print(
        f"==> {' '.join(Path(word).name if word.startswith('/') else word for word in command)}", flush=True
    )
    done = subprocess.run(command, cwd=folder, env=os.environ | environment, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with status {done.returncode}; no release was made")


def bring_back(copy: Path) -> None:
    """Put the new version and changelog into this folder; fragments that were used up go."""
    for name in CHANGED:
        if (copy / name).is_dir():
            shutil.rmtree(ROOT / name)
            shutil.copytree(copy / name, ROOT / name)
        else:
            shutil.copy2(copy / name, ROOT / name)


def main() -> int:
    """Make the tarball of the version that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("version", help="such as 1.2.3")
    parser.add_argument("--write", action="store_true", help="bring the version and the changelog back")
    options = parser.parse_args()
    if not SEMANTIC.fullmatch(options.version):
        parser.error(f"{options.version!r} is not a semantic version, such as 1.2.3 or 1.2.3-rc.1")
    repository = yaml.safe_load((ROOT / "galaxy.yml").read_text(encoding="utf-8"))["repository"]
    if NOWHERE in repository:
        sys.exit(UNSET.format(repository))
    output = ROOT / ".build" / "release"
    shutil.rmtree(output, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix="hosted-services-release-") as name:
        folder = Path(name)
        copy = copy_sources(folder / "ansible_collections" / "hosted" / "services")
        set_version(copy, options.version)
        make_changelog(copy, folder)
        tarball, wheel = build(copy, output)
        check(tarball, wheel, folder)
        if options.write:
            bring_back(copy)
    ready = " and ".join(str(path.relative_to(ROOT)) for path in (tarball, wheel))
    print(f"\n{ready} are ready. Nothing was tagged or published.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
