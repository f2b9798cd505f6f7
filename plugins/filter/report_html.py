# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
name: report_html
short_description: Make a page of a report
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Makes one HTML file of the figures that M(hosted.services.report_info) returns, for a screen, a phone and paper. It
    loads nothing and has no script. The same figures give the same bytes.
positional: title
options:
  _input:
    description: The report, as M(hosted.services.report_info) returns it.
    type: dict
    required: true
  title:
    description: The title of the page.
    type: str
    default: Hosted services
seealso:
  - module: hosted.services.report_info
  - plugin: hosted.services.report_prometheus
    plugin_type: filter
"""

EXAMPLES = r"""
- name: Read the figures
  hosted.services.report_info:
  register: account

- name: Write the page
  ansible.builtin.copy:
    content: "{{ account.report | hosted.services.report_html('Example Ltd') }}"
    dest: report.html
    mode: "0644"
"""

RETURN = r"""
_value:
  description: The text of the HTML file.
  type: str
"""

from functools import partial

from ..plugin_utils._report.render import report_html
from ..plugin_utils._templating.filters import as_filter


class FilterModule:
    """Registers the filter."""

    filters = staticmethod(partial(as_filter, "report_html", report_html))
