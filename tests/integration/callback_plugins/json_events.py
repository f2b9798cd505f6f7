# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes every event of a run to a file as JSON, as C(ansible.posix.json) and log shippers do with theirs."""

from __future__ import annotations

import json
import os
from typing import Any

from ansible.parsing.ajson import AnsibleJSONEncoder
from ansible.plugins.callback import CallbackBase

DOCUMENTATION = r"""
name: json_events
type: aggregate
short_description: Write every event to a file as JSON
description:
  - Appends whatever Ansible tells its callbacks, with Ansible's own encoder, to the file that E(JSON_EVENTS)
    names; one event a line.
"""


ENCODER: Any = AnsibleJSONEncoder


class CallbackModule(CallbackBase):
    """Notes results whole, and plays and tasks as they were written."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "json_events"
    CALLBACK_NEEDS_ENABLED = True

    def v2_on_any(self, *args: Any, **kwargs: Any) -> None:
        event = [described(thing) for thing in [*args, *kwargs.values()]]
        with open(os.environ["JSON_EVENTS"], "a", encoding="utf-8") as file:
            file.write(json.dumps(event, cls=ENCODER, sort_keys=True) + "\n")


def described(thing: Any) -> Any:
    """Return what an event is about, as data.

    Of the task of a result not the arguments: Ansible itself has filled them in there, secrets and all.
    """
    if hasattr(thing, "task_name"):
        return {"host": thing.host.get_name(), "task": thing.task.get_name(), "result": thing.result}
    if hasattr(thing, "args") and hasattr(thing, "action"):
        about = {"name": thing.get_name(), "action": thing.action, "path": thing.get_path()}
        return about | {"args": thing.args, "vars": thing.vars, "environment": thing.environment}
    if hasattr(thing, "get_vars") and hasattr(thing, "hosts"):
        return {"play": thing.get_name(), "vars": thing.get_vars()}
    if hasattr(thing, "processed"):
        return {"hosts": [thing.summarize(host) for host in thing.processed], "custom": thing.custom}
    return str(thing)
