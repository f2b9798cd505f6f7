# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Errors that a task raises by itself, before, between and after its calls.

Those of a single call are in :mod:`_api.errors`.
"""

from __future__ import annotations

from ..._api.errors import HostedError


class Invalid(HostedError):
    """A request that a rule of the platform, or of the user, forbids. Nothing was changed for it."""


class NoSuchItem(HostedError):
    """Something that the user named is not there. A call answered with 404 is a ``NotFoundResponse``."""


class Ambiguous(HostedError):
    """More than one thing matches what the user named."""


class EffectUnverified(HostedError):
    """A call ended in ``CallOutcomeUnknown``, and the lists of the platform do not tell its effect either."""

    effect_unknown = True


class WaitEnded(HostedError):
    """What was waited for did not come, or cannot come any more."""
