# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read what only the controller can read in a file that ``src`` names, as Ansible reads files of variables.

Text that is marked as a template is rendered once, with the variables of the task. Text that came out of that
is never rendered again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import yaml
from ansible.errors import AnsibleUndefinedVariable
from ansible.module_utils.parsing.convert_bool import boolean
from ansible.parsing.dataloader import DataLoader
from ansible.template import trust_as_template
from jinja2 import Environment, TemplateSyntaxError, nodes

from ...module_utils._api.errors import ConfigurationError
from ...module_utils._resources.blueprints.document import (
    SECRET_KEYS,
    Answer,
    Rendered,
    Unread,
    parse_document,
    read_text,
)
from ...module_utils._resources.shared.connecting import is_encrypted
from ...module_utils._resources.shared.plan import Resource
from ...module_utils._resources.shared.task_errors import NoSuchItem
from .values import untagged, with_decrypted

Template = Callable[[Any], Any]

OPTION = "_rendered"
"""The option that carries what was read to the resource, wherever it runs."""
LOOKUPS = "allow_lookups"
"""The option of a resource that only looks: without it, the text of a file runs nothing."""
RUNS_CODE = (
    "its template runs a lookup, or calls what may run something, so it was not rendered. Set allow_lookups "
    "if you trust the file as you trust a playbook"
)
KEY = "value"
UNDEFINED = re.compile(r"'(?P<name>[^'{}\s]+)' is undefined|has no attribute '?(?P<attribute>[^'{}\s]+?)'?$")
SYNTAX = re.compile(r"^Syntax error in template: (.*)")


def read_source(
    resource: Resource, arguments: Mapping[str, Any], loader: DataLoader, template: Template
) -> dict[str, Any]:
    """Return what only the controller can read of the file in ``src``, as the option that carries it.

    Nothing if the file holds no such thing. One that cannot be read is left to the resource.
    """
    source = arguments.get("src")
    if not isinstance(source, str) or not source:
        return {}
    path = os.path.expanduser(os.path.expandvars(source))
    try:
        encrypted = is_encrypted(path)
        text = with_decrypted("src", path, loader, read_exactly) if encrypted else read_text(path)
    except ValueError:
        raise ConfigurationError(f"src {path!r} holds no text once it is decrypted") from None
    except NoSuchItem:
        return {}
    rendered = Rendered(text, encrypted)
    runs_lookups = LOOKUPS not in resource.options or boolean(arguments.get(LOOKUPS, False), strict=False)

    def read(unread: Unread) -> Answer:
        how = {"may_quote": not encrypted, "runs_lookups": runs_lookups}
        answer = decrypt(unread, loader) if unread.encrypted else render(unread, template, **how)
        return rendered.add(unread, answer)

    with suppress(yaml.YAMLError, RecursionError):  # which the resource says, with the place
        parse_document(text, path, read)
    return {OPTION: asdict(rendered)} if encrypted or rendered.answers else {}


def decrypt(unread: Unread, loader: DataLoader) -> Answer:
    """Return what was encrypted. It is never rendered."""
    lines = "\n".join(line.strip() for line in unread.text.strip().splitlines())
    # Ansible decrypts files for plugins, not text.
    with NamedTemporaryFile("w", encoding="utf-8") as file:
        file.write(lines)
        file.flush()
        with suppress(ConfigurationError, ValueError):
            if is_encrypted(file.name):
                return Answer(with_decrypted("src", file.name, loader, read_exactly))
    return Answer(problem="!vault cannot be decrypted; give ansible the password that it was encrypted with")


def render(unread: Unread, template: Template, *, may_quote: bool, runs_lookups: bool) -> Answer:
    """Return what a template gives, or why it gives nothing. ``may_quote`` lets the reason quote the file."""
    try:
        if not runs_lookups and runs_code(unread.text):
            return Answer(problem=RUNS_CODE)
        # Only a dictionary can show that a value is left out: by itself it would be an error.
        found = untagged(template({KEY: trust_as_template(unread.text)}))
    except AnsibleUndefinedVariable as error:
        return Answer(problem=describe_undefined(str(error)))
    except Exception as error:  # a filter or a lookup may raise anything
        quotes = may_quote and not set(SECRET_KEYS).intersection(unread.path)
        return Answer(problem=describe_failure(error, quotes))
    return Answer(found[KEY]) if KEY in found else Answer(omitted=True)


def read_exactly(path: str) -> str:
    """Return the text of a file with its line breaks as they are."""
    return Path(path).read_bytes().decode()


def describe_undefined(said: str) -> str:
    """Return which variable is undefined. Ansible's own text may quote others, and so secrets."""
    found = UNDEFINED.search(said.strip())
    name = found and (found["name"] or found["attribute"])
    if not name:
        return "its template names a variable that is undefined"
    return f"its template needs {name!r}, which is undefined"


def describe_failure(error: Exception, quotes: bool) -> str:
    """Return why a template could not be rendered: where it is wrong by itself, or the kind of error."""
    if quotes and isinstance(error, TemplateSyntaxError):
        return f"its template is wrong: {error.message}"
    found = SYNTAX.search(str(error)) if quotes else None
    if found:
        return f"its template is wrong: {found[1]}"
    cause = error.__cause__ or error
    return f"its template cannot be rendered ({type(cause).__name__})"


# --- What a template would run: a file that is only compared may be somebody else's ------------------------

PARSER = Environment(extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols"], autoescape=True)
"""Only parses. It needs no filter or test of Ansible for that."""
HEADER = "#jinja2:"
"""With this at its beginning, a template has other delimiters than the parser looks for."""
LOOKUP_FUNCTIONS = {"lookup", "query", "q"}
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
        return node.name in LOOKUP_FUNCTIONS
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
