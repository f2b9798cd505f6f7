# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How long app_image takes for an image with one large layer, and with many small ones, against skopeo.

Both push the same OCI archive to Docker's registry on this machine, in alternation and into an empty
registry each time; for both the registry can be a latency away. Of the play, the time that it takes when its
one task is skipped is taken off. The ratio is the median of those of each round, because a machine that does
other work as well is not equally fast in each.

What arrived is compared by its digest; if it differs, this ends with an error. The memory is that of the
largest process of a play, beyond that of the play whose one task is skipped. On a machine with a slow disk,
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
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.cost import Cost, measure
from benchmarks.distance import distant
from hosted_sandbox.testing import Sandbox
from integration.docker_registry import LOGIN, PROGRAMS, Docker, platform, serving

ROUNDS = 3
BLOCK = 1 << 20
GOAL_RATIO = 1.0
GOAL_MEGABYTES = 100
LATENCY = 0.04
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

    def finish(self, layers: list[dict[str, Any]]) -> str:
        """Add what makes an image of these layers; return its digest."""
        rootfs = {"type": "layers", "diff_ids": [layer["digest"] for layer in layers]}
        config = {"architecture": "amd64", "os": "linux", "config": {}, "rootfs": rootfs}
        manifest = {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.add_part("application/vnd.oci.image.config.v1+json", json.dumps(config).encode()),
            "layers": layers,
        }
        top = self.add_part(MANIFEST, json.dumps(manifest).encode())
        self.add("oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
        self.add("index.json", json.dumps({"schemaVersion": 2, "manifests": [top]}).encode())
        return str(top["digest"])


@dataclass(frozen=True)
class Shape:
    """How many layers an image has, of which size in bytes, and how far away the registry is in seconds."""

    layers: int
    size: int
    latency: float

    def __str__(self) -> str:
        size = f"{self.size >> 20} MiB" if self.size % BLOCK == 0 else f"{self.size / 1e6:.0f} MB"
        return f"{self.layers} x {size}, {self.latency * 1000:.0f} ms"


SHAPES = [
    Shape(layers, size, latency)
    for layers, size in ((1, 2 << 30), (40, 5_000_000))
    for latency in (0, LATENCY)
]


def make_image(folder: Path, shape: Shape) -> tuple[Path, str]:
    """Write an image of that shape; return its archive and its digest."""
    dice = random.Random(1)
    path, content, layer = folder / "image.tar", folder / "content", folder / "layer.tar"
    with tarfile.open(path, "w") as tar:
        archive = Archive(tar)
        layers = []
        for _layer in range(shape.layers):
            with content.open("wb") as file:
                for start in range(0, shape.size, BLOCK):
                    file.write(dice.randbytes(min(BLOCK, shape.size - start)))
            with tarfile.open(layer, "w") as one:
                one.add(content, "content")
            layers.append(archive.add_layer(layer))
        digest = archive.finish(layers)
    content.unlink()
    layer.unlink()
    return path, digest


@dataclass(frozen=True)
class Course:
    """What is pushed, from where, and with which credentials."""

    image: Path
    digest: str
    folder: Path
    sandbox: Sandbox

    def play(self, docker: Docker, condition: str = "true") -> Cost:
        """Push with app_image; return what it took."""
        path = self.folder / "play.yml"
        path.write_text(
            "- hosts: localhost\n  gather_facts: false\n  tasks:\n"
            f"    - hosted.services.app_image: {{slug: {SLUG}, path: {self.image}, tag: v1}}\n"
            f"      when: {condition}\n"
        )
        with platform(self.sandbox, docker) as url:
            connection = {"HOSTED_SERVICES_URL": url, "HOSTED_SERVICES_TOKEN": self.sandbox.token}
            return measure(["ansible-playbook", str(path)], {**os.environ, **connection})[0]

    def skopeo(self, docker: Docker) -> Cost:
        """Push with skopeo; return what it took."""
        login = f"{LOGIN['username']}:{LOGIN['secret']}"
        target = f"docker://{docker.host}/{LOGIN['project']}/{SLUG}:v1"
        options = ["--insecure-policy", "copy", "--preserve-digests", "--dest-tls-verify=false"]
        what = [f"oci-archive:{self.image}", target]
        return measure(["skopeo", *options, "--dest-creds", login, *what], os.environ)[0]

    def check(self, docker: Docker) -> None:
        """Compare what arrived with what was pushed."""
        if docker.inspect(":v1")["Digest"] != self.digest:
            sys.exit("what arrived is not what was pushed")

    @contextmanager
    def registry(self, latency: float) -> Iterator[tuple[Docker, Docker]]:
        """Run a registry that is empty; yield it as it is, and as it is from a latency away."""
        folder = self.folder / "registry"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        with serving(folder) as docker, distant(docker.host, latency) as host:
            yield docker, docker._replace(host=host)


def run_rounds(course: Course, shape: Shape, rounds: int) -> list[tuple[Cost, Cost]]:
    """Return what app_image and skopeo took in each round."""
    results = []
    for turn in range(rounds):
        print(f"    {shape}: round {turn + 1} of {rounds}", file=sys.stderr)
        with course.registry(shape.latency) as (docker, distant_docker):
            startup = course.play(distant_docker, "false")
            pushed = course.play(distant_docker)
            ours = replace(pushed - startup, memory=pushed.memory - startup.memory)
            course.check(docker)
        with course.registry(shape.latency) as (docker, distant_docker):
            theirs = course.skopeo(distant_docker)
            course.check(docker)
        results.append((ours, theirs))
    return results


def compare(shape: Shape, rounds: int) -> None:
    """Measure an image of that shape and print what it took."""
    with tempfile.TemporaryDirectory() as place, Sandbox() as sandbox:
        sandbox.api("POST", "/api/apps", {"slug": SLUG}).raise_for_status()
        image, digest = make_image(Path(place), shape)
        results = run_rounds(Course(image, digest, Path(place), sandbox), shape, rounds)
    ours, theirs = (statistics.median(cost.seconds for cost in each) for each in zip(*results, strict=True))
    ratio = statistics.median(first.seconds / second.seconds for first, second in results)
    memory = max(cost.memory for cost, _theirs in results)
    reached = "reached" if ratio <= GOAL_RATIO and memory <= GOAL_MEGABYTES else "MISSED"
    print(
        f"  {shape}: app_image {ours:.2f} s, skopeo {theirs:.2f} s, {ratio:.2f} x, {memory:.0f} MB: {reached}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, help="measure one image alone: of that many layers,")
    parser.add_argument("--size", type=int, default=5_000_000, help="of that many bytes each,")
    parser.add_argument("--latency", type=float, default=0, help="that many seconds away")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    chosen = parser.parse_args()
    if missing := [program for program in PROGRAMS if shutil.which(program) is None]:
        sys.exit(f"not installed: {', '.join(missing)}")
    print(f"the goal is {GOAL_RATIO} x skopeo, and {GOAL_MEGABYTES} MB above a play that skips its task")
    one = chosen.layers and Shape(chosen.layers, chosen.size, chosen.latency)
    for shape in [one] if one else SHAPES:
        compare(shape, chosen.rounds)


if __name__ == "__main__":
    main()
