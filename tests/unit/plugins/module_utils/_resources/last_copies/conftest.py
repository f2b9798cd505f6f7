# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tasks that delete with a last copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._resources.service import SERVICE
from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import run

Delete = Callable[..., dict[str, Any]]


@pytest.fixture
def delete(sandbox: Sandbox, key_file: Path, tmp_path: Path) -> Delete:
    """Delete a service by name, and keep a copy in ``keep``."""
    public = key_file.with_suffix(".pub").read_text().strip()
    sandbox.api("POST", "/api/users/me/ssh-keys", {"name": "deploy", "publicKey": public})
    sandbox.clear_journal()
    given = {
        "keep_copy": str(tmp_path / "keep"),
        "private_key_file": str(key_file),
        "known_hosts": str(tmp_path / "known_hosts"),
        "state": "absent",
    }

    def delete(name: str, check_mode: bool = False, **options: Any) -> dict[str, Any]:
        return run(sandbox, SERVICE, check_mode, name=name, **{**given, **options})

    return delete
