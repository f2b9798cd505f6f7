# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What only the controller can read of a file: by Ansible's own templates and vaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible.parsing.dataloader import DataLoader
from ansible.parsing.vault import VaultLib, VaultSecret
from ansible.template import Templar

from ansible_collections.hosted.services.plugins.module_utils._api.errors import ConfigurationError
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint import BLUEPRINT
from ansible_collections.hosted.services.plugins.plugin_utils._controller.rendered_sources import (
    describe_undefined,
    read_source,
)

PASSWORD: Any = [("default", VaultSecret(b"open sesame"))]
VARIABLES = {"level": "debug", "cores": 2, "names": ["a", "b"]}


@pytest.fixture
def loader() -> DataLoader:
    """A loader with a password."""
    loader = DataLoader()
    loader.set_vault_secrets(PASSWORD)
    return loader


def read(path: Path, loader: DataLoader) -> Any:
    """Return what is read of a file."""
    template = Templar(loader=loader, variables=VARIABLES).template
    return read_source(BLUEPRINT, {"src": str(path)}, loader, template).get("_rendered")


def answers(path: Path, loader: DataLoader, text: str) -> list[Any]:
    """Return the values, or the problems, of what is read of a file."""
    path.write_text(text)
    found = read(path, loader)["answers"].values()
    return [each["problem"] or (None if each["omitted"] else each["value"]) for each in found]


def test_templates_keep_the_type_of_a_variable(tmp_path: Path, loader: DataLoader) -> None:
    text = "a: '{{ level }}'\nb: '{{ cores }}'\nc: '{{ names }}'\nd: 'x {{ level }}'\n"
    found = answers(tmp_path / "shop.yml", loader, text)
    assert found == ["debug", 2, ["a", "b"], "x debug"]
    assert {type(each) for each in found} == {str, int, list}


def test_what_cannot_be_rendered_is_told_without_values(tmp_path: Path, loader: DataLoader) -> None:
    text = "a: '{{ lvel }}'\nb: '{{ 1 + }}'\nc: '{{ 1 // (cores - 2) }}'\nvariables: {d: '{{ hunter2 + }}'}\n"
    undefined, syntax, failed, secret = answers(tmp_path / "shop.yml", loader, text)
    assert undefined == "its template needs 'lvel', which is undefined"
    assert syntax.startswith("its template is wrong: ")
    assert failed.startswith("its template cannot be rendered (")
    assert secret.startswith("its template cannot be rendered (")


@pytest.mark.parametrize("secret", ["hunter2", "two\nlines\n", "{{ level }}", "", "5"])
def test_a_value_is_decrypted_and_no_template(tmp_path: Path, loader: DataLoader, secret: str) -> None:
    lines = VaultLib(PASSWORD).encrypt(secret).decode().splitlines()
    text = "a: !vault |\n" + "".join(f"    {line}\n" for line in lines)
    [found] = answers(tmp_path / "shop.yml", loader, text)
    assert found == secret
    assert type(found) in (str,), "a plain text, without the tags of Ansible"
    loader.set_vault_secrets([])
    [problem] = answers(tmp_path / "shop.yml", loader, text)
    assert problem.startswith("!vault cannot be decrypted; give ansible the password")


def test_a_file_is_decrypted_as_a_whole(tmp_path: Path, loader: DataLoader) -> None:
    path = tmp_path / "shop.yml"
    path.write_bytes(VaultLib(PASSWORD).encrypt("a: 1\nb: '{{ hunter2 + }}'\n"))
    found = read(path, loader)
    assert found["text"].startswith("a: 1\n")
    assert found["encrypted"]
    [answer] = found["answers"].values()
    assert answer["problem"].startswith("its template cannot be rendered ("), "and nothing of it is quoted"
    assert "hunter2" not in str(found["answers"])
    loader.set_vault_secrets([])
    with pytest.raises(ConfigurationError, match=r"src '.*' is encrypted with ansible-vault and cannot be"):
        read(path, loader)


def test_an_encrypted_file_without_text(tmp_path: Path, loader: DataLoader) -> None:
    path = tmp_path / "shop.yml"
    path.write_bytes(VaultLib(PASSWORD).encrypt(b"\xff\xfe"))
    with pytest.raises(ConfigurationError, match="holds no text"):
        read(path, loader)


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("'level' is undefined", "level"),
        ("postgres://u:hunter2@{{ host }}: 'host' is undefined. 'host' is undefined", "host"),
        ("'dict object' has no attribute 'D'. 'dict object' has no attribute 'D'", "D"),
        ("object of type 'dict' has no attribute 'D'", "D"),
        ("hunter2: something else", None),
    ],
)
def test_what_is_undefined_is_named_and_nothing_else(said: str, named: str | None) -> None:
    found = describe_undefined(said)
    assert "hunter2" not in found
    assert (f"needs {named!r}" if named else "names a variable") in found
