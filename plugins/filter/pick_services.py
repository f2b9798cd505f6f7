# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: pick_services
short_description: Services picked out of a result
version_added: 0.1.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns those services of a result that all criteria let through, in its order, or in that of O(services).
  - O(services), O(project) and O(family) mean what they mean in modules that work on many services, such as
    M(hosted.services.backup). O(name) and O(status) mean what C(names) and C(statuses) mean in the inventory.
  - A criterion is a text or a list of texts, of which one has to fit. One that holds nothing is an error.
  - Services that are being deleted are left out unless O(status) asks for them.
options:
  _input:
    description:
      - A result of M(hosted.services.service_info), a result of M(hosted.services.project_info) with
        C(include=[services]), any other result with C(services), or a list of services.
    type: raw
    required: true
  services:
    description:
      - The services, each by id or by name. An id wins over a name. Names are looked for in O(project) and O(family).
      - One that is not there is an error, and so is a name that several services have.
    type: raw
  project:
    description:
      - Id or name of the project.
      - What M(hosted.services.service_info) returns tells the id of the project with C(include=[details]) only, and never
        its name. What M(hosted.services.project_info) returns tells both.
    type: raw
  family:
    description:
      - The family, such as V(GAME).
    type: raw
  status:
    description:
      - The status, such as V(ACTIVE).
    type: raw
  name:
    description:
      - Shell patterns for the name, upper and lower case being different. A pattern that begins with V(!) leaves out what it
        fits.
    type: raw
seealso:
  - module: hosted.services.service_info
  - module: hosted.services.project_info
notes:
  - A result that does not tell what a criterion asks for is an error. No service is left out for that.
"""

EXAMPLES = r"""
- name: Read the account once
  hosted.services.project_info:
    include: [services]
  register: account

- name: Use different parts of it
  ansible.builtin.debug:
    msg:
      - "{{ account | hosted.services.pick_services(project='games', status='ACTIVE') | map(attribute='id') }}"
      - "{{ account | hosted.services.pick_services(family=['GAME', 'APP'], name=['*-eu', '!test-*']) }}"
      - "{{ (account | hosted.services.pick_services(services='orders-db', project='web') | first).address }}"
"""

RETURN = r"""
_value:
  description: The services as they are in the result.
  type: list
  elements: dict
"""

from collections.abc import Callable
from typing import Any

from ansible_collections.hosted.services.plugins.module_utils._resources.services.selection import (
    select_services,
)
from ansible_collections.hosted.services.plugins.plugin_utils._templating.filters import as_filter


class FilterModule:
    """Holds the filter."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Return the filter by its name."""
        return as_filter("pick_services", select_services)
