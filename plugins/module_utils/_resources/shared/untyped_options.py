# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Options of resources that do not declare theirs with types yet. Remove this when all of them do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, make_dataclass
from typing import Any

from .options import Options, StateDirOptions, WaitOptions, option


@dataclass(frozen=True, kw_only=True)
class UntypedOptions(Options):
    """The options of a resource whose types nobody wrote down."""


@dataclass(frozen=True, kw_only=True)
class UntypedWaitOptions(UntypedOptions, WaitOptions):
    """The same with the options of waiting."""


def untyped_options(resource: Any) -> type[Options]:
    """Return a class for the options of a resource that gives them in Ansible's form."""
    spec: Mapping[str, Mapping[str, Any]] = resource.options
    secrets = resource.secret_options
    bases: list[type[Options]] = [UntypedWaitOptions if resource.waits else UntypedOptions]
    if "state_dir" in spec:
        bases.append(StateDirOptions)
    return make_dataclass(
        f"{resource.__name__}Options",
        [
            (
                name,
                Any,
                option(entry.get("default"), secret=name in secrets, no_log=bool(entry.get("no_log"))),
            )
            for name, entry in spec.items()
        ],
        bases=tuple(bases),
        frozen=True,
        kw_only=True,
    )
