# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: pick_services
short_description: Select services from a result
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Returns the services of a result that match all criteria, in the order of the result, or of O(services). Those that
    are being deleted are left out unless O(status) selects them.
  - A criterion is a string, or a list of strings, one of which must match. An empty one is an error, and so is one that
    needs a field that the result lacks.
options:
  _input:
    description: A result of M(hosted.services.service_info), one of M(hosted.services.project_info) with
      C(include=[services]), any other result with C(services), or a list of services.
    type: raw
    required: true
  services:
    description: The services, by id or by name within O(project) and O(family). An id takes precedence. A service that
      is not in the result is an error, and so is a name that several services have.
    type: raw
  project:
    description: Id or name of the project. A result of M(hosted.services.service_info) has only the id, with
      C(include=[details]).
    type: raw
  family:
    description: The family, such as V(GAME).
    type: raw
  status:
    description: The status, such as V(ACTIVE).
    type: raw
  name:
    description: Shell patterns for the name, which are case-sensitive. A pattern that begins with V(!) excludes what it
      matches.
    type: raw
seealso:
  - module: hosted.services.service_info
  - module: hosted.services.project_info
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
  description: The selected services, unchanged.
  type: list
  elements: dict
"""

from functools import partial

from ..module_utils._resources.services.listing import select_services
from ..plugin_utils._templating.filters import as_filter


class FilterModule:
    """Registers the filter."""

    filters = staticmethod(partial(as_filter, "pick_services", select_services))
