# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds what a template would run: a file that is only compared may be somebody else's."""

from __future__ import annotations

import re

from jinja2 import Environment, nodes

PARSER = Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"], autoescape=True)
"""Only parses. It needs no filter or test of Ansible for that."""
HEADER = "#jinja2:"
"""With this at its beginning, a template has other delimiters than the parser looks for."""
LOOKUPS = {"lookup", "query", "q"}
FUNCTIONS = {"range", "dict", "namespace", "now"}
METHODS = {name for kind in (str, dict, list) for name in dir(kind)} - {"format", "format_map"}
INNER = re.compile(r"(?:^|\.)_")
"""Matches the name of an attribute that leads into Python, which a setting of Ansible allows."""
FILES = (nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends)


def runs_code(text: str) -> bool:
    """Tell whether a template calls more than functions and methods that only compute, by its own text.

    What the variables that it names do when they are rendered is up to whoever wrote these.

    :raises jinja2.TemplateSyntaxError: if it is no template.
    """
    return text.startswith(HEADER) or any(map(is_active, PARSER.parse(text).find_all(nodes.Node)))


def is_active(node: nodes.Node) -> bool:
    """Tell whether a part of a template, without its own parts, can lead to code or files."""
    if isinstance(node, nodes.Name):
        return node.name in LOOKUPS
    if isinstance(node, nodes.Call):
        called = node.node
        is_known = isinstance(called, nodes.Name) and called.name in FUNCTIONS
        return not is_known and not (isinstance(called, nodes.Getattr) and called.attr in METHODS)
    if isinstance(node, nodes.Getattr):
        return node.attr.startswith("_")
    if isinstance(node, nodes.Filter):
        return node.name == "attr"
    return isinstance(node, FILES) or (
        isinstance(node, nodes.Const) and isinstance(node.value, str) and INNER.search(node.value) is not None
    )
