# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file manager's modules against the sandbox, in each of its profiles where answers are not shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._ansible.execution import RunContext, execute
from ansible_collections.hosted.services.plugins.module_utils._ansible.options import CONNECTION_SPEC
from ansible_collections.hosted.services.plugins.module_utils._api.client import Client
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE
from ansible_collections.hosted.services.plugins.module_utils._resources.file_info import FILE_INFO
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from hosted_sandbox.testing import Sandbox
from unit.plugins.results import Result

Run = Callable[..., dict[str, Any]]
SERVICE = {"name": "survival", "product": "minecraft", "files": {".made": ""}}
MANY = 250


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


def runner(resource: Resource, sandbox: Sandbox) -> Run:
    """Return a function that runs a module."""
    spec = {**resource.options, **CONNECTION_SPEC}
    defaults = {name: option.get("default") for name, option in spec.items()}
    account = {"base_url": sandbox.base_url, "token": sandbox.token, "service": "survival"}

    def run(check_mode: bool = False, **options: Any) -> dict[str, Any]:
        given = {**defaults, **account, **options}
        return Result(execute(resource, given, RunContext(check_mode=check_mode, diff=True)))

    return run


@pytest.fixture
def file(sandbox: Sandbox, root: Path) -> Run:
    """Run the module ``file``."""
    return runner(FILE, sandbox)


@pytest.fixture
def file_info(sandbox: Sandbox, root: Path) -> Run:
    """Run the module ``file_info``."""
    return runner(FILE_INFO, sandbox)


def test_a_second_run_reads_and_does_not_write(file: Run, root: Path, sandbox: Sandbox) -> None:
    assert file(path="a/b.txt", content="x")["changed"]
    sandbox.clear_journal()
    result = file(path="a/b.txt", content="x")
    assert not result["changed"] and result["diff"]["before"] == result["diff"]["after"]
    assert {line["method"] for line in sandbox.journal()} == {"GET"}
    assert (root / "a" / "b.txt").read_text() == "x"


def test_a_file_of_one_byte_is_told_in_the_singular(file: Run, root: Path) -> None:
    """In the action and in the refusal."""
    (action,) = file(path="one", content="1")["actions"]
    assert "(1 byte)" in action
    assert "holds 1 byte; nothing" in file(path="one", content="")["msg"]


def test_an_empty_file(file: Run, root: Path) -> None:
    assert file(path="empty", content="")["changed"]
    assert (root / "empty").read_bytes() == b""
    assert not file(path="empty", content="")["changed"]


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("given", ["content", "src"])
def test_a_file_is_emptied_on_request_only(
    file: Run, root: Path, sandbox: Sandbox, given: str, check_mode: bool
) -> None:
    (root / "ops.txt").write_text("alice")
    empty = {"content": ""} if given == "content" else {"src": os.devnull}
    result = file(check_mode, path="ops.txt", **empty)
    assert result["failed"] and not result["changed"]
    assert f"{given} " in result["msg"] and "'ops.txt' on" in result["msg"]
    assert "holds 5 bytes; nothing was sent. Set allow_empty: true" in result["msg"]
    assert (root / "ops.txt").read_text() == "alice"
    assert {line["method"] for line in sandbox.journal()} == {"GET"}
    assert file(path="ops.txt", allow_empty=True, **empty)["changed"]
    assert (root / "ops.txt").read_bytes() == b""
    assert not file(path="ops.txt", **empty)["changed"]


@pytest.mark.parametrize("state", ["absent", "directory", "renamed"])
@pytest.mark.parametrize("given", [{"content": "x"}, {"content": ""}, {"src": "x.txt"}])
def test_a_text_with_a_state_that_writes_none_is_refused(
    file: Run, root: Path, sandbox: Sandbox, state: str, given: dict[str, str]
) -> None:
    (root / "world").mkdir()
    result = file(path="world", state=state, new_name="w" if state == "renamed" else None, **given)
    assert (
        result["failed"]
        and f"{next(iter(given))} is for state: present, and state is {state}" in result["msg"]
    )
    assert sandbox.journal() == []
    assert (root / "world").is_dir()


def test_content_keeps_its_line_breaks(file: Run, root: Path, tmp_path: Path) -> None:
    (tmp_path / "dos").write_bytes(b"a\r\nb\r\n")
    assert file(path="dos", src=str(tmp_path / "dos"))["changed"]
    assert (root / "dos").read_bytes() == b"a\r\nb\r\n"
    assert not file(path="dos", src=str(tmp_path / "dos"))["changed"]


def test_a_binary_file_is_replaced_without_its_content(file: Run, root: Path) -> None:
    (root / "blob").write_bytes(b"\0\xff")
    result = file(path="blob", content="text")
    assert result["changed"]
    assert "text: false" in result["diff"]["before"]
    assert (root / "blob").read_text() == "text"


