# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of the platform. The API layer decides on their HTTP status."""

from __future__ import annotations

#: Refusals whose status the specification states (section Errors).
STATED: dict[str, int] = {
    "capability": 400,
    "scale_bounds": 400,
    "scale_shrink": 400,
    "bound_missing": 400,
    "power_signal": 409,
    "no_port": 409,
    "key_present": 409,
    "scan_pending": 422,
    "scan_blocked": 422,
}


class RefusedError(Exception):
    """A call breaks a rule.

    `rule` names it where its status is one of `STATED`, or that of the gap point `refusal.<rule>`; all others
    have one status. `after` is the number of seconds to wait before a retry.
    """

    def __init__(self, message: str, rule: str = "", after: int | None = None) -> None:
        super().__init__(message)
        self.rule = rule
        self.message = message
        self.after = after


class AbsentError(Exception):
    """The object of the call does not exist for this account."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} not found")
        self.message = f"{what} not found"
