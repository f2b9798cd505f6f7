# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Check that the collection, as a tarball, is at home in an execution environment.

ansible-builder makes the context that an image is built from, and finds in the collection what the image
needs. Just that is installed into a virtual environment, .build/ee/venv, and ansible-runner runs the
quickstart with it, twice, in a project of its own against a sandbox.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from ansible_collections.hosted.services.scripts.sources import ROOT
from hosted_sandbox.testing import Sandbox

WORK = ROOT / ".build" / "ee"
BIN = WORK / "venv" / "bin"
TOOLS = ("ansible-builder==3.2.0", "ansible-runner==2.4.3", "ansible-core==2.19.*")


def run(*command: str | Path, **variables: str) -> str:
    """Run a command of the environment, and return what it printed."""
    path = f"{BIN}{os.pathsep}{os.environ['PATH']}"
    environment = os.environ | {"PATH": path, "PYTHONPATH": ""} | variables
    done = subprocess.run(command, cwd=WORK, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with status {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def install(*packages: str | Path) -> None:
    """Install packages into the environment."""
    run(BIN / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", *packages)


def make_context(tarball: Path) -> None:
    """Have ansible-builder write the context, and see that it holds the collection and asks for its needs."""
    definition = {
        "version": 3,
        "images": {"base_image": {"name": "quay.io/centos/centos:stream9"}},
        "dependencies": {
            "python_interpreter": {"package_system": "python3.12", "python_path": "/usr/bin/python3.12"},
            "ansible_core": {"package_pip": TOOLS[2]},
            "ansible_runner": {"package_pip": "ansible-runner"},
            "galaxy": {"collections": [{"name": f"/build/{tarball.name}", "type": "file"}]},
        },
        "additional_build_files": [{"src": str(tarball), "dest": "."}],
        "additional_build_steps": {"prepend_galaxy": [f"COPY _build/{tarball.name} /build/{tarball.name}"]},
    }
    (WORK / "execution-environment.yml").write_text(yaml.safe_dump(definition), encoding="utf-8")
    shutil.rmtree(WORK / "context", ignore_errors=True)
    create = ("ansible-builder", "create", "--file", "execution-environment.yml", "--context", "context")
    # It is called Dockerfile where only docker is installed.
    run(*create, "--output-filename", "Containerfile")
    containerfile = (WORK / "context" / "Containerfile").read_text(encoding="utf-8")
    for part in (tarball.name, "introspect.py", "ansible-galaxy collection install", "assemble"):
        if part not in containerfile:
            sys.exit(f"the Containerfile does not speak of {part}")
    if not (WORK / "context" / "_build" / tarball.name).is_file():
        sys.exit(f"the context does not hold {tarball.name}")


def found_requirements(collections: Path) -> list[str]:
    """Return the libraries that the image would get: those of the collection. It gets no system package."""
    found = yaml.safe_load(run("ansible-builder", "introspect", collections))
    python = [line.partition("#")[0].strip() for line in found["python"]]
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    # PyYAML is left out by ansible-builder, as ansible-core brings it along.
    wanted = [line for line in lines if not line.startswith(("#", "PyYAML"))]
    if sorted(python) != sorted(wanted):
        sys.exit(f"ansible-builder finds {sorted(python)}, and not {sorted(wanted)}")
    # A package with a profile, such as [test ...], is for development.
    system = [line for line in found.get("system", []) if "[" not in line]
    if system:
        sys.exit(f"the image would need packages of the system: {system}")
    return python


def run_quickstart(collections: Path) -> None:
    """Have ansible-runner run the quickstart twice; the second run must change nothing."""
    project = WORK / "project"
    shutil.rmtree(project, ignore_errors=True)
    for name in ("project", "inventory", "env"):
        (project / name).mkdir(parents=True)
    playbook = [{"name": "Quickstart", "import_playbook": "hosted.services.quickstart"}]
    (project / "project" / "site.yml").write_text(yaml.safe_dump(playbook), encoding="utf-8")
    (project / "inventory" / "account.hosted.yml").write_text("plugin: hosted.services.inventory\n")
    with Sandbox() as sandbox:
        variables = {
            "HOME": str(project),
            "ANSIBLE_HOME": str(project / ".ansible"),
            "ANSIBLE_COLLECTIONS_PATH": str(collections),
            "HOSTED_SERVICES_URL": sandbox.base_url,
            "HOSTED_SERVICES_TOKEN": sandbox.token,
        }
        (project / "env" / "envvars").write_text(yaml.safe_dump(variables), encoding="utf-8")
        for run_of in ("first", "second"):
            printed = run("ansible-runner", "run", project, "-p", "site.yml", "--ident", run_of)
            changed = sum(map(int, re.findall(r"changed=(\d+)", printed)))
            print(f"ansible-runner, {run_of} run: changed {changed}", flush=True)
        if changed:
            sys.exit("the second run changed something")
        ordered = len(sandbox.ledger()["orders"])
        print(f"orders on the sandbox's ledger: {ordered}")
        if not ordered:
            sys.exit("nothing was ordered")


def main() -> int:
    """Check the tarball that the command line names."""
    tarball = Path(sys.argv[1]).resolve()
    WORK.mkdir(parents=True, exist_ok=True)
    if not (BIN / "ansible-runner").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(WORK / "venv")], check=True)
    install(*TOOLS)
    make_context(tarball)
    print("ansible-builder: the context is complete")
    collections = WORK / "collections"
    shutil.rmtree(collections, ignore_errors=True)
    run(
        *("ansible-galaxy", "collection", "install", "--offline", tarball, "-p", collections),
        ANSIBLE_COLLECTIONS_PATH=str(collections),
    )
    libraries = found_requirements(collections)
    print(f"ansible-builder: finds {len(libraries)} libraries and no system package")
    install(*libraries)
    run_quickstart(collections)
    return 0


if __name__ == "__main__":
    sys.exit(main())