def test_a_large_file_is_replaced_without_being_read(file: Run, root: Path, sandbox: Sandbox) -> None:
    (root / "large").write_bytes(b"x" * (2 * 1024 * 1024 + 1))
    result = file(path="large", content="small")
    assert "size: 2097153" in result["diff"]["before"]
    assert not sandbox.journal("files.read")
    assert (root / "large").read_text() == "small"


def test_links(file: Run, file_info: Run, root: Path) -> None:
    (root / "target").write_text("kept")
    (root / "link").symlink_to("target")
    assert "symbolic link" in file(path="link", content="x")["msg"]
    assert "symbolic link" in file(path="link", state="directory")["msg"]
    assert [found["symlink"] for found in file_info()["files"]] == [True, False]
    assert file(path="link", state="absent")["changed"]
    assert not (root / "link").is_symlink()
    assert (root / "target").read_text() == "kept"


def test_many_are_removed_in_batches(file: Run, root: Path, sandbox: Sandbox) -> None:
    (root / "logs").mkdir()
    names = [f"{number}.log" for number in range(MANY)]
    for name in names:
        (root / "logs" / name).touch()
    (root / "logs" / "keep").touch()
    paths = [f"logs/{name}" for name in [*names, "not-there"]]
    planned = file(check_mode=True, paths=paths, state="absent")
    assert planned["actions"][0].startswith(f"remove {MANY} entries of logs")
    assert len(list((root / "logs").iterdir())) == MANY + 1
    sandbox.clear_journal()
    assert file(paths=paths, state="absent")["changed"]
    assert [path.name for path in (root / "logs").iterdir()] == ["keep"]
    assert [len(line["body"]["files"]) for line in sandbox.journal("files.delete")] == [100, 100, 50]
    assert not file(paths=paths, state="absent")["changed"]


def test_a_path_below_another_goes_with_it(file: Run, root: Path) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "c").touch()
    result = file(paths=["a/b/c", "a", "a/b"], state="absent")
    assert len(result["actions"]) == 1
    assert not list(root.iterdir())


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_rename_whose_answer_is_lost(file: Run, root: Path, sandbox: Sandbox, when: str) -> None:
    (root / "a").mkdir()
    (root / "a" / "old").write_text("kept")
    sandbox.fault("files.rename", "reset", when=when)
    result = file(path="a/old", new_name="new", state="renamed")
    assert "failed" not in result and result["changed"], result
    assert result["file"]["path"] == "a/new"
    assert (root / "a" / "new").read_text() == "kept" and not (root / "a" / "old").exists()
    assert not file(path="a/old", new_name="new", state="renamed")["changed"]


def test_a_rename_replaces_nothing(file: Run, root: Path, sandbox: Sandbox) -> None:
    (root / "old").write_text("old")
    (root / "new").write_text("new")
    message = file(path="old", new_name="new", state="renamed")["msg"]
    assert "'old' cannot be renamed: 'new' also exists" in message
    assert not sandbox.journal("files.rename")


@pytest.mark.parametrize("path", ["/", "//", ".", "./", "/.", "~", "~/"])
def test_the_root_is_refused_at_once(file: Run, root: Path, sandbox: Sandbox, path: str) -> None:
    """Without the advice to write it in another way, which would be refused as well."""
    (root / "world").mkdir()
    for given in ({"path": path}, {"paths": ["world", path]}):
        message = file(**given, state="absent")["msg"]
        [name] = given
        assert message == (
            f"{name} is {path!r}, the root of the service, which always exists and cannot be removed"
        )
    assert sandbox.journal() == [] and (root / "world").is_dir()


@pytest.mark.parametrize("name", ["", ".", "a/b", "b/", "../b", "/b"])
def test_a_new_name_is_a_name(file: Run, root: Path, sandbox: Sandbox, name: str) -> None:
    (root / "old").touch()
    message = file(path="old", new_name=name, state="renamed")["msg"]
    assert message.startswith(f"new_name is {name!r}")
    assert not sandbox.journal()


@pytest.mark.parametrize("check_mode", [True, False])
@pytest.mark.parametrize("path", ["world/", "world//", "world/.", "world/./", "./world/", "a//b"])
@pytest.mark.parametrize("state", ["absent", "renamed"])
def test_a_path_that_an_empty_variable_has_cut_short_is_refused(
    *, state: str, path: str, check_mode: bool, file: Run, root: Path, sandbox: Sandbox
) -> None:
    """``world/{{ region }}`` without a region is not the whole world."""
    (root / "world").mkdir()
    (root / "a" / "b").mkdir(parents=True)
    options = {"new_name": "old"} if state == "renamed" else {}
    plain = "a/b" if path == "a//b" else "world"
    message = file(check_mode, path=path, state=state, **options)["msg"]
    assert message.startswith(f"path is {path!r}") and f"write {plain!r}" in message
    if state == "absent":
        message = file(check_mode, paths=["other", path], state=state)["msg"]
        assert message.startswith(f"item 2 of paths is {path!r}")
    assert not sandbox.journal()
    assert (root / "world").is_dir() and (root / "a" / "b").is_dir()


