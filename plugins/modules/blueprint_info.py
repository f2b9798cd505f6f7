#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: blueprint_info
short_description: Export projects as blueprints, or compare them
version_added: 1.0.0
description:
  - Returns each project as a file for M(hosted.services.blueprint). Applied to the same project, it changes nothing.
    The same project always gives the same text.
  - The platform does not show the values of environments, the variables and options of orders, and public keys.
    Comments in the file name them, and the variables that refer to other services.
  - The file sets the C(state) of services. Remove that where something else decides it, such as a schedule.
  - With O(src) or O(blueprint), returns instead in what a project differs from its blueprint, whether the file or the
    platform was changed, and which of the two the next apply keeps. What the blueprint leaves out is no difference,
    except for whole services, also those whose creation failed.
  - The playbook C(hosted.services.drift) compares several files, writes reports and exits with 2 on drift.
options:
  project:
    description: Id or name of a project. If neither this nor a blueprint to compare is set, all projects are returned.
    type: str
  blueprint:
    description: A blueprint to compare with its project, for example from a variable.
    type: dict
  allow_lookups:
    description: Whether templates in O(src) may run lookups and other code. Set this only for a file that you trust
      like a playbook. Otherwise, such a template is an error. Variables are filled in either way.
    type: bool
    default: false
  max_parallel:
    description: Maximum number of parts of a blueprint to read in parallel.
    type: int
    default: 16
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.common.state_dir
  - hosted.services.project.src
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

- name: Compare a project with its file
  hosted.services.blueprint_info:
    src: shop.yml
  register: compared

- name: Show what differs
  ansible.builtin.debug:
    msg: "{{ compared.drift.differences | map(attribute='line') }}"

- name: Stop if somebody changed the platform
  ansible.builtin.assert:
    that: compared.drift.differences | selectattr('changed_by', 'eq', 'platform') | length == 0
    fail_msg: Somebody changed the project in the web space. Look at it before you apply the file.
"""

RETURN = r"""
blueprints:
  description: The projects, sorted by name. Empty if a blueprint is compared.
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
drift:
  description: In what a project differs from its blueprint.
  returned: if O(src) or O(blueprint) is set
  type: dict
  contains:
    project:
      description: Name of the project.
      type: str
    drifted:
      description: Whether anything differs. V(unknown) does not count.
      type: bool
    differences:
      description: What differs, and what cannot be known.
      type: list
      elements: dict
      contains:
        kind:
          description:
            - V(differs) for a field with another value. V(missing) for what only the file has. V(not_in_file) for a
              service or an application that only the platform has.
            - V(refused) for what cannot be applied, such as a disk that would shrink. V(unknown) for what could not be
              compared, such as an environment not written from here, and for a service that a relocation needs.
          type: str
        drift:
          description: Whether it counts as drift. Only V(unknown) does not.
          type: bool
        section:
          description: Section of the blueprint.
          type: str
        key:
          description: Key in that section, or the key that an export would use.
          type: str
        field:
          description: Field of the entry. Null for the entry as a whole.
          type: str
        path:
          description: Section, key and field, joined by dots.
          type: str
        file:
          description: Value in the file. Null if it is secret or there is none.
          type: raw
        platform:
          description: Value on the platform. Null if it is not shown or there is none.
          type: raw
        changed_by:
          description: V(file) or V(platform), whichever was changed since M(hosted.services.blueprint) was last applied
            from this controller. Null if that is not known.
          type: str
        prevails:
          description: V(file) or V(platform), whichever the next apply keeps. Null if it is refused or not known.
          type: str
        line:
          description: All of this in one line, for people.
          type: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.blueprint_info import BLUEPRINT_INFO


def main() -> None:
    """Run the module."""
    run_module(BLUEPRINT_INFO)


if __name__ == "__main__":
    main()
