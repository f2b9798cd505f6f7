# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Documentation of what the modules share that make a whole project."""

from __future__ import annotations


class ModuleDocFragment:
    """The fragments of modules that make a whole project."""

    DOCUMENTATION = r"""
options:
  max_parallel:
    description: Maximum number of parts to plan or change at the same time.
    type: int
    default: 16
  secrets_dir:
    description: Folder on the controller for the secrets that the platform generates and shows only once, as
      one file for each service, C(KEY.json), with mode 0600. If not set, C(hosted_services) in Ansible's
      home.
    type: path
"""

    # A blueprint that is read from a file.
    SRC = r"""
options:
  src:
    description:
      - Path of a YAML file with the blueprint. Paths in it are relative to its folder. Templates, Ansible
        Vault, C(!vault), C(!unsafe) and C(omit) work as in files of variables. If the task is delegated to
        another host, its file has neither templates nor encrypted values.
      - Values after C(!vault) are never shown, nor are C(environment) and C(command) of a file that is
        encrypted as a whole.
    type: path
"""

    # How the names of a copy come from those of what it is a copy of.
    RENAME = r"""
options:
  rename:
    description: How names of services and slugs of applications are made from those in the source. Slugs are
      unique across all accounts, so a copy with applications needs at least one rule.
    type: dict
    suboptions:
      prefix:
        description: Text before each name.
        type: str
      suffix:
        description: Text after each name, such as V(-staging).
        type: str
      pattern:
        description: Python regular expression. Each match in a name is replaced by O(rename.replacement).
        type: str
      replacement:
        description: What replaces matches of O(rename.pattern). May refer to groups, as in V(\\1).
        type: str
      names:
        description: New names, by name, slug, id or key. The other rules do not apply to these.
        type: dict
"""
