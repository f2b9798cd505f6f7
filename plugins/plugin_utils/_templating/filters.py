# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters: functions of the resources as templates call them, with errors as Ansible wants them."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ansible.errors import AnsibleFilterError

from ...module_utils._api.errors import HostedError


def as_filter(name: str, function: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return ``function`` as the one filter of a plugin."""

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        try:
            return function(*arguments, **keywords)
        except HostedError as error:
            raise AnsibleFilterError(error.message) from None

    return {name: call}
