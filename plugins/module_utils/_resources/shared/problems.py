# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that the rules of the platform raise before, between and after calls."""

from __future__ import annotations

from ..._api.errors import HostedError


class Invalid(HostedError):
    """A wish that a rule of the platform, or of the user, forbids. Nothing was changed for it."""


class Missing(HostedError):
    """Something that the user named is not there."""


class Ambiguous(HostedError):
    """More than one thing answers to what the user named."""


class OutcomeUnknown(HostedError):
    """A call may have had an effect, and the platform's lists do not tell."""


class WaitEnded(HostedError):
    """What was waited for did not come, or cannot come any more."""
