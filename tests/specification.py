# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The routes of the specification, copied from the tables of its chapter Endpoints.

The collection's routes and the sandbox's are each compared with this table, and so are the calls of the fault
matrix. It is written by hand, from the specification and not from the code: a slip in the code has to show.
"""

from __future__ import annotations

import re
from typing import NamedTuple

TABLE = """
GET    /api/apps/whoami                                             r shown
GET    /api/apps                                                    r shown
POST   /api/apps                                                    c -
POST   /api/apps/quote                                              r shown
GET    /api/apps/nodes                                              r -
GET    /api/apps/projects                                           r -
GET    /api/registry/credentials                                    r shown
POST   /api/apps/{slug}/releases                                    c -
GET    /api/apps/{slug}/releases                                    r -
GET    /api/apps/{slug}/releases/{tag}/scan                         r shown
POST   /api/apps/{slug}/deploy                                      a -
PUT    /api/apps/{slug}/environment                                 i -
GET    /api/apps/{slug}/logs                                        r -
GET    /api/resources                                               r shown
GET    /api/resources/{id}                                          r shown
GET    /api/resources/metrics                                       r shown
GET    /api/resources/{id}/settings                                 r shown
PUT    /api/resources/{id}/network                                  a -
PUT    /api/resources/{id}/scale                                    i -
PUT    /api/resources/{id}/deploy                                   i -
PUT    /api/resources/{id}/project                                  i -
POST   /api/resources/{id}/power                                    a shown
POST   /api/resources/{id}/suspend                                  a -
POST   /api/resources/{id}/resume                                   a -
DELETE /api/resources/{id}                                          i -
GET    /api/resources/{id}/files                                    r shown
GET    /api/resources/{id}/files/contents                           r shown
POST   /api/resources/{id}/files/write                              i -
POST   /api/resources/{id}/files/directory                          a -
PUT    /api/resources/{id}/files/rename                             a -
POST   /api/resources/{id}/files/delete                             a -
GET    /api/resources/{id}/backups                                  r shown
POST   /api/resources/{id}/backups                                  c -
POST   /api/resources/{id}/backups/{backupId}/restore               a -
DELETE /api/resources/{id}/backups/{backupId}                       i -
GET    /api/resources/{id}/snapshots                                r shown
POST   /api/resources/{id}/snapshots                                c -
POST   /api/resources/{id}/snapshots/{name}/rollback                a -
DELETE /api/resources/{id}/snapshots/{name}                         i -
GET    /api/resources/{id}/logs                                     r shown
GET    /api/resources/{id}/events                                   r shown
GET    /api/resources/{id}/usage                                    r shown
GET    /api/resources/{id}/billed-totals                            r shown
GET    /api/billing/overview                                        r shown
GET    /api/wallet                                                  r shown
GET    /api/wallet/transactions                                     r -
GET    /api/billing/daily-spend                                     r -
GET    /api/billing/invoices                                        r -
GET    /api/billing/statements                                      r -
GET    /api/billing/statements/{period}                             r -
GET    /api/projects                                                r shown
POST   /api/projects                                                c -
PATCH  /api/projects/{id}                                           i -
DELETE /api/projects/{id}                                           i -
GET    /api/projects/{id}                                           r shown
GET    /api/projects/{id}/consommation                              r shown
GET    /api/projects/{id}/graphe                                    r shown
POST   /api/order/quote                                             r shown
POST   /api/order                                                   c shown
GET    /api/users/me/ssh-keys                                       r shown
POST   /api/users/me/ssh-keys                                       c -
DELETE /api/users/me/ssh-keys/{id}                                  i -
GET    /api/resources/{id}/sftp                                     r shown
POST   /api/resources/{id}/sftp/password                            l shown
GET    /api/resources/{id}/database/connection                      r shown
GET    /api/resources/{id}/database                                 r shown
GET    /api/resources/{id}/database/rows                            r shown
POST   /api/resources/{id}/database/query                           n shown
"""
"""Method, path, what sending the call twice does, and whether the specification shows the response.

r: reads; i: twice is as good as once; c: creates; a: acts; l: the last one wins; n: never twice.
"""


class Line(NamedTuple):
    """One route, with its path as the specification spells it."""

    method: str
    path: str
    repeat: str
    shown: bool

    @property
    def route(self) -> str:
        """Method and path, with parameters in snake_case: their names are free, their places are not."""
        return f"{self.method} {re.sub(r'[A-Z]', lambda match: '_' + match[0].lower(), self.path)}"

    def matches(self, method: str, path: str) -> bool:
        """Tell whether a request goes to this route."""
        pattern = re.sub(r"{\w+}", "[^/]+", self.path)
        return method == self.method and re.fullmatch(pattern, path) is not None


def lines() -> list[Line]:
    """Return the table's lines."""
    cells = [line.split() for line in TABLE.strip().splitlines()]
    return [Line(method, path, repeat, shown == "shown") for method, path, repeat, shown in cells]


SPECIFIED = lines()
HERE = "tests/specification.py"
"""Named by the tests that compare with the table."""
