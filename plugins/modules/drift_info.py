#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: drift_info
short_description: Compare blueprints with the platform
version_added: 1.0.0
description:
  - Returns in what a project differs from its blueprint, whether the file or the platform was changed, and which of
    the two the next apply keeps. What the blueprint leaves out is no difference, except for whole services, also those
    whose creation failed.
  - The playbook C(hosted.services.drift) compares several files, writes reports and exits with 2 on drift.
options:
  blueprint:
    description: The blueprint itself, for example from a variable.
    type: dict
  allow_lookups:
    description: Whether templates in O(src) may run lookups and other code. Set this only for a file that you trust
      like a playbook. Otherwise, such a template is an error. Variables are filled in either way.
    type: bool
    default: false
  max_parallel:
    description: Maximum number of parts to read in parallel.
    type: int
    default: 16
extends_documentation_fragment:
  - hosted.services.common.info_attributes
  - hosted.services.common
  - hosted.services.common.state_dir
  - hosted.services.project.src
seealso:
  - module: hosted.services.blueprint
  - module: hosted.services.blueprint_info
"""

EXAMPLES = r"""
- name: Compare a project with its file
  hosted.services.drift_info:
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
drift:
  description: The comparison.
  returned: success
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
from ansible_collections.hosted.services.plugins.module_utils._resources.drift_info import DRIFT_INFO


def main() -> None:
    """Run the module."""
    run_module(DRIFT_INFO)


if __name__ == "__main__":
    main()
