# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection that options describe, and the files that tokens are in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.connecting import (
    connection,
    token_in_file,
    with_selected_token,
)
from ansible_collections.hosted.services.plugins.module_utils._resources.shared.options import (
    FilePath,
    Options,
)


def test_a_connection_needs_an_address() -> None:
    with pytest.raises(ConfigurationError, match="base_url is not set"):
        connection(Options(token="tok"))
    with pytest.raises(ConfigurationError, match="token is not set"):
        connection(Options(base_url="https://api.example.com"))


def test_a_file_that_is_named_wins_over_a_token_of_the_environment() -> None:
    options = {"token": "of another account", "token_file": "/tmp/token"}
    assert with_selected_token(options, {"token_file": "/tmp/token"})["token"] is None
    assert with_selected_token(options, {"token": "x", "token_file": "/tmp/token"}) == options
    assert with_selected_token(options, {}) == options


@pytest.mark.parametrize("text", ["tok", "tok\n", "tok\r\n"])
def test_a_token_file_may_end_in_a_line_break(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_bytes(text.encode())
    own = Options(base_url="https://api.example.com", token_file=FilePath(str(path)))
    assert connection(own).token == "tok"
    assert connection(replace(own, token="given\n")).token == "given"


def test_a_token_file_of_something_else_is_refused_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("hunter2\nhunter3\n")
    with pytest.raises(ConfigurationError, match="token has 2 lines") as caught:
        connection(Options(base_url="https://api.example.com", token_file=FilePath(str(path))))
    assert "hunter" not in caught.value.message
    path.write_bytes(b"\xff\xfehunter2")
    with pytest.raises(ConfigurationError, match="cannot be read") as caught:
        token_in_file(str(path))
    assert "hunter" not in caught.value.message
