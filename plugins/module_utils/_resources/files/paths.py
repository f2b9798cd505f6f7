# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Paths on a service: relative to its root, and never outside it (Files)."""

from __future__ import annotations

from urllib.parse import unquote

from ..shared.task_errors import Invalid


def relative_path(option: str, path: str, *, rooted: bool = True) -> str:
    """Return a normalized path below the root of a service; empty for the root.

    :param rooted: whether a slash may stand for the root. It may not where something is to be deleted: an
        empty variable may have left it.
    :raises Invalid: if the path is absolute, leaves the root, or cannot be a file's.
    """
    if "\0" in path:
        raise Invalid(f"{option} holds a null character, which no file name can")
    below = path[1:] if rooted and path[:1] == "/" and path[1:] else path
    if below.startswith(("/", "~/")) or below == "~":
        plain = path.lstrip("/~") or "."
        raise Invalid(f"{option} is {path!r}; paths are relative to the root of the service: write {plain!r}")
    if ".." in unquote(path).replace("\\", "/").split("/"):  # as a server may read it
        raise Invalid(f"{option} is {path!r}; the platform refuses '..' in a path")
    return "/".join(name for name in path.split("/") if name not in ("", "."))


def is_root(path: str) -> bool:
    """Tell whether a path is the root of a service, however it is written."""
    return path == "~" or set(path.removeprefix("~/").split("/")) <= {"", "."}


def ends_with_empty_variable(path: str) -> bool:
    """Tell whether a path looks like ``folder/{{ name }}`` with an empty variable."""
    return "//" in path or path.endswith(("/", "/."))
