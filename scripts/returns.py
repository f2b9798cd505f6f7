# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write what several modules return, plugins/doc_fragments/returns.yml, into their documentation."""

from __future__ import annotations

import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

import yaml

PLUGINS = Path(__file__).resolve().parent.parent / "plugins"
BLOCK = re.compile(r"^( *)# generated: (\w+)(.*)\n(?:.*\n)*?\1# generated end$", re.MULTILINE)


@cache
def shapes() -> dict[str, dict[str, str]]:
    """Return the fields of each shape."""
    return dict(yaml.safe_load((PLUGINS / "doc_fragments" / "returns.yml").read_text(encoding="utf-8")))


def documented(line: str) -> dict[str, Any]:
    """Return a field as RETURN has it."""
    if " | " not in line:
        shape, _dot, name = line.partition(".")
        return documented(shapes()[shape][name])
    kind, description, *sample = line.split(" | ")
    outer, _of, inner = kind.partition(" of ")
    field: dict[str, Any] = {"description": description, "type": outer}
    if outer == "list":
        field["elements"] = "dict" if inner in shapes() else inner
    if sample:
        field["sample"] = yaml.safe_load(sample[0])
    if inner in shapes():
        field["contains"] = {name: documented(line) for name, line in shapes()[inner].items()}
    return field


def sample_of(shape: str) -> dict[str, Any]:
    """Return a sample of all fields of a shape, null where a field has none."""
    fields = {name: documented(line) for name, line in shapes()[shape].items()}
    inner = {name: line.split(" | ")[0].rpartition(" of ")[2] for name, line in shapes()[shape].items()}
    return {
        name: sample_of(inner[name]) if field["type"] == "dict" else field.get("sample")
        for name, field in fields.items()
    }


def block(found: re.Match[str]) -> str:
    """Return a block with the fields that it names, with a sample, or with all fields of its shape."""
    indent, name, chosen = found.groups()
    if chosen == " sample":
        sample = {"sample": sample_of(name)}
        text = yaml.safe_dump(sample, sort_keys=False, default_flow_style=None, width=90)
        return textwrap.indent(f"# generated: {name}{chosen}\n{text}# generated end", indent)
    fields = {each: documented(shapes()[name][each]) for each in chosen.split() or shapes()[name]}
    if not indent:
        fields = {each: {**field, "returned": "success"} for each, field in fields.items()}
    text = yaml.safe_dump(fields, sort_keys=False, allow_unicode=True, width=110 - len(indent))
    return textwrap.indent(f"# generated: {name}{chosen}\n{text}# generated end", indent)


def renewed() -> dict[Path, str]:
    """Return the documentation of each module as it should be."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted((PLUGINS / "modules").glob("*.py"))}
    return {path: BLOCK.sub(block, text) for path, text in texts.items()}


if __name__ == "__main__":
    for path, text in renewed().items():
        path.write_text(text, encoding="utf-8")
