# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Relative paths of this machine, resolved once for both ways of running a task.

A file to read is looked for as ``ansible.builtin.copy`` looks for its source: in the folder ``files`` of the
role, in the role, then in ``files`` next to the playbook and in the folder of the playbook. A file to write
is relative to the folder of the playbook.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from ansible.errors import AnsibleFileNotFound

from ansible_collections.hosted.services.plugins.module_utils._resources.shared.plan import Resource

FILES = "files"
"""The folder of a role or playbook for the files that it contains."""


def with_absolute_paths(
    resource: Resource, arguments: Mapping[str, Any], find: Callable[[str, str], str], folder: str
) -> dict[str, Any]:
    """Return the arguments of a task with absolute paths in place of relative ones.

    ``find`` looks for a file to read, given the name of a folder and the path. What it does not find is left
    to the resource to complain about, as a path in ``folder``, which is that of the playbook.
    """
    resolved = dict(arguments)
    for name, may_be_brought in resource.local_paths(arguments).items():
        value = arguments.get(name)
        path = os.path.expandvars(value) if isinstance(value, str) and name in resource.paths else value
        if not isinstance(path, str) or not path or path.startswith(("/", "~")):
            continue
        resolved[name] = os.path.join(folder, path)
        if may_be_brought:
            with suppress(AnsibleFileNotFound):
                resolved[name] = os.path.abspath(find(FILES, path))
    return resolved