@pytest.mark.parametrize("path", ["world", "./world", "a/./b"])
def test_a_whole_path_is_removed_however_it_begins(file: Run, root: Path, path: str) -> None:
    (root / path).mkdir(parents=True)
    assert file(path=path, state="absent")["changed"]
    assert not (root / path).exists()


@pytest.mark.parametrize("where", [{"service": "gone"}, {"project": "gone"}])
def test_nothing_is_left_to_delete_where_the_service_is_gone(file: Run, where: dict[str, str]) -> None:
    for check_mode in (True, False):
        result = file(check_mode, **where, path="a", state="absent")
        assert not result.get("failed") and not result["changed"] and not result.get("warnings"), result
    assert "gone" in file(**where, path="a", content="text")["msg"]


def test_a_path_may_be_written_with_a_slash(file: Run, root: Path, sandbox: Sandbox) -> None:
    """As long as nothing is deleted."""
    assert file(path="/world/", state="directory")["changed"] and (root / "world").is_dir()
    assert file(path="/world/a", content="text")["changed"] and (root / "world" / "a").read_text() == "text"
    assert not file(path="world/a", content="text")["changed"]
    sandbox.clear_journal()
    assert "write 'world/a'" in file(path="/world/a", state="absent")["msg"] and sandbox.journal() == []


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize(
    ("route", "options"),
    [
        ("files.delete", {"path": "there", "state": "absent"}),
        ("files.directory", {"path": "new", "state": "directory"}),
        ("files.write", {"path": "new", "content": "x"}),
    ],
)
def test_an_answer_that_is_lost(
    *, route: str, options: dict[str, Any], when: str, file: Run, root: Path, sandbox: Sandbox
) -> None:
    (root / "there").mkdir()
    sandbox.fault(route, "reset", when=when)
    result = file(**options)
    assert "failed" not in result and result["changed"], result
    assert (root / options["path"]).exists() is (route != "files.delete")
    assert not file(**options)["changed"]


def test_a_service_without_file_manager(file: Run, sandbox: Sandbox, root: Path) -> None:
    service = sandbox.api("GET", "/api/resources").json()["items"][0]
    sandbox.operator(f"services/{service['id']}", status="FAILED", reason="no disk")
    result = file(path="a", content="x")
    assert "does not offer 'files'" in result["msg"] and "FAILED" in result["msg"]
    assert not sandbox.journal("files.list")


def test_recursion_does_not_follow_links(file_info: Run, root: Path) -> None:
    (root / "a").mkdir()
    (root / "a" / "loop").symlink_to("..")
    found = file_info(recurse=True)["files"]
    assert [entry["path"] for entry in found] == ["a", "a/loop"]


def test_content_that_cannot_be_read(file_info: Run, root: Path) -> None:
    (root / "blob").write_bytes(b"\0\xff")
    (root / "large").write_bytes(b"x" * (2 * 1024 * 1024 + 1))
    assert "sftp_sync" in file_info(path="blob", content=True)["msg"]
    message = file_info(path="large", content=True)["msg"]
    assert "2097153" in message and "sftp_sync" in message


# --- A reader that shows something else than the file -------------------------------------------------------


def test_no_content_is_returned_that_is_not_the_file(
    file_info: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "a").write_text("whole")
    monkeypatch.setattr(Client, "read_file", lambda *_given: "who")
    result = file_info(path="a", content=True)
    assert result["failed"] and "is not the whole file" in result["msg"] and "sftp_sync" in result["msg"]


def test_a_text_with_a_nul_byte_is_called_that(file: Run, sandbox: Sandbox) -> None:
    message = file(path="a", content="a\0b")["msg"]
    assert message.startswith("content contains a NUL byte, which the file manager does not take; ")
    assert not [line for line in sandbox.journal() if line["method"] != "GET"]


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


def test_a_file_that_grows_while_it_is_read_is_whole(
    file_info: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "log").write_text("one\n")
    read = Client.read_file

    def after_another_line(self: Client, id: str, path: str) -> str:
        (root / "log").write_text("one\ntwo\n")
        return read(self, id, path)

    monkeypatch.setattr(Client, "read_file", after_another_line)
    assert file_info(path="log", content=True)["files"][0]["content"] == "one\ntwo\n"


