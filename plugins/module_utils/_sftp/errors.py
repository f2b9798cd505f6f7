# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The errors of SFTP."""

from __future__ import annotations

from .._api.errors import HostedError


class LoginRefused(HostedError):
    """The server did not accept the key or the password."""


class HostKeyRefused(HostedError):
    """The server's key is not the one that is known, or none is known and none may be accepted."""


class TransferFailed(HostedError):
    """A file or a directory could not be read or written. What was finished before remains."""


class ConnectionBroken(HostedError):
    """The connection to the server could not be made, or was lost."""
