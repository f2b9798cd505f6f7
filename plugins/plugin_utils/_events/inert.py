# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes texts of events such that nothing evaluates them, wherever a rulebook hands them on.

ansible-rulebook renders an argument, reads what comes out as a literal of Python, and decrypts it if it is a
vault's. Ansible then splits text into arguments, takes it for a template, and evaluates conditions: all extra
variables are trusted. So the characters that any of them needs become their full-width twins, each by itself,
so that texts stay inert when they are joined.
"""

from __future__ import annotations

import re
from typing import Any

from ...module_utils._api.text import harmless

ACTIVE = re.compile(
    r"""(?P<words>            # kept: "Map (new)", also in a message, calls none of Ansible's plugins
          (?:^|(?<=\w\ )|(?<=\w\ ['"]))(?!(?:lookup|query|q)\ )\w+\ \()
    | [{(]                    # a template or a dictionary; a call
    | [\\]                    # a character that a literal hides
    | =                       # an argument of a module
    | \#(?!\d)                # "#jinja2:", but not "Map #1"
    | \$(?=ANSIBLE_VAULT)""",
    re.VERBOSE,
)
TWIN = 0xFEE0
"""How far the full-width twin of a character of ASCII is."""


def inert(value: Any) -> Any:
    """Return an event, or a part of it, with every text in it such that nothing evaluates it."""
    if isinstance(value, str):
        shown = "".join(char if harmless(char) and char not in "\n\t" else " " for char in value)
        return ACTIVE.sub(lambda found: found["words"] or chr(ord(found[0]) + TWIN), shown)
    if isinstance(value, dict):
        return {key: inert(item) for key, item in value.items()}
    if isinstance(value, list):
        return [inert(item) for item in value]
    return value
