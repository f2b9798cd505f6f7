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

    # What may differ from the source or the blueprint.
    COPY = r"""
options:
  host:
    description: Id or label of the node for everything. If not set, that of the source or the blueprint.
    type: str
  overrides:
    description:
      - What single services and applications have instead, by key, name, slug or id. Each is a dictionary
        with the keys of an entry of M(hosted.services.blueprint), such as C(host), C(dimensions), C(public)
        or C(variables). They take precedence over all other options.
    type: dict
  without_data:
    description:
      - Keys, names, slugs or ids of services to make without content. Needed for those of which there is
        none, such as buckets, and for databases that cannot be dumped or restored from here.
    type: list
    elements: str
    default: []
  delete:
    description:
      - Whether files are deleted that the source or the copy does not have. The content of a database is
        always replaced as a whole.
    type: bool
    default: true
  max_monthly:
    description:
      - Maximum price per month of everything in the project, in currency units. Nothing is ordered if it
        would be exceeded.
    type: str
"""

    # What the platform does not show, and how a copy is compared.
    ENVIRONMENTS = r"""
options:
  environments:
    description:
      - Whole environments of applications, by slug or id. References in them may name a service as in the
        source, and lead to what is in its place.
      - If a variable is known, because it refers to a service or was written from this controller, and is
        given nowhere, nothing is ordered.
    type: dict
  secret_environments:
    description: As O(environments), with values that are never shown.
    type: dict
  checksum:
    description: Whether files of the same size and time are compared by their content.
    type: bool
    default: false
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
