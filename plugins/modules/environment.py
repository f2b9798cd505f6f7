#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: environment
short_description: Set the environment of an application
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Replaces the whole environment of an application. Variables that are not given are removed.
  - At least one variable is required, in O(variables) or O(secret_variables). If one of these options is empty, for
    example because a variable of the play is, the task fails. To remove all variables, set O(clear=true).
  - A new environment takes effect with the next deploy. Until one has succeeded, the controller keeps a record of it,
    RV(environment.pending_deploy) says so, and M(hosted.services.app_deploy) deploys even the image in service again.
  - The platform does not show an environment. So what was written is kept as keyed fingerprints, one for each
    variable, in a file of O(state_dir). It tells that a second run has nothing to do, and which variables differ.
  - All rules of the platform are checked before anything is sent, in check mode too. References such as
    C(${db.URL}) are checked against the neighbours in the project where the token may read them, which takes one of
    scope C(FULL). Otherwise the platform checks them.
options:
  variables:
    description:
      - Variables whose values may be shown, for example in a diff. Every value must be a string, so put numbers and
        words like C(true) in quotes.
      - A value may refer to a neighbour in the project, such as C(${db.URL}). The platform resolves it when the
        application starts.
    type: dict
  secret_variables:
    description:
      - Variables whose values are never shown.
    type: dict
  clear:
    description:
      - Remove every variable of the environment. Excludes O(variables) and O(secret_variables).
    type: bool
    default: false
  state_dir:
    description:
      - Folder of the fingerprints, created when it is missing. C(hosted_services/environments) in Ansible's home
        folder when it is not set.
      - The record of what is not in effect yet is kept there too, in C(pending), and in Ansible's home as well. Give
        M(hosted.services.app_deploy) the same folder.
      - Runs on different machines know what the others wrote when they share it. Each file carries its key.
      - A file that is lost or damaged costs one needless write.
    type: path
  force:
    description:
      - Write the environment even when it is the one that was written last. For when it may have been changed
        elsewhere, such as in the customer web space.
    type: bool
    default: false
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
  - hosted.services.common.attributes
attributes:
  idempotent:
    description: Run twice in a row, the second run changes nothing.
    support: partial
    details: With O(force=true) every run writes.
notes:
  - An application is sure to take its new environment when it is deployed the next time.
    M(hosted.services.app_deploy) does that, also with the image that is in service already.
  - Together O(variables) and O(secret_variables) hold at most 100 variables. C(PORT) is reserved.
seealso:
  - module: hosted.services.app_deploy
"""

EXAMPLES = r"""
- name: Settings, a secret and the database next door
  hosted.services.environment:
    slug: acme-shop
    variables:
      LOG_LEVEL: info
      WORKERS: "4"
      DATABASE_URL: ${db.URL}
    secret_variables:
      SESSION_KEY: "{{ vault_session_key }}"
  register: shop_environment

- name: Take it into effect
  hosted.services.app_deploy:
    slug: acme-shop
    tag: "1.4.0"
    force: "{{ shop_environment is changed }}"  # so that check mode says it too

- name: Remove every variable
  hosted.services.environment:
    slug: acme-shop
    clear: true
"""

RETURN = r"""
environment:
  description: The environment as it was asked for, and how it differs from what was written last.
  returned: success
  type: dict
  sample:
    slug: acme-shop
    variables: {LOG_LEVEL: info}
    secret_variables: [SESSION_KEY]
    known_before: true
    pending_deploy: [environment]
    unchecked_references: []
    added: []
    changed: [LOG_LEVEL]
    removed: [OLD_SETTING]
  contains:
    slug:
      description: Slug of the application.
      type: str
    variables:
      description: The variables whose values may be shown.
      type: dict
    secret_variables:
      description: The names of the others.
      type: list
      elements: str
    known_before:
      description: Whether it was known what had been written last. If not, all variables count as added.
      type: bool
    pending_deploy:
      description:
        - What takes effect at the next deploy only, so far as this controller knows. V(environment) is there from a
          write on, V(deploy) when the last deploy was not seen to succeed.
        - M(hosted.services.app_deploy) works it off.
      type: list
      elements: str
    unchecked_references:
      description:
        - The references that the platform alone can check, because the token does not open projects.
        - An entry such as C(${...} in NAME) is for text in braces, such as V(${VAR:-a.b}), that the platform may take for
          a reference or not. It is sent as it is, and the platform says.
      type: list
      elements: str
    added:
      description: Names that were not there.
      type: list
      elements: str
    changed:
      description: Names that had another value.
      type: list
      elements: str
    removed:
      description: Names that are there no more.
      type: list
      elements: str
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT


def main() -> None:
    """Run the module."""
    run_module(ENVIRONMENT)


if __name__ == "__main__":
    main()
