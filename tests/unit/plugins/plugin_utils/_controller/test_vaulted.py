# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Token files that only the controller can read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.plugin_utils._controller.values import with_token_decrypted

PASSWORD: Any = [("default", VaultSecret(b"open sesame"))]
ANOTHER: Any = [("default", VaultSecret(b"another"))]


@pytest.fixture
def loader(tmp_path: Path) -> DataLoader:
    """A loader for a playbook in this folder, with a password."""
    loader = DataLoader()
    loader.set_basedir(str(tmp_path))
    loader.set_vault_secrets(PASSWORD)
    return loader


@pytest.fixture
def encrypted(tmp_path: Path) -> Path:
    """A token file as ansible-vault writes it."""
    path = tmp_path / "token.vault"
    path.write_bytes(VaultLib(PASSWORD).encrypt(b"t0ken\n"))
    return path


@pytest.mark.parametrize("path", ["token.vault", "{}/token.vault"])
def test_the_token_takes_the_place_of_its_file(
    loader: DataLoader, encrypted: Path, tmp_path: Path, path: str
) -> None:
    options = {"token": None, "token_file": path.format(tmp_path), "timeout": 5}
    assert with_token_decrypted(options, loader) == {"token": "t0ken", "token_file": None, "timeout": 5}
    assert options["token"] is None
    assert loader._tempfiles == set() or not any(map(os.path.exists, loader._tempfiles))


@pytest.mark.parametrize(
    "options",
    [
        {"token": "mine", "token_file": "token.vault"},
        {"token": None, "token_file": None},
        {"token_file": "plain"},
        {"token_file": "not there"},
        {},
    ],
)
def test_what_is_not_encrypted_is_left_to_others(
    loader: DataLoader, encrypted: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    (tmp_path / "plain").write_text("t0ken")
    assert with_token_decrypted(options, loader) == options


def test_a_file_that_cannot_be_decrypted_is_told(loader: DataLoader, encrypted: Path) -> None:
    loader.set_vault_secrets(ANOTHER)
    with pytest.raises(ConfigurationError, match="is encrypted with ansible-vault and cannot be decrypted"):
        with_token_decrypted({"token_file": str(encrypted)}, loader)
