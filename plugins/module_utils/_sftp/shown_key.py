# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asking an SSH server for its key, without logging in."""

from __future__ import annotations

import asyncio
from typing import Any

from .._api.text import clean
from .errors import ConnectionBroken, HostKeyRefused
from .host_keys import ALGORITHMS, HostKeys, prefer
from .library import asyncssh


def ask_for_key(keys: HostKeys, timeout: float) -> Any:
    """Return the key that a server shows. Of several it is one of the kind that is known, where any is.

    :raises ConnectionBroken: when there is no server, or none that speaks SSH.
    :raises HostKeyRefused: when it shows no key.
    """
    where = f"{keys.host}:{keys.port}"
    algorithms = list(ALGORITHMS)
    prefer(algorithms, keys.matching(keys.names())[0])
    question = asyncssh.get_server_host_key(keys.host, keys.port, config=[], server_host_key_algs=algorithms)
    try:
        key = asyncio.run(asyncio.wait_for(question, timeout))
    except TimeoutError:
        raise ConnectionBroken(f"{where} did not answer within {timeout:g} seconds") from None
    except (asyncssh.Error, OSError) as error:
        reason = clean(str(error)) or type(error).__name__
        raise ConnectionBroken(f"cannot connect to {where}: {reason}") from None
    if key is None:
        raise HostKeyRefused(f"{where} shows no key")
    return key
