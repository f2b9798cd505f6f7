# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a service can be copied now, by its status, and what to do if it cannot.

It loads none of the libraries that copy.
"""

from __future__ import annotations

from ..._api.values import ServiceStatus
from ..shared.task_errors import Invalid
from .view import View

IN_STATUS = {
    ServiceStatus.SUSPENDED: "resume it first (state: resumed)",
    ServiceStatus.FAILED: "it never came to be, so there is nothing to copy: delete it without a copy",
    ServiceStatus.PROVISIONING: "run this again once it is ACTIVE",
    ServiceStatus.AWAITING_ADMIN: "run this again once the platform's operators are done and it is ACTIVE",
}
"""What to do about a service that cannot be copied now, by status."""


def check_active(view: View) -> None:
    """Refuse to copy a service that may not show all that it has.

    :raises Invalid: with its status and what to do.
    """
    status = view.service.status
    if status != ServiceStatus.ACTIVE:
        raise uncopyable(
            view,
            f"its status is {status}, and only an {ServiceStatus.ACTIVE} one shows all that it has",
            IN_STATUS.get(status, f"run this again once it is {ServiceStatus.ACTIVE}"),
        )


def uncopyable(view: View, why: str, way: str) -> Invalid:
    """Return the error for a service that cannot be copied."""
    last = "" if "without a copy" in way else ", then delete it without a copy"
    if way.startswith(("run this again once", "resume")):
        last = ", or delete it without a copy"
    return Invalid(f"keep_copy cannot copy {view.label}: {why}. Nothing was deleted. To go on, {way}{last}")
