# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What templates of a file would run."""

from __future__ import annotations

from ansible_collections.hosted.services.plugins.plugin_utils._controller.rendered_sources import runs_code


def test_what_may_run_something() -> None:
    """Filled-in variables, their filters and loops do not."""
    for text in (
        "{{ a.b['c'] | default(omit) }}",
        "{{ a.split(',') | first }}",
        "{% for x in range(2) %}{{ x }}{% endfor %}",
    ):
        assert not runs_code(text), text
    for text in (
        "{{ lookup('x') }}",
        "{% set l = query %}",
        "{{ x is defined and q }}",
        "{{ a['b']() }}",
        "{{ a.popen() }}",
        "{{ a.__class__ }}",
        "{{ a['__class__'] }}",
        "{{ a | map(attribute='b.__class__') }}",
        "{{ a | attr(b) }}",
        "{% include 'x' %}",
        "#jinja2: block_start_string: x\n",
    ):
        assert runs_code(text), text
