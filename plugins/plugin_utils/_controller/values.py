# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Values and files as Ansible has them: marked with their origin, and encrypted with ansible-vault."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import date, time
from typing import Any, TypeVar

from ansible.errors import AnsibleError
from ansible.parsing.dataloader import DataLoader

from ...module_utils._api.errors import ConfigurationError
from ...module_utils._resources.shared.connecting import is_encrypted, token_in_file

T = TypeVar("T")


def untagged(value: Any) -> Any:
    """Return ``value`` in plain types: Ansible's strings carry their origin, which other libraries refuse."""
    if isinstance(value, dict):
        return {untagged(key): untagged(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [untagged(item) for item in value]
    if isinstance(value, (date, time)):  # as Ansible hands it to a module
        return value.isoformat()
    for plain in (bool, str, int, float):
        if isinstance(value, plain):
            return plain(value) if plain is not str else str.__str__(value)
    return value


def with_token_decrypted(options: Mapping[str, Any], loader: DataLoader) -> dict[str, Any]:
    """Return connection options with the token in the place of its file, where that is encrypted.

    :raises ConfigurationError: when it cannot be decrypted.
    """
    if options.get("token") is not None or not options.get("token_file"):
        return dict(options)
    path = os.path.join(loader.get_basedir(), os.path.expanduser(str(options["token_file"])))
    if not is_encrypted(path):
        return dict(options)
    token = with_decrypted("token_file", path, loader, token_in_file)
    return {**options, "token": token, "token_file": None}


def with_decrypted(option: str, path: str, loader: DataLoader, read: Callable[[str], T]) -> T:
    """Return what ``read`` finds in the decrypted copy of a file, which is gone when this returns."""
    try:
        plain = loader.get_real_file(path)
    except AnsibleError as error:
        raise ConfigurationError(
            f"{option} {path!r} is encrypted with ansible-vault and cannot be decrypted ({error}); "
            "give ansible the password that it was encrypted with"
        ) from None
    try:
        return read(plain)
    finally:
        loader.cleanup_tmp_file(plain)
