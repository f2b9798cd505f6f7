#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: environment
short_description: Set the environment of an application
version_added: 1.0.0
description:
  - Replaces the whole environment of an application. Removes variables that the task does not set.
  - At least one variable is required, in O(variables) or O(secret_variables). If one of these options is empty, for
    example because a variable of the play is empty, the task fails. To remove all variables, set O(clear=true).
  - A new environment takes effect with the next deploy. Until one has succeeded, RV(environment.pending_deploy) says
    so, and M(hosted.services.app_deploy) deploys even the image in service again.
  - The platform does not return an environment. So the controller keeps a keyed fingerprint of each variable in a file
    in O(state_dir), which tells the next run which variables differ.
  - Checks all rules of the platform before anything is sent, in check mode too. With a token with scope C(FULL), also
    checks references such as C(${db.URL}) against the neighbors in the project; with other tokens, the platform does.
options:
  variables:
    description:
      - Variables whose values can be shown, for example in a diff. Every value must be a string, so put numbers and
        words such as C(true) in quotes. A value can refer to a neighbor in the project, such as C(${db.URL}).
    type: dict
  secret_variables:
    description:
      - Variables whose values are never shown. An empty value is an error, as it comes from a variable that is not
        set.
    type: dict
  clear:
    description: Remove every variable of the environment. Mutually exclusive with O(variables) and O(secret_variables).
    type: bool
    default: false
  state_dir:
    description:
      - Folder for the fingerprints, and for the record of pending changes in its subfolder C(pending). If not set,
        C(hosted_services/environments) in Ansible's home is used. If a file is lost, the next run writes the
        environment once more. A damaged one is an error that names it.
      - Set the same folder in every task that writes the environment of an application, and for
        M(hosted.services.app_deploy). Machines that share it know what the others wrote. Each file contains its key.
    type: path
  force:
    description:
      - Write the environment even if it is the same as the last one that was written, because it may have been changed
        elsewhere, for example in the customer web space.
    type: bool
    default: false
  project:
    description:
      - Name or id of the project in which an application that does not exist yet is to be created. In check mode,
        references are checked against its services, or else against those of all projects.
    type: str
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
attributes:
  idempotent:
    support: partial
    details: With O(force=true) every run writes.
notes:
  - Together, O(variables) and O(secret_variables) can have at most 100 variables. C(PORT) is reserved.
  - The platform may apply an environment at once, and refuse the call if the application does not start with it. After
    such a refusal, the next run writes the environment again, and M(hosted.services.app_deploy) deploys again.
seealso:
  - module: hosted.services.app_deploy
"""

EXAMPLES = r"""
- name: Set variables, a secret, and a reference to a database in the project
  hosted.services.environment:
    slug: acme-shop
    variables:
      LOG_LEVEL: info
      WORKERS: "4"
      DATABASE_URL: ${db.URL}
    secret_variables:
      SESSION_KEY: "{{ vault_session_key }}"
  register: shop_environment

- name: Deploy, so that it takes effect
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
  description: The environment that the task sets, and how it differs from the last one that was written.
  returned: success
  type: dict
  contains:
    # generated: app slug
    slug:
      description: Slug of the application.
      type: str
      sample: acme-shop
    # generated end
    variables:
      description: The variables whose values can be shown.
      type: dict
    secret_variables:
      description: The names of the secret variables.
      type: list
      elements: str
    known_before:
      description: Whether a record of the last environment was found. If not, all variables count as added.
      type: bool
    # generated: pending_deploy
    pending_deploy:
      description: Changes that are pending until the next deploy, as far as this controller knows. V(environment)
        if an environment was written since, V(deploy) if the last deploy was not seen to succeed.
      type: list
      elements: str
    # generated end
    unchecked_references:
      description: References that only the platform can check, because the token has no access to projects.
      type: list
      elements: str
    missing_neighbors:
      description:
        - In check mode, aliases that variables refer to and no service of the project has, so an earlier task has to
          create these. Outside check mode, such a reference is refused.
      type: list
      elements: str
    added:
      description: Names of new variables.
      type: list
      elements: str
    changed:
      description: Names of variables with a different value.
      type: list
      elements: str
    removed:
      description: Names of removed variables.
      type: list
      elements: str
# generated: actions
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  type: list
  elements: str
  sample:
  - stop service 'survival' (svc_8c1d)
  returned: success
# generated end
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.environment import ENVIRONMENT


def main() -> None:
    """Run the module."""
    run_module(ENVIRONMENT)


if __name__ == "__main__":
    main()
