# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Keeping what the platform shows only once: on disk before anything else can fail."""

from __future__ import annotations

import json
import os
import tempfile
import time
from typing import Any

from .controller_state import collection_folder
from .plan import Task
from .problems import Invalid

FOLDER = "secrets"


def default_path(id: str) -> str:
    """Return where secrets go that the user named no place for."""
    return os.path.join(collection_folder(FOLDER), f"{os.path.basename(id)}.json")


def check_destination(path: str | None, option: str = "secrets_dest") -> None:
    """Check that the file can be written, before there is anything to lose.

    :raises Invalid: when its folder is missing or closed to us, or a folder stands in its place.
    """
    if path is None:
        return
    folder = os.path.dirname(os.path.abspath(path))
    if os.path.isdir(path):
        raise Invalid(f"{option} {path!r} is a directory; name a file")
    if not os.path.isdir(folder):
        raise Invalid(f"the directory of {option}, {folder!r}, does not exist; create it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Invalid(f"the directory of {option}, {folder!r}, cannot be written to")


def keep(task: Task, id: str, content: dict[str, Any], labels: str) -> None:
    """Write secrets to ``secrets_dest``, and put them into the result where the user asked for that.

    Where the user asked for neither they go to a file of their own, since they cannot be read again. Where
    no file can be written they go into the result after all: shown is better than lost.
    """
    options = task.options
    if options["return_secrets"]:
        task.facts["secrets"] = content
    path = options["secrets_dest"] or (None if options["return_secrets"] else default_path(id))
    if path is None:
        return
    try:
        if not options["secrets_dest"]:
            os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
            task.warn(f"{labels} can be read only once; kept in {path}. Set secrets_dest to choose the place")
        write_private(path, content)
        task.facts["secrets_file"] = path
    except OSError as error:
        task.facts["secrets"] = content
        task.warn(
            f"{labels} could not be written to {path}: {error}. They are in this result, and only there"
        )


def write_private(path: str, content: dict[str, Any]) -> None:
    """Write JSON for the owner alone, whole or not at all. A file that is there is put aside."""
    folder = os.path.dirname(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(dir=folder)  # created with mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2, ensure_ascii=False)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(path):
            os.replace(path, f"{path}.{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}.{os.getpid()}~")
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
