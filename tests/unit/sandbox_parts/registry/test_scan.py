# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images and their analysis."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.registry import Blobs, Image, ImageError, Verdict, scan
from hosted_sandbox.registry.images import build_image, main
from hosted_sandbox.registry.packages import older
from hosted_sandbox.registry.scan import SEVERITIES, Vulnerability, default_table


@pytest.mark.parametrize("compression", ["gzip", "zstd", None])
def test_same_input_same_bytes(tmp_path: Path, compression: Any) -> None:
    files = {"b": b"2", "a": b"1"}
    archives = [tmp_path / "one.tar", tmp_path / "two.tar"]
    digests = [
        build_image(archive, files, packages=[("bash", "5")], compression=compression) for archive in archives
    ]
    assert digests[0] == digests[1]
    assert archives[0].read_bytes() == archives[1].read_bytes()


def test_an_archive_holds_the_layout(tmp_path: Path) -> None:
    digest = build_image(tmp_path / "image", {"a": b"1"})
    assert build_image(tmp_path / "image.tar", {"a": b"1"}) == digest
    with tarfile.open(tmp_path / "image.tar") as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    for path in (tmp_path / "image").rglob("*"):
        if path.is_file():
            assert (
                tmp_path / "unpacked" / path.relative_to(tmp_path / "image")
            ).read_bytes() == path.read_bytes()


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "server").write_bytes(b"run")
    arguments = f"--file app/server={tmp_path / 'server'} --package openssl=1.1.1 --arch arm64 --port 80"
    main([str(tmp_path / "image"), *arguments.split(), "--label", "sandbox.start=fail", "--env", "A=B"])
    image = Image(Blobs(tmp_path / "image/blobs"), capsys.readouterr().out.strip())
    assert image.files(lambda path: path.startswith("app")) == {"app/server": b"run"}
    config = image.config()
    assert (config.architecture, config.ports, config.environment) == ("arm64", (80,), {"A": "B"})
    assert config.labels == {"sandbox.start": "fail"}


def test_command_line_refuses_a_pair_without_a_value(tmp_path: Path) -> None:
    with pytest.raises(SystemExit):
        main([str(tmp_path / "image"), "--package", "openssl"])


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
    result = verdict(tmp_path, ("bash", "5.2.15-2+b2"), ("openssl", "3.0.17-1~deb12u2"))
    assert result.status == "PASSED"
    assert result.report() == {
        "counts": dict.fromkeys(SEVERITIES, 0),
        "blocking": [],
        "warnings": [],
        "warningCount": 0,
        "scanner": "sandbox-scanner",
    }


def test_no_package_database(tmp_path: Path) -> None:
    assert verdict(tmp_path).status == "PASSED"


def test_warned(tmp_path: Path) -> None:
    result = verdict(tmp_path, ("openssl", "1.1.1"))
    assert result.status == "WARNED"
    report = result.report()
    assert report["counts"] == {"Critical": 1, "High": 0, "Medium": 1, "Low": 0}
    assert report["warnings"] == [
        {
            "id": "CVE-2021-3711",
            "package": "openssl",
            "version": "1.1.1",
            "fixVersion": "1.1.1k-1+deb11u1",
            "severity": "Critical",
        }
    ]
    assert report["warningCount"] == 1


def test_what_is_not_serious_passes(tmp_path: Path) -> None:
    result = verdict(tmp_path, files=alpine("musl", "1.2.1-r0"))
    assert result.status == "PASSED"
    assert result.report()["counts"]["Medium"] == 1


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


def test_a_version_from_before_the_flaw(tmp_path: Path) -> None:
    assert verdict(tmp_path, ("xz-utils", "5.4.1-0.2")).status == "PASSED"


def test_the_most_severe_comes_first(tmp_path: Path) -> None:
    result = verdict(tmp_path, ("runc", "1.0.0"), ("curl", "7.80.0-1"), ("zlib1g", "1"), ("bash", "4.0"))
    ranks = [SEVERITIES.index(flaw["severity"]) for flaw in result.flaws]
    assert ranks == sorted(ranks)


@pytest.mark.parametrize("compression", ["gzip", "zstd", None])
def test_compressions(tmp_path: Path, compression: Any) -> None:
    assert verdict(tmp_path, ("runc", "1.0.0"), compression=compression).status == "BLOCKED"


def test_binary_packages_are_matched_by_their_source(tmp_path: Path) -> None:
    status = (
        "Package: libssl3\nStatus: install ok installed\nSource: openssl (3.0.5-1)\nVersion: 3.0.5-1+b1\n"
    )
    (flaw, __) = verdict(tmp_path, files={"var/lib/dpkg/status": status.encode()}).flaws
    assert (flaw["package"], flaw["version"]) == ("libssl3", "3.0.5-1+b1")


def test_removed_packages_do_not_count(tmp_path: Path) -> None:
    status = "Package: runc\nStatus: deinstall ok config-files\nVersion: 1.0.0\n"
    assert verdict(tmp_path, files={"./var/lib/dpkg/status": status.encode()}).flaws == []


