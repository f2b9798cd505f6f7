# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whose account a token is of, in a form that files may keep (Authentication)."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress

from ..._api.client import Client
from .store import Kind, Record, records_folder, state_key
from .task_errors import Invalid

OWNERS = Kind("owners", str, "whose account a token is of", hint=True)


def owner_of(email: str | None) -> str:
    """Return a hash of whom an account belongs to; empty if the platform does not tell."""
    return hashlib.sha256(email.encode()).hexdigest()[:32] if email else ""


def account_of(client: Client, seconds: float | None = None) -> str:
    """Return what names the account of a token in records, the same for each of its tokens.

    It is asked for once, and kept: a token is of one account.

    :param seconds: the deadline of the call, if it is not the connection's.
    :raises HostedError: if the platform does not tell.
    """
    record = Record(OWNERS, os.path.join(records_folder(OWNERS.folder), f"{client.account_key}.json"))
    known = record.read()
    if not known:
        email = client.whoami(seconds=seconds).email
        known = state_key(client.connection.base_url, email or client.account_key)
        with suppress(Invalid):
            record.write(known)
    return known
