# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which arguments are paths of this machine, and what becomes of relative ones."""

from __future__ import annotations

from typing import Any

import pytest
from ansible.errors import AnsibleFileNotFound

from ansible_collections.hosted.services.plugins.module_utils._resources.database_query import DATABASE_QUERY
from ansible_collections.hosted.services.plugins.module_utils._resources.file import FILE
from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from ansible_collections.hosted.services.plugins.module_utils._resources.sftp_sync import SFTP_SYNC
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource
from ansible_collections.hosted.services.plugins.plugin_utils._controller.in_process import (
    with_absolute_paths,
)


def resolved(resource: Resource, **arguments: Any) -> dict[str, Any]:
    """Return the arguments as they are passed on when only what is called there is there."""

    def find(folder: str, path: str) -> str:
        if not path.startswith("there"):
            raise AnsibleFileNotFound(file_name=path)
        return f"/role/{folder}/{path}"

    return with_absolute_paths(resource, arguments, find, "/play")


@pytest.mark.parametrize(
    ("resource", "given", "whole"),
    [
        (FILE, {"src": "there.ini"}, {"src": "/role/files/there.ini"}),
        (FILE, {"src": "gone.ini"}, {"src": "/play/gone.ini"}),
        (FILE, {"src": "/etc/motd"}, {"src": "/etc/motd"}),
        (FILE, {"src": "~/motd"}, {"src": "~/motd"}),
        (FILE, {"src": "$WHERE/x"}, {"src": "/role/files/there/x"}),
        (FILE, {"src": "$ROOT/x"}, {"src": "$ROOT/x"}),  # absolute, once Ansible has read it
        (FILE, {"src": None}, {"src": None}),
        (FILE, {"src": ""}, {"src": ""}),
        (FILE, {"src": ["there"]}, {"src": ["there"]}),
        (FILE, {"path": "there.ini"}, {"path": "there.ini"}),
        (FILE, {"token_file": "there"}, {"token_file": "/role/files/there"}),
        (FILE, {"ca_path": "gone"}, {"ca_path": "/play/gone"}),
        (SERVICE, {"secrets_dest": "there.json"}, {"secrets_dest": "/play/there.json"}),
        (DATABASE_QUERY, {"csv_dest": "there.csv"}, {"csv_dest": "/play/there.csv"}),
        (SFTP_SYNC, {"src": "there", "dest": "there"}, {"src": "/role/files/there", "dest": "there"}),
        (
            SFTP_SYNC,
            {"direction": "pull", "src": "there", "dest": "there/"},
            {"direction": "pull", "src": "there", "dest": "/play/there/"},
        ),
        (SFTP_SYNC, {"src": "$WHERE"}, {"src": "/play/$WHERE"}),
    ],
)  # fmt: skip
def test_relative_paths(
    resource: Resource, given: dict[str, Any], whole: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WHERE", "there")
    monkeypatch.setenv("ROOT", "")
    assert resolved(resource, **given) == whole
