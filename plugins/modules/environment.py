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
  - A new environment takes effect with the next deploy, for which M(hosted.services.app_deploy) deploys even the image
    in service again.
  - The platform does not return an environment. To find out what differs, the controller keeps a keyed fingerprint of
    each variable in O(state_dir).
  - Checks the rules of the platform before anything is sent, in check mode too. With a token with scope C(FULL), also
    checks references such as C(${db.URL}) against the neighbors in the project.
options:
  variables:
    description: Variables whose values can be shown, for example in a diff. Put numbers and words such as C(true) in
      quotes, because values must be strings. A value can refer to a neighbor in the project, such as C(${db.URL}).
    type: dict
  secret_variables:
    description: Variables whose values are never shown. An empty value is an error.
    type: dict
  clear:
    description: Remove all variables. Mutually exclusive with O(variables) and O(secret_variables), one of which is
      required otherwise. An empty dictionary is an error.
    type: bool
    default: false
  state_dir:
    description: Folder for the fingerprints and the record of pending changes. If not set, C(hosted_services) in
      Ansible's home. Use the same one for M(hosted.services.app_deploy) and on all machines that write this
      environment. If it is lost, the next run writes the environment once more.
    type: path
  force:
    description: Write the environment even if it is the last one written, because it may have been changed elsewhere,
      such as in the customer web space.
    type: bool
    default: false
  project:
    description: Name or id of the project for an application that does not exist yet. Check mode checks references
      against its services. If not set, against those of all projects.
    type: str
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
attributes:
  idempotent:
    support: partial
    details: With O(force=true) every run writes.
notes:
  - An environment can have at most 100 variables. C(PORT) is reserved.
  - The platform may apply an environment and still refuse the call, if the application does not start with it. So the
    next run writes it again.
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

- name: See in check mode which variables differ; secret values are not shown
  hosted.services.environment:
    slug: acme-shop
    variables:
      LOG_LEVEL: debug
      WORKERS: "4"
      DATABASE_URL: ${db.URL}
    secret_variables:
      SESSION_KEY: "{{ vault_session_key }}"
  check_mode: true
  diff: true

- name: Write the same environment again, because somebody changed it by hand
  hosted.services.environment:
    slug: acme-shop
    variables: "{{ shop_variables }}"
    force: true
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
      description: Whether a record of the last environment was found. If not, all variables are in C(added).
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
      description: In check mode, aliases in references that no service of the project has yet. Outside check mode,
        such a reference is refused.
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
