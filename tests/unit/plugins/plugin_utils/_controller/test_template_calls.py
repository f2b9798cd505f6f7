# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What templates of a file would run."""

from __future__ import annotations

import pytest

from ansible_collections.hosted.services.plugins.plugin_utils._controller.rendered_sources import runs_code


@pytest.mark.parametrize(
    "text",
    [
        "{{ a.b['c'] | default(omit) }}",
        "{{ a.split(',') | first }}",
        "{% for x in range(2) %}{{ x }}{% endfor %}",
    ],
)
def test_variables_are_filled_in(text: str) -> None:
    assert not runs_code(text)


@pytest.mark.parametrize(
    "text",
    [
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
    ],
)
def test_what_may_run_something(text: str) -> None:
    assert runs_code(text)
