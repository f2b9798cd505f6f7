# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long app_image takes for an image with one large layer, measured against skopeo.

Both push the same OCI archive to Docker's registry on this machine, in alternation and into an empty
registry each time. Of the play, the time that it takes when its one task is skipped is taken off. The ratio
is the median of those of each round, because a machine that does other work as well is not equally fast in
each.

What arrived is compared by its digest; if it differs, this ends with an error. On a machine with a slow disk,
TMPDIR=/dev/shm keeps the disk out of the figures.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hosted_sandbox.testing import Sandbox
from integration.docker_registry import LOGIN, PROGRAMS, Docker, platform, serving

ROUNDS = 3
MEBIBYTES = 2048
BLOCK = 1 << 20
GOAL_RATIO = 1.0
SLUG = "shop"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@dataclass(frozen=True)
class Archive:
    """An OCI archive that is being written: a tar file with each part under its digest."""

    tar: tarfile.TarFile

    def add(self, name: str, content: bytes) -> None:
        """Add a file."""
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        self.tar.addfile(entry, io.BytesIO(content))

    def add_part(self, media_type: str, content: bytes) -> dict[str, Any]:
        """Add a part; return its descriptor."""
        digest = hashlib.sha256(content).hexdigest()
        self.add(f"blobs/sha256/{digest}", content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def add_layer(self, file: Path) -> dict[str, Any]:
        """Add a file as a layer that is not compressed; return its descriptor."""
        with file.open("rb") as content:
            digest = hashlib.file_digest(content, "sha256").hexdigest()
        self.tar.add(file, f"blobs/sha256/{digest}")
        layer = {"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": f"sha256:{digest}"}
        return {**layer, "size": file.stat().st_size}


def make_image(folder: Path, mebibytes: int) -> tuple[Path, str]:
    """Write an image with one layer of this size; return its archive and its digest."""
    dice = random.Random(1)
    content, layer = folder / "content", folder / "layer.tar"
    with content.open("wb") as file:
        for _block in range(mebibytes):
            file.write(dice.randbytes(BLOCK))
    with tarfile.open(layer, "w") as tar:
        tar.add(content, "content")
    content.unlink()
    path = folder / "image.tar"
    with tarfile.open(path, "w") as tar:
        digest = fill(Archive(tar), layer)
    layer.unlink()
    return path, digest


def fill(archive: Archive, layer: Path) -> str:
    """Write an image of one layer into an archive; return its digest."""
    described = archive.add_layer(layer)
    rootfs = {"type": "layers", "diff_ids": [described["digest"]]}
    config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": rootfs}
    manifest = {
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": archive.add_part("application/vnd.oci.image.config.v1+json", json.dumps(config).encode()),
        "layers": [described],
    }
    top = archive.add_part(MANIFEST, json.dumps(manifest).encode())
    archive.add("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
    archive.add("index.json", json.dumps({"schemaVersion": 2, "manifests": [top]}).encode())
    return str(top["digest"])


@dataclass(frozen=True)
class Course:
    """What is pushed, from where, and with which credentials."""

    image: Path
    digest: str
    folder: Path
    sandbox: Sandbox

    def play(self, docker: Docker, condition: str = "true") -> float:
        """Push with app_image; return how long it took."""
        path = self.folder / "play.yml"
        path.write_text(
            "- hosts: localhost\n  gather_facts: false\n  tasks:\n"
            f"    - hosted.services.app_image: {{slug: {SLUG}, path: {self.image}, tag: v1}}\n"
            f"      when: {condition}\n"
        )
        with platform(self.sandbox, docker) as url:
            connection = {"HOSTED_SERVICES_URL": url, "HOSTED_SERVICES_TOKEN": self.sandbox.token}
            return timed(["ansible-playbook", str(path)], **connection)

    def skopeo(self, docker: Docker) -> float:
        """Push with skopeo; return how long it took."""
        login = f"{LOGIN['username']}:{LOGIN['secret']}"
        target = f"docker://{docker.host}/{LOGIN['project']}/{SLUG}:v1"
        options = ["--insecure-policy", "copy", "--preserve-digests", "--dest-tls-verify=false"]
        return timed(["skopeo", *options, "--dest-creds", login, f"oci-archive:{self.image}", target])

    def check(self, docker: Docker) -> None:
        """Compare what arrived with what was pushed."""
        if docker.inspect(":v1")["Digest"] != self.digest:
            sys.exit("what arrived is not what was pushed")


def timed(command: Sequence[str], **environment: str) -> float:
    """Run a command; return how long it took."""
    begun = time.perf_counter()
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    took = time.perf_counter() - begun
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return took


def measure(course: Course, rounds: int) -> list[tuple[float, float]]:
    """Return the seconds of app_image and of skopeo in each round."""
    results = []
    for turn in range(rounds):
        print(f"    round {turn + 1} of {rounds}", file=sys.stderr)
        with fresh(course) as docker:
            startup = course.play(docker, "false")
            ours = course.play(docker) - startup
            course.check(docker)
        with fresh(course) as docker:
            theirs = course.skopeo(docker)
            course.check(docker)
        results.append((ours, theirs))
    return results


def fresh(course: Course) -> Any:
    """Run a registry that is empty."""
    folder = course.folder / "registry"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return serving(folder)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mebibytes", type=int, default=MEBIBYTES, help="size of the layer")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        sys.exit(f"not installed: {', '.join(missing)}")
    with tempfile.TemporaryDirectory() as place, Sandbox() as sandbox:
        sandbox.api("POST", "/api/apps", {"slug": SLUG}).raise_for_status()
        image, digest = make_image(Path(place), chosen.mebibytes)
        results = measure(Course(image, digest, Path(place), sandbox), chosen.rounds)
    ours, theirs = (statistics.median(each) for each in zip(*results, strict=True))
    ratio = statistics.median(first / second for first, second in results)
    print(f"a layer of {chosen.mebibytes} MiB: app_image {ours:.1f} s, skopeo {theirs:.1f} s, {ratio:.2f} x")
    print(f"  goal: at most {GOAL_RATIO} x skopeo: {'reached' if ratio <= GOAL_RATIO else 'MISSED'}")


if __name__ == "__main__":
    main()
