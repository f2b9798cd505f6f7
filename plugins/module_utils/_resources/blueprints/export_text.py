# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes an exported project as the text of a file, with comments on what the platform does not show."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from ..._api.libraries import yaml
from ..services.listing import printable_only
from .export import Export, Exported
from .rendering import UNSAFE_TAG, is_template
from .schema import SCHEMA_URL

HEADER = """\
# yaml-language-server: $schema={schema}
# Written by hosted.services.blueprint_info. The platform does not show, and so this file lacks:
# - values of environments, which hosted.services.blueprint leaves alone without them
# - variables and options of orders, which a new order may need
"""


class InOneLine(dict[str, Any]):
    """A mapping that is written in one line, as in ``{cpu_cores: 1, ram_gb: 2}``."""


def export_text(export: Export) -> str:
    """Return the text of a blueprint. The same project gives the same text."""
    text = HEADER.format(schema=SCHEMA_URL) + comments(f"- {remark}" for remark in export.remarks)
    text += as_yaml({"project": export.project})
    for name, entries in export.sections.items():
        text += f"{name}:\n" + "".join(textwrap.indent(entry_text(entry), "  ") for entry in entries)
    return text


def entry_text(entry: Exported) -> str:
    """Return an entry with its remarks above its values, so that a value in one needs no moving."""
    values = {
        name: InOneLine(value) if isinstance(value, dict) else value for name, value in entry.values.items()
    }
    text, remarks = as_yaml({entry.key: values}), comments(entry.remarks)
    if not values:
        return remarks + text
    first, rest = text.split("\n", 1)
    return f"{first}\n{textwrap.indent(remarks, '  ')}{rest}"


def comments(lines: Iterable[str]) -> str:
    """Return a comment of a line each. Nothing that the platform says can end one."""
    return "".join(f"# {printable_only(line)}\n" for line in lines)


def as_yaml(data: dict[str, Any]) -> str:
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
    """Return a text as YAML. One that looks like a template is marked, so that it reads back as it is.

    So does one that turns around what is read, or has one of YAML's rarer line breaks: it is escaped.
    """
    style = None if all(map(is_plain, text)) else '"'
    if is_template(text):
        return dumper.represent_scalar(UNSAFE_TAG, text, style=style or "'")
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


def is_plain(char: str) -> bool:
    """Tell whether a character stands in a file as it is."""
    return char.isprintable() or char == "\n"
