# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The connection that options describe, the token wherever it is, and whose account it is of."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from ..._api.client import Client
from ..._api.connection import TOKEN, Connection, fault_of_token
from ..._api.errors import ConfigurationError, HostedError
from .options import Options
from .store import Kind, Record, records_folder, state_key
from .task_errors import Invalid

VAULT = b"$ANSIBLE_VAULT"
"""The first bytes of a file that is encrypted with ansible-vault."""
HINT_SECONDS = 5.0
"""Seconds for asking whose account a token is of, where nothing depends on it."""
OWNERS = Kind("owners", str, "whose account a token is of", hint=True)


def connection(given: Options, caller: str = "") -> Connection:
    """Return the connection that options describe. ``caller`` is the name of the module or plugin."""
    token, file = given.token, given.token_file
    if not given.base_url:
        raise ConfigurationError("base_url is not set; set it, or HOSTED_SERVICES_URL in the environment")
    if token is None and file is None:
        raise ConfigurationError("token is not set; set token, token_file or HOSTED_SERVICES_TOKEN")
    return Connection(
        base_url=given.base_url.rstrip("\r\n"),
        token=token_in_file(str(file)) if token is None else token.rstrip("\r\n"),
        auth_header=given.auth_header,
        auth_scheme=given.auth_scheme,
        validate_certs=given.validate_certs,
        ca_path=given.ca_path,
        timeout=given.timeout,
        retries=given.retries,
        allow_http_hosts=tuple(given.allow_http_hosts),
        caller=caller,
    )


def with_selected_token(options: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``options`` without the token, which may be another account's, if the task names a file."""
    by_file = given.get("token_file") is not None and given.get("token") is None
    return {**options, "token": None} if by_file else dict(options)


def token_in_file(token_file: str) -> str:
    """Return the token in a file, without the line break at its end."""
    path = os.path.expanduser(token_file)
    if is_encrypted(path):
        raise ConfigurationError(
            f"token_file {token_file!r} is encrypted with ansible-vault, and only the controller can decrypt "
            "it; this task runs as a module elsewhere, so give it the token itself in token"
        )
    try:
        with open(path, encoding="utf-8") as file:
            token = file.read().strip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"token_file {token_file!r} cannot be read: {error}") from None
    if not TOKEN.fullmatch(token):
        raise ConfigurationError(f"token_file {token_file!r}: {fault_of_token(token)}")
    return token


def is_encrypted(path: str) -> bool:
    """Tell whether a file is encrypted with ansible-vault. False if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(len(VAULT)) == VAULT
    except OSError:
        return False


def owner_of(email: str | None) -> str:
    """Return a hash of whom an account belongs to; empty if the platform does not tell."""
    return hashlib.sha256(email.encode()).hexdigest()[:32] if email else ""


def account_of(client: Client, *, hint: bool = False) -> str:
    """Return what names the account of a token in records, the same for each of its tokens. It is kept.

    Where it is but a ``hint``, a token whose account the platform does not tell soon has one of its own.
    """
    record = Record(OWNERS, os.path.join(records_folder(OWNERS.folder), f"{client.account_key}.json"))
    known = record.read()
    if not known:
        try:
            email = client.whoami(seconds=HINT_SECONDS if hint else None).email
        except HostedError:
            if hint:
                return str(client.account_key)
            raise
        known = state_key(client.connection.base_url, email or client.account_key)
        with suppress(Invalid):
            record.write(known)
    return known