def test_what_looks_like_the_wanted_text_is_replaced(file: Run, root: Path) -> None:
    for there, wanted in [(b"a\r\nb", "a\nb"), (b"a\xffb", "a\ufffdb")]:
        (root / "a").write_bytes(there)
        assert file(path="a", content=wanted)["changed"]
        assert (root / "a").read_bytes() == wanted.encode()
        assert not file(path="a", content=wanted)["changed"]


# --- What else a platform may do that the specification does not show -------------------------------------


def test_a_root_that_cannot_be_listed_is_no_empty_one(file: Run, root: Path, sandbox: Sandbox) -> None:
    """Nothing is taken for absent where the list itself is refused."""
    (root / "ops.txt").write_text("alice")
    sandbox.fault("files.list", "status", status=404, count=None)
    result = file(path="ops.txt", state="absent")
    assert result["failed"] and not result["changed"] and (root / "ops.txt").exists()


@pytest.mark.parametrize("folder", ["conf", "link"])
@pytest.mark.parametrize(
    "given", [{"state": "absent"}, {"content": ""}, {"state": "renamed", "new_name": "b.txt"}]
)
def test_a_directory_that_cannot_be_listed_hides_its_files(
    file: Run, root: Path, sandbox: Sandbox, given: dict[str, Any], folder: str
) -> None:
    """The root shows it, so its file is not taken for absent: it is neither removed nor emptied."""
    (root / "conf").mkdir()
    (root / "conf" / "a.txt").write_text("alice")
    (root / "link").symlink_to("conf")
    sandbox.fault("files.list", "status", status=404, nth=2, count=1)
    for check_mode in (True, False):
        result = file(path=f"{folder}/a.txt", check_mode=check_mode, **given)
        assert result["failed"] and not result["changed"] and "refused (404)" in result["msg"]
        sandbox.fault("files.list", "status", status=404, nth=2, count=1)
    assert sandbox.writes() == [] and (root / "conf" / "a.txt").read_text() == "alice"


def test_a_platform_that_stores_something_else_is_told(
    file: Run, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every run writes such a file again, and says so."""
    write = Client.write_file

    def write_unix(client: Client, id: str, path: str, content: str) -> None:
        write(client, id, path, content.replace("\r\n", "\n"))

    monkeypatch.setattr(Client, "write_file", write_unix)
    for _run in range(2):
        result = file(path="dos", content="a\r\nb\r\n")
        assert result["changed"] and (root / "dos").read_bytes() == b"a\nb\n"
        assert "has 4 bytes though 6 were written" in result["warnings"][0]


def test_a_name_that_looks_the_same_is_not_taken_for_another(file: Run, root: Path, sandbox: Sandbox) -> None:
    """Nothing is written beside it, and nothing is removed in its place."""
    composed, decomposed = "caf\xe9/men\xfc.txt", "cafe\u0301/menu\u0308.txt"
    assert file(path=decomposed, content="x")["changed"]
    sandbox.clear_journal()
    for options in ({"content": "y"}, {"state": "absent"}, {"state": "directory"}):
        refused = file(path=composed, **options)
        assert refused["failed"] and "looks the same" in refused["msg"], refused
        assert not refused["changed"]
    assert sandbox.writes() == []


def test_a_space_in_a_path_is_read_by_every_server(file: Run, file_info: Run, root: Path) -> None:
    (root / "a b").mkdir()
    (root / "a b" / "c+d %41.txt").write_text("x")
    assert file_info(path="a b/c+d %41.txt", content=True)["files"][0]["content"] == "x"
    assert not file(path="a b/c+d %41.txt", content="x")["changed"]


def test_a_directory_that_shows_late_what_was_done_is_waited_for(
    file: Run, root: Path, sandbox: Sandbox
) -> None:
    """The next task is right at once, and nothing is sent twice."""
    sandbox.profile("plain", **{"delay": "a second late"})
    tasks: list[dict[str, Any]] = [
        {"path": "a/b.txt", "content": "one"},
        {"path": "a/b.txt", "content": "three"},
        {"path": "a/b.txt", "state": "renamed", "new_name": "c.txt"},
        {"path": "a/d", "state": "directory"},
        {"path": "a/c.txt", "state": "absent"},
    ]
    for task in tasks:
        results = [file(**task) for _run in range(2)]
        assert [result["changed"] for result in results] == [True, False], results
        assert not any(result.get("failed") or result.get("warnings") for result in results), results
    assert sorted(path.name for path in root.rglob("*")) == ["a", "d"]
    sent = [line["route"] for line in sandbox.journal() if line["method"] != "GET"]
    assert sent == [
        *("files.directory", "files.write", "files.write", "files.rename"),
        *("files.directory", "files.delete"),
    ]
