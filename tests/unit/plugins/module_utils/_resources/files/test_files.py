# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths and addresses of files, the file manager, and what a mirror refuses before it changes anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.hosted.services.plugins.module_utils._resources import sftp_sync
from ansible_collections.hosted.services.plugins.module_utils._resources.files.paths import (
    sftp_url,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import PLAYBOOK_FOLDER
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.task_errors import Invalid
from unit.plugins.fakes import options_of

ACCESS = {"host": "node-1.example.com", "port": 2022, "username": "svc-7f3a", "password_set_at": None}
HOST = {
    "ansible_host": "203.0.113.9",
    "ansible_port": "22",
    "ansible_user": "svc",
    "hosted_host": {"id": "n"},
}
URL = "sftp://svc-7f3a@node-1.example.com:2022/"


@pytest.mark.parametrize(
    ("source", "url"),
    [
        (ACCESS, URL),
        ({"sftp": ACCESS, "changed": False}, URL),
        ({"id": "s1", "name": "survival", "host": {"id": "node"}, "sftp": ACCESS}, URL),
        (HOST, "sftp://svc@203.0.113.9:22/"),
        ({**ACCESS, "password": "hidden"}, URL),
        ({**ACCESS, "host": "2001:db8::1"}, "sftp://svc-7f3a@[2001:db8::1]:2022/"),
        ({**ACCESS, "host": "[2001:db8::1]"}, "sftp://svc-7f3a@[2001:db8::1]:2022/"),
        ({**ACCESS, "host": "fe80::1%eth0"}, "sftp://svc-7f3a@[fe80::1%25eth0]:2022/"),
        ({**ACCESS, "username": "a b@c:d/e"}, "sftp://a%20b%40c%3Ad%2Fe@node-1.example.com:2022/"),
        ({"host": "node"}, "sftp://node/"),
        ({"host": "node", "port": 65535}, "sftp://node:65535/"),
    ],
)
def test_sources(source: dict[str, Any], url: str) -> None:
    assert sftp_url(source) == url


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1))
def test_a_path_can_be_read_back(path: str) -> None:
    if path.startswith(("//", "/~", "~")) or path == "/" or ".." in unquote(path) or not path.strip():
        return
    parts = urlsplit(sftp_url(ACCESS, path))
    assert (parts.hostname, parts.port, parts.username) == ("node-1.example.com", 2022, "svc-7f3a")
    assert parts.query == parts.fragment == ""
    plain = [name for name in path.split("/") if name not in ("", ".")]
    assert unquote(parts.path).strip("/") == "/".join(plain)


@pytest.mark.parametrize(
    ("source", "path", "words"),
    [
        ({"sftp": None, "name": "cold"}, ".", "service 'cold' has no SFTP access"),
        ({"sftp": None}, ".", "this service has no SFTP access"),
        ({"id": "s1", "family": "GAME"}, ".", "a result of sftp_info"),
        ({"hosted_id": "s1"}, ".", "a result of sftp_info"),
        ("survival", ".", "no SFTP access in a string"),
        ({**ACCESS, "host": "node/../x"}, ".", "'node/../x', which is neither"),
        ({**ACCESS, "host": {"id": "n"}}, ".", "neither a name nor an address"),
        ({**ACCESS, "port": 65536}, ".", "the port is 65536; it must be a number from 1 to 65535"),
        ({**ACCESS, "port": "ssh"}, ".", "the port is 'ssh'"),
        ({**ACCESS, "port": True}, ".", "the port is True"),
        (ACCESS, "/", "write '.'"),
        (ACCESS, "a/../../b", "refuses '..'"),
        (ACCESS, ["a"], "path is a list"),
    ],
)
def test_a_refusal_says_why(source: Any, path: Any, words: str) -> None:
    with pytest.raises(Invalid) as refused:
        sftp_url(source, path)
    assert words in str(refused.value)


@pytest.mark.parametrize("path", ["", "  "])
def test_a_path_that_holds_nothing_is_not_the_root(path: str) -> None:
    """A variable without a value would hand out the whole service."""
    with pytest.raises(Invalid, match="path is"):
        sftp_url(ACCESS, path)


PUSH: dict[str, Any] = {"direction": "push", "src": "/srv/site", "dest": "www"}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a current folder of this test's own."""
    (tmp_path / "home" / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.delenv(PLAYBOOK_FOLDER, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "home"


def check(**given: Any) -> None:
    sftp_sync.check_options(SFTP_SYNC.read_options(options_of(SFTP_SYNC, {**PUSH, **given})))


@pytest.mark.parametrize(
    ("dest", "found"),
    [
        ("/", "is the root of this machine"),
        ("~", "is your home folder"),
        ("~/..", "is above the folder of the playbook"),
        ("playbooks", "is the folder of the playbook"),
        (".", "is the current directory"),
    ],
)
def test_a_pull_deletes_in_no_home_and_no_project(
    dest: str, found: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("playbooks", "here"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv(PLAYBOOK_FOLDER, str(tmp_path / "playbooks"))
    monkeypatch.chdir(tmp_path / "here")
    place = str(tmp_path / dest) if dest == "playbooks" else dest
    with pytest.raises(Invalid, match=f"which {found}"):
        check(direction="pull", src="www", dest=place, delete=True)
    check(direction="pull", src="www", dest=place)
    check(direction="pull", src="www", dest=str(home / "copy"), delete=True)
