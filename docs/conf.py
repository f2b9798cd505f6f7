# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""How Sphinx makes the site: `make docs` puts the reference beside the guides and runs it."""

from __future__ import annotations

import zlib
from pathlib import Path

# What the reference mentions of Ansible's own documentation. Named here, so that no network is needed.
ANSIBLE = "https://docs.ansible.com/projects/ansible/latest/"
LABELS = {
    "action_plugins": "plugins/action.html",
    "ansible_configuration_settings": "reference_appendices/config.html",
    "callback_plugins": "plugins/callback.html",
    "common_return_values": "reference_appendices/common_return_values.html",
}


def write_inventory(path: Path) -> None:
    """Write the labels in the form that intersphinx reads, an objects.inv."""
    lines = "".join(f"{label} std:label -1 {page} {label}\n" for label, page in LABELS.items())
    header = b"# Sphinx inventory version 2\n# Project: Ansible\n# Version: \n# zlib\n"
    path.write_bytes(header + zlib.compress(lines.encode()))


# Sphinx runs in a copy of this folder.
INVENTORY = Path(__file__).resolve().with_name("ansible.inv")
write_inventory(INVENTORY)

project = "hosted.services"
author = "the hosted.services contributors"
project_copyright = "2026, the hosted.services contributors"

extensions = ["myst_parser", "sphinx.ext.intersphinx", "sphinx_antsibull_ext", "sphinx_copybutton"]
intersphinx_mapping = {"ansible": (ANSIBLE, str(INVENTORY))}
myst_heading_anchors = 3
exclude_patterns = ["requirements.txt", "awx"]

highlight_language = "yaml"
# An example may hold the platform's own `${db.URL}`, or leave something out with an ellipsis.
suppress_warnings = ["misc.highlighting_failure"]

# A copied command has no prompt, and not what it prints.
copybutton_prompt_text = "$ "

html_theme = "furo"
html_title = "hosted.services"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sphinx = False
