# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Refusals of the registry, in the error form of the OCI distribution specification."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from starlette.responses import JSONResponse


class RegistryError(Exception):
    """A refusal: an HTTP status and a body ``{errors: [{code, message, detail}]}``.

    Each of `details` becomes an entry of ``errors``, so that a manifest can name all its missing blobs.
    """

    def __init__(
        self,
        status: HTTPStatus,
        code: str,
        message: str,
        *details: Any,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details or (None,)
        self.headers = dict(headers or {})

    def response(self) -> JSONResponse:
        """Build the HTTP response."""
        errors = [{"code": self.code, "message": self.message, "detail": detail} for detail in self.details]
        return JSONResponse({"errors": errors}, status_code=self.status, headers=self.headers)


def bad_request(code: str, message: str, *details: Any) -> RegistryError:
    """Build a 400: the request breaks a rule."""
    return RegistryError(HTTPStatus.BAD_REQUEST, code, message, *details)


def not_found(code: str, message: str, *details: Any) -> RegistryError:
    """Build a 404: the repository does not contain the object."""
    return RegistryError(HTTPStatus.NOT_FOUND, code, message, *details)
