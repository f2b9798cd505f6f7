# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""YAML that Ansible reads back as it is: nothing in it is a template, or turns around what is read."""

from __future__ import annotations

import re
from typing import Any

from ..._api.libraries import yaml

UNSAFE_TAG = "!unsafe"
"""Marks text in which nothing is a template."""
TEMPLATE = re.compile(r"\{[{%#]")
"""Matches where Jinja takes over."""


class InOneLine(dict[str, Any]):
    """A mapping that is written in one line, as in ``{cpu_cores: 1, ram_gb: 2}``."""


def is_template(text: str) -> bool:
    """Tell whether a text may hold a template."""
    return TEMPLATE.search(text) is not None


def as_yaml(data: Any) -> str:
    """Return data as YAML, in the order that it has, with each value in one line."""

    class Dumper(yaml.SafeDumper):
        """The dumper of this text. The class is made here because the library may be missing on import."""

    Dumper.add_representer(
        InOneLine,
        lambda dumper, value: dumper.represent_mapping("tag:yaml.org,2002:map", value, flow_style=True),
    )
    Dumper.add_representer(str, represent_text)
    text: str = yaml.dump(data, Dumper=Dumper, sort_keys=False, allow_unicode=True, width=float("inf"))
    return "".join(char if is_plain(char) else f"\\U{ord(char):08x}" for char in text)


def represent_text(dumper: Any, text: str) -> Any:
    """Return a text as YAML that reads back as it is: templates are marked, odd characters escaped."""
    style = None if all(map(is_plain, text)) else '"'
    if is_template(text):
        return dumper.represent_scalar(UNSAFE_TAG, text, style=style or "'")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def is_plain(char: str) -> bool:
    """Tell whether a character stands in a file as it is."""
    return char.isprintable() or char == "\n"
