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
    description:
      - Maximum number of parts that are planned or changed at the same time.
    type: int
    default: 16
  secrets_dir:
    description:
      - Folder on the controller for the secrets that the platform generates for an order and shows only once,
        with a file for each service, C(KEY.json), of mode 0600. It is made if missing. If not set, they are
        kept below C(hosted_services) in Ansible's home.
    type: path
"""

    # A blueprint that is read from a file.
    SRC = r"""
options:
  src:
    description:
      - Path of a YAML file with the blueprint. Paths in it are relative to its folder. A task that is
        delegated to another host reads a file of that host, which has no templates and nothing encrypted.
      - Ansible reads it as it reads files of variables. A file that is encrypted with Ansible Vault is
        decrypted, and so is a value after C(!vault). Templates in values are rendered with the variables of
        the task, and a value that is C(omit) is left out with its key. C(!unsafe) marks text in which nothing
        is a template.
      - Values after C(!vault) are never shown, nor are C(environment) and C(command) of a file that is
        encrypted as a whole.
    type: path
"""

    # How the names of a copy come from those of what it is a copy of.
    RENAME = r"""
options:
  rename:
    description:
      - How names of services and slugs of applications come from those in the source or the blueprint. Slugs
        are unique across all accounts, so a copy beside a project with applications needs at least one rule.
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
        description:
          - New names, by name, slug, id or key. The other rules do not apply to these.
        type: dict
"""
