# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images and their analysis."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import pytest

from hosted_sandbox.registry import Blobs, Image, Verdict, scan
from hosted_sandbox.registry.images import build_image, main
from hosted_sandbox.registry.packages import older
from hosted_sandbox.registry.scan import SEVERITIES, default_table


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "server").write_bytes(b"run")
    arguments = f"--file app/server={tmp_path / 'server'} --package openssl=1.1.1 --arch arm64 --port 80"
    main([str(tmp_path / "image"), *arguments.split(), "--label", "sandbox.start=fail", "--env", "A=B"])
    image = Image(Blobs(tmp_path / "image/blobs"), capsys.readouterr().out.strip())
    assert image.files(lambda path: path.startswith("app")) == {"app/server": b"run"}
    config = image.config()
    assert (config.architecture, config.ports, config.environment) == ("arm64", (80,), {"A": "B"})
    assert config.labels == {"sandbox.start": "fail"}


def built(tmp_path: Path, **settings: Any) -> Image:
    settings = {"files": {"app/server": b"run"}} | settings
    digest = build_image(tmp_path / "image", **settings)
    return Image(Blobs(tmp_path / "image/blobs"), digest)


def verdict(tmp_path: Path, *packages: tuple[str, str], **settings: Any) -> Verdict:
    return scan(built(tmp_path, packages=packages, **settings), default_table())


def alpine(package: str, version: str) -> dict[str, bytes]:
    """The package database of an image of Alpine."""
    return {"lib/apk/db/installed": f"P:{package}\nV:{version}\nA:x86_64\n".encode()}


def test_clean(tmp_path: Path) -> None:
    """What is not serious passes."""
    result = verdict(tmp_path, ("bash", "5.2.15-2+b2"), ("openssl", "3.0.17-1~deb12u2"))
    none = {"blocking": [], "warnings": [], "warningCount": 0, "scanner": "sandbox-scanner"}
    assert result.status == "PASSED"
    assert result.report() == {"counts": dict.fromkeys(SEVERITIES, 0), **none}
    result = verdict(tmp_path, files=alpine("musl", "1.2.1-r0"))
    assert (result.status, result.report()["counts"]["Medium"]) == ("PASSED", 1)


@pytest.mark.parametrize(
    ("package", "version", "reason"),
    [
        ("runc", "1.1.5+ds1-1+b1", "isolation"),
        ("runc", "1.1.9-r0", "isolation"),
        ("xz-utils", "5.6.0-0.2", "scope"),
        ("xz", "5.6.1-r0", "scope"),
    ],
)
def test_blocked(tmp_path: Path, package: str, version: str, reason: str) -> None:
    of_alpine = version.endswith("-r0")
    packages = [] if of_alpine else [(package, version)]
    result = verdict(tmp_path, *packages, files=alpine(package, version) if of_alpine else {})
    assert result.status == "BLOCKED"
    (flaw,) = result.report()["blocking"]
    assert (flaw["package"], flaw["version"], flaw["reason"]) == (package, version, reason)
    assert set(flaw) == {"id", "package", "version", "fixVersion", "severity", "reason"}


@pytest.mark.parametrize("compression", ["gzip", "zstd", None])
def test_compressions(tmp_path: Path, compression: Any) -> None:
    """The same input gives the same bytes, and what is inside is found."""
    files = {"b": b"2", "a": b"1"}
    archives = [tmp_path / "one.tar", tmp_path / "two.tar"]
    digests = {build_image(path, files, packages=[("b", "5")], compression=compression) for path in archives}
    assert len(digests) == 1
    assert archives[0].read_bytes() == archives[1].read_bytes()
    assert verdict(tmp_path, ("runc", "1.0.0"), compression=compression).status == "BLOCKED"


@pytest.mark.parametrize("content", [None, b"junk" * 200, b"\x1f\x8bjunk", b"\x28\xb5\x2f\xfdjunk"])
def test_a_damaged_layer(tmp_path: Path, content: bytes | None) -> None:
    image = built(tmp_path)
    path = image.blobs.path(image.manifest.layers[0].digest)
    path.unlink() if content is None else path.write_bytes(content)
    result = scan(image, default_table())
    assert result.status == "FAILED"
    assert result.failure is not None and "layer sha256:" in result.failure
    assert result.report()["blocking"] == []


@pytest.mark.parametrize(
    ("kind", "lower", "upper"),
    [
        ("apk", "3.1.4-r9", "3.1.4-r10"),
        ("apk", "1.1.1k-r0", "1.1.1l-r0"),
        ("apk", "1.0a", "1.0.1"),
        ("apk", "1.0_alpha2", "1.0_beta1"),
        ("apk", "1.0_rc1", "1.0"),
        ("apk", "1.0", "1.0_git20200101-r0"),
        ("dpkg", "3.0~rc1", "3.0"),
        ("dpkg", "1.1.1k-1", "1.1.1k-1+deb11u1"),
        ("dpkg", "9", "1:0"),
        ("dpkg", "5.6.1-1", "5.6.1+really5.4.5-1"),
    ],
)
def test_order_of_versions(kind: Literal["apk", "dpkg"], lower: str, upper: str) -> None:
    assert older(kind, lower, upper)
    assert not older(kind, upper, lower)
    assert not older(kind, lower, lower)
