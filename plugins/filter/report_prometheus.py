# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: report_prometheus
short_description: Make metrics of a report
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Makes metrics of the figures that M(hosted.services.report_info) returns, in the format of the textfile collector of
    Prometheus' node exporter. A figure that is unknown has no sample.
options:
  _input:
    description: The report, as M(hosted.services.report_info) returns it.
    type: dict
    required: true
seealso:
  - module: hosted.services.report_info
  - plugin: hosted.services.report_html
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Read the figures
  hosted.services.report_info:
  register: account

- name: Write the metrics
  ansible.builtin.copy:
    content: "{{ account.report | hosted.services.report_prometheus }}"
    dest: /var/lib/node_exporter/hosted-report.prom
    mode: "0644"
"""

RETURN = r"""
_value:
  description: The text of the file.
  type: str
"""

from functools import partial

from ..plugin_utils._report.render import report_prometheus
from ..plugin_utils._templating.filters import as_filter


class FilterModule:
    """Registers the filter."""

    filters = staticmethod(partial(as_filter, "report_prometheus", report_prometheus))
