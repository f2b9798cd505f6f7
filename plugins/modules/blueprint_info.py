#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: blueprint_info
short_description: Export projects as blueprints
version_added: 1.0.0
description:
  - Returns each project as a file for M(hosted.services.blueprint). Applied to the same project, it changes nothing.
    The same project always gives the same text.
  - The platform does not show the values of environments, the variables and options of orders, and public keys.
    Comments in the file name them, and the variables that refer to other services.
  - The file sets the C(state) of services. Remove that where something else decides it, such as a schedule.
options:
  project:
    description: Id or name of a project. If not set, all projects are returned.
    type: str
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
seealso:
  - module: hosted.services.blueprint
  - module: hosted.services.project_info
"""

EXAMPLES = r"""
- name: Read a project as a blueprint
  hosted.services.blueprint_info:
    project: shop
  register: exported

- name: Keep it in a file
  ansible.builtin.copy:
    content: "{{ exported.blueprints[0].text }}"
    dest: shop.yml
    mode: "0600" # launch commands may hold passwords

- name: Read the whole account
  hosted.services.blueprint_info:
  register: account

- name: Keep a file for each project
  ansible.builtin.copy:
    content: "{{ item.text }}"
    dest: "{{ item.file_name }}"
    mode: "0600" # launch commands may hold passwords
  loop: "{{ account.blueprints }}"
  loop_control:
    label: "{{ item.project }}"
"""

RETURN = r"""
blueprints:
  description: The projects, sorted by name.
  returned: success
  type: list
  elements: dict
  contains:
    project:
      description: Name of the project.
      type: str
    project_id:
      description: Id of the project. Null in check mode if it would be created.
      type: str
    blueprint:
      description: The project as data, for O(hosted.services.blueprint#module:blueprint).
      type: dict
    text:
      description: The same as text with comments, for O(hosted.services.blueprint#module:src).
      type: str
    file_name:
      description: Name for the file, from the name of the project. No two are the same.
      type: str
    left_out:
      description: What exists and is not in the blueprint, such as a service whose creation failed.
      type: list
      elements: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO


def main() -> None:
    """Run the module."""
    run_module(BLUEPRINT_INFO)


if __name__ == "__main__":
    main()
