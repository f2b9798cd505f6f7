# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The folder of the collection is in Ansible's home, and its files are whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.shared import secrets_file
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.store import (
    PLAYBOOK_FOLDER,
    atomic_file,
    records_folder,
    state_key,
)


@pytest.mark.parametrize(
    ("home", "folder"),
    [("/srv/a", "/srv/a"), ("~/a", "/home/me/a"), ("", "/home/me/.ansible"), (None, "/home/me/.ansible")],
)
def test_it_is_in_the_home_of_ansible(home: str | None, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.delenv("ANSIBLE_HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("ANSIBLE_HOME", home)
    assert records_folder("x") == f"{folder}/hosted_services/x"
    assert secrets_file.default_path("svc_1") == f"{folder}/hosted_services/secrets/svc_1.json"


@pytest.mark.parametrize(
    ("own", "folder"),
    [("/srv/b", "/srv/b"), ("~/b", "/home/me/b"), ("b", "/plays/b"), ("", "/srv/a/hosted_services")],
)
def test_the_environment_names_another_folder(own: str, folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"HOME": "/home/me", "ANSIBLE_HOME": "/srv/a", PLAYBOOK_FOLDER: "/plays"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOSTED_SERVICES_HOME", own)
    assert records_folder("x") == f"{folder}/x"
    assert secrets_file.default_path("svc_1") == f"{folder}/secrets/svc_1.json"


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for content in ("first", "second"):
        with atomic_file(str(path)) as file:
            file.write(content)
    with pytest.raises(RuntimeError), atomic_file(str(path)) as file:
        file.write("third")
        raise RuntimeError
    assert path.read_text() == "second"
    assert os.listdir(tmp_path) == ["a.json"]
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://api.example.com", "HTTPS://API.example.com/"),
        ("https://api.example.com", "https://api.example.com:443"),
        ("http://localhost:8080", "http://127.0.0.1:8080"),
    ],
)
def test_one_platform_has_one_key_however_its_address_is_written(one: str, other: str) -> None:
    assert state_key(one, "x") == state_key(other, "x")


@pytest.mark.parametrize(
    "other", ["http://api.example.com", "https://api.example.com:444", "https://api.example.com/v2"]
)
def test_two_platforms_have_two_keys(other: str) -> None:
    assert state_key("https://api.example.com", "x") != state_key(other, "x")
