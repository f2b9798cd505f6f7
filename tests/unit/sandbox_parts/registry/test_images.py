# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images made from files: the same input gives the same bytes."""

from __future__ import annotations

import tarfile
from pathlib import Path
from typing import Any

import pytest

from hosted_sandbox.registry import Blobs, Image
from hosted_sandbox.registry.images import build_image, main


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
