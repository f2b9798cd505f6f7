# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file manager's modules against the sandbox, in each of its profiles where answers are not shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE
from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.account import Account
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import before_each, run

Run = Callable[..., dict[str, Any]]
SERVICE = {"name": "survival", "product": "minecraft", "files": {".made": ""}}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the sandbox keeps its files."""
    return tmp_path_factory.mktemp("sandbox")


@pytest.fixture(scope="module")
def sandbox(data: Path) -> Iterator[Sandbox]:
    """One sandbox whose files lie in a folder of ours."""
    with Sandbox("--data", str(data)) as sandbox:
        yield sandbox


@pytest.fixture(params=["plain", "terse"])
def root(request: pytest.FixtureRequest, sandbox: Sandbox, data: Path) -> Path:
    """The directory in which the files of a fresh service lie."""
    sandbox.reset(profile=request.param, seed={"delays": {"provision": 0}, "services": [SERVICE]})
    sandbox.clear_faults()
    sandbox.clear_journal()
    marker: Path = next(data.rglob(".made"))
    marker.unlink()
    return marker.parent


@pytest.fixture
def file(sandbox: Sandbox, root: Path) -> Run:
    return partial(run, sandbox, FILE, service="survival")


@pytest.fixture
def file_info(sandbox: Sandbox, root: Path) -> Run:
    return partial(run, sandbox, FILE_INFO, service="survival")


@pytest.mark.parametrize("given", ["content", "src"])
def test_a_text_that_could_not_be_read_back_is_refused(
    file: Run, sandbox: Sandbox, tmp_path: Path, given: str
) -> None:
    large = "é" * 1_000_001
    (tmp_path / "large").write_text(large, encoding="utf-8")
    src = str(tmp_path / "large")
    message = file(path="a", **{given: {"content": large, "src": src}[given]})["msg"]
    assert message == (
        f"{f'src {src!r}' if given == 'src' else given} has 2000002 bytes; the platform reads text of up to "
        "2000000 bytes only, so what was written could not be read back and compared. For larger files use "
        "hosted.services.sftp_sync"
    )
    assert not [line for line in sandbox.journal() if line["method"] != "GET"]


# --- What else a platform may do that the specification does not show -------------------------------------


def test_a_platform_that_stores_something_else_is_told(
    file: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def convert(_ids: dict[str, str], body: dict[str, Any]) -> None:
        body["content"] = body["content"].replace("\r\n", "\n")

    before_each(monkeypatch, r.FILE_WRITE, convert)
    for _run in range(2):
        result = file(path="dos", content="a\r\nb\r\n")
        assert result["changed"] and (root / "dos").read_bytes() == b"a\nb\n"
        assert "dos with 6 bytes" in result["warnings"][0] and "does not show it" in result["warnings"][0]


def test_a_file_that_is_written_to_while_it_is_read_is_read(
    file_info: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the log of a server that runs: the directory is listed again before it counts as cut."""
    log, own = root / "latest.log", Account.read_file
    log.write_text("started\n")

    def later(account: Account, id: str, path: str) -> str:
        log.write_text("started\nready\n")
        return own(account, id, path)

    monkeypatch.setattr(Account, "read_file", later)
    assert file_info(path="latest.log", content=True)["files"][0]["content"] == "started\nready\n"
