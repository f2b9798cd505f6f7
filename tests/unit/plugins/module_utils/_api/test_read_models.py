# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Answers become models; what does not fit is named by route and field, and never shown."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.hosted.services.plugins.module_utils._api import routes as r
from ansible_collections.hosted.services.plugins.module_utils._api.errors import UnexpectedAnswer
from ansible_collections.hosted.services.plugins.module_utils._api.responses import read_model

HIDE = "hunter2-hunter2"


@pytest.mark.parametrize(
    ("route", "answer", "field", "came"),
    [
        (r.SFTP_PASSWORD, {"host": "h", "port": 1, "username": "u"}, "password", "missing"),
        (r.CONNECTION, {"url": HIDE, "password": {"is": HIDE}}, "password", "an object"),
        (r.DATABASE_QUERY, {"columns": [{"name": "x"}, HIDE]}, "columns.1", "a string"),
        (r.PROJECT, {"id": "p", "name": "n", "resources": [{"id": "s"}]}, "resources.0.name", "missing"),
        (r.SERVICE, {"id": "s", "name": "n", "family": "APP", "status": True}, "status", "a boolean"),
    ],
)
def test_the_error_names_route_field_and_kind_but_never_the_value(
    route: r.Route[Any], answer: Any, field: str, came: str
) -> None:
    with pytest.raises(UnexpectedAnswer) as caught:
        read_model(route, route.answer.model, answer)
    message = caught.value.message
    assert message.startswith(f"{route}: ")
    assert repr(field) in message
    assert came in message
    assert HIDE not in message
    assert HIDE not in repr(caught.value.__cause__)
    assert caught.value.__suppress_context__