def test_images_without_a_package_manager(tmp_path: Path) -> None:
    files = {
        "var/lib/dpkg/status.d/runc": b"Package: runc\nVersion: 1.0.0\n",
        "var/lib/dpkg/status.d/runc.md5sums": b"0 usr/bin/runc\n",
    }
    assert verdict(tmp_path, files=files).status == "BLOCKED"


def test_upper_layers_replace_lower_ones(tmp_path: Path) -> None:
    status = b"Package: bash\nStatus: install ok installed\nVersion: 4.0\n"
    result = verdict(tmp_path, ("runc", "1.0.0"), files={"var/lib/dpkg/status": status})
    assert [flaw["package"] for flaw in result.flaws] == ["bash"]


def test_all_images_of_an_index(tmp_path: Path) -> None:
    image = built(tmp_path, architecture=["amd64", "arm64"], packages=[("runc", "1.0.0")])
    assert len(scan(image, default_table()).flaws) == 1


class TestFailed:
    def damaged(self, tmp_path: Path, content: bytes | None, **settings: Any) -> Verdict:
        image = built(tmp_path, **settings)
        path = image.blobs.path(image.manifest.layers[0].digest)
        path.unlink() if content is None else path.write_bytes(content)
        return scan(image, default_table())

    @pytest.mark.parametrize("content", [None, b"junk" * 200, b"\x1f\x8bjunk", b"\x28\xb5\x2f\xfdjunk"])
    def test_layer(self, tmp_path: Path, content: bytes | None) -> None:
        result = self.damaged(tmp_path, content)
        assert result.status == "FAILED"
        assert result.failure is not None
        assert "layer sha256:" in result.failure
        assert result.report()["blocking"] == []

    @pytest.mark.parametrize("compression", ["gzip", "zstd", None])
    def test_cut_short(self, tmp_path: Path, compression: Any) -> None:
        files = {"app/data": bytes(range(256)) * 64}
        image = built(tmp_path, files=files, compression=compression)
        layer = image.blobs.read(image.manifest.layers[0].digest)
        result = self.damaged(tmp_path, layer[: len(layer) // 2], files=files, compression=compression)
        assert result.status == "FAILED"

    def test_manifest_and_config(self, tmp_path: Path) -> None:
        image = built(tmp_path)
        assert image.manifest.config is not None
        image.blobs.path(image.manifest.config.digest).write_bytes(b"{}")
        assert scan(image, default_table()).status == "FAILED"
        image.blobs.path(image.manifest.config.digest).write_bytes(b"junk")
        assert scan(image, default_table()).status == "FAILED"
        assert scan(Image(image.blobs, "sha256:" + "0" * 64), default_table()).status == "FAILED"


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("3.1.4-r9", "3.1.4-r10"),
        ("1.1.1k-r0", "1.1.1l-r0"),
        ("1.0a", "1.0.1"),
        ("1.0_alpha2", "1.0_beta1"),
        ("1.0_rc1", "1.0"),
        ("1.0", "1.0_git20200101-r0"),
    ],
)
def test_order_of_alpine_versions(lower: str, upper: str) -> None:
    assert older("apk", lower, upper)
    assert not older("apk", upper, lower)
    assert not older("apk", lower, lower)


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        ("3.0~rc1", "3.0"),
        ("1.1.1k-1", "1.1.1k-1+deb11u1"),
        ("9", "1:0"),
        ("5.6.1-1", "5.6.1+really5.4.5-1"),
    ],
)
def test_order_of_debian_versions(lower: str, upper: str) -> None:
    assert older("dpkg", lower, upper)
    assert not older("dpkg", upper, lower)


def test_a_version_of_no_known_form_is_never_older() -> None:
    assert not older("apk", "main-20240101", "1.0-r0")


def test_the_table_covers_every_severity_and_reason() -> None:
    table = default_table()
    assert {flaw.severity for flaw in table} == set(SEVERITIES)
    assert {flaw.reason for flaw in table} == {None, "isolation", "scope"}


def test_another_table(tmp_path: Path) -> None:
    known = [Vulnerability("X-1", "dpkg", "shop", "2", "High")]
    assert scan(built(tmp_path, packages=[("shop", "1")]), known).status == "WARNED"


class TestConfig:
    def test_of_an_index(self, tmp_path: Path) -> None:
        image = built(tmp_path, architecture=["amd64", "arm64"])
        assert image.config("linux/arm64").architecture == "arm64"
        assert image.config("linux/riscv64").architecture == "amd64"

    def test_of_nonsense(self, tmp_path: Path) -> None:
        image = built(tmp_path)
        assert image.manifest.config is not None
        path = image.blobs.path(image.manifest.config.digest)
        path.write_text('{"os": "linux", "architecture": "amd64", "config": {"ExposedPorts": {"http": {}}}}')
        with pytest.raises(ImageError):
            image.config()
