# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of the platform's image registry, by the OCI distribution specification."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlencode, urljoin, urlsplit

from .connection import is_loopback
from .errors import (
    NO_REASON,
    CallOutcomeUnknown,
    HostedError,
    Interrupted,
    NotSent,
    RateLimited,
    Redirected,
    ServerFailure,
    UnexpectedAnswer,
    error_for_status,
    leaves_open,
)
from .http_transport import root_reason
from .models import RegistryCredentials
from .registry_session import ELSEWHERE, RegistrySession, without_query
from .responses import describe_pause, parse, pause_before_retry, retry_after_seconds, wait_for_retry
from .text import Redactor, clean
from .uploads import BlobStream, Content, Upload

RETRIES = 2
UNABLE = (400, 403, 404, 405, 501)
"""The statuses of a registry that does not take over blobs of other repositories."""
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
T = TypeVar("T")


class Repository:
    """The repository of one application, for several threads. Sends the secret to the registry only.

    :param timeout: how long the registry may be silent, and may ask to wait before a retry, in seconds.
    :param sent: called after each uploaded chunk with its size in bytes.
    :param retries: how often a failed call is retried.
    :param log: called with one line per request, without secrets.
    :param on_pause: told every second of a pause before a retry how long it goes on and why.
    :raises ConfigurationError: if the registry redirects to an unencrypted host.
    :raises HostedError: if the registry cannot be reached or rejects the credentials.
    """

    def __init__(
        self,
        credentials: RegistryCredentials,
        slug: str,
        timeout: float = 60,
        verify: bool | str = True,
        sent: Callable[[int], None] = lambda count: None,
        *,
        retries: int = RETRIES,
        log: Callable[[str], None] = lambda line: None,
        on_pause: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.path = f"{credentials.project}/{slug}"
        self.name = f"{credentials.host}/{self.path}"
        self._host = credentials.host
        self._sent = sent
        self._retries, self._longest_pause, self._on_pause = retries, timeout, on_pause
        self._redact = Redactor([credentials.secret])
        address = f"{scheme_of(credentials.host)}://{credentials.host}/v2/"
        self._root = f"{address}{self.path}"
        self._session = RegistrySession(credentials, verify, timeout, lambda line: log(self._redact(line)))
        self._attempt(lambda: self._session.look(address))

    # --- Reading --------------------------------------------------------------------------------------

    def digest_of(self, reference: str) -> str | None:
        """Return the digest of the image with this tag or digest; ``None`` if it does not exist."""
        of_tag = not DIGEST.fullmatch(reference)
        url = self._manifest(reference)
        response = self._ask("GET" if of_tag else "HEAD", url, ACCEPT, expected=(HTTPStatus.NOT_FOUND,))
        if response.status_code == HTTPStatus.NOT_FOUND:
            return None
        return f"sha256:{hashlib.sha256(response.content).hexdigest()}" if of_tag else reference

    def manifest(self, reference: str) -> tuple[bytes, str]:
        """Return the bytes and the media type of the manifest with this tag or digest."""
        response = self._ask("GET", self._manifest(reference), ACCEPT)
        algorithm, _colon, wanted = reference.partition(":")
        if DIGEST.fullmatch(reference) and hashlib.new(algorithm, response.content).hexdigest() != wanted:
            raise UnexpectedAnswer(
                f"the registry {self._host} returned a manifest that does not match digest {reference}"
            )
        return response.content, media_type_of(response)

    def has_blob(self, digest: str) -> bool:
        """Tell whether the registry has a blob."""
        expected = (HTTPStatus.NOT_FOUND, *ELSEWHERE)
        response = self._ask("HEAD", f"{self._root}/blobs/{digest}", expected=expected)
        return bool(response.status_code != HTTPStatus.NOT_FOUND)

    def open_blob(self, digest: str) -> BlobStream:
        """Open a blob to read it in pieces, from the registry or from the store that it names."""

        def download(offset: int) -> Any:
            headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={offset}-"} if offset else {})
            response = self._session.download(f"{self._root}/blobs/{digest}", headers)
            check_response(response)
            return response

        return BlobStream(download)

    # --- Sending --------------------------------------------------------------------------------------

    def mount_blob(self, digest: str, source: str) -> bool:
        """Take a blob over from another repository of the registry; return whether the registry did.

        A registry need not know how: it begins an upload then, which is canceled.

        :param source: the other repository's path in the registry.
        """
        query = urlencode({"mount": digest, "from": source})
        address = f"{self._root}/blobs/uploads/?{query}"
        response = self._ask("POST", address, {"Content-Length": "0"}, expected=UNABLE)
        location = response.headers.get("Location")
        if response.status_code == HTTPStatus.ACCEPTED and location:  # drop it: nobody would finish it
            self._with_retries(lambda: self._session.request("DELETE", urljoin(response.url, location)))
        return bool(response.status_code == HTTPStatus.CREATED)

    def send_blob(self, content: Content, digest: str, size: int) -> None:
        """Upload a blob of ``size`` bytes. A retry resumes where the upload was interrupted.

        The registry verifies the digest before it takes the blob.
        """

        def request(url: str, method: str, **options: Any) -> Any:
            response = self._session.request(method, url, **options)
            if method == "PATCH" and response.ok:
                self._sent(len(options.get("data") or b""))
            check_response(response)
            return response

        upload = Upload(request, f"{self._root}/blobs/uploads/", content, digest, size)
        self._with_retries(upload.run)

    def put_manifest(self, content: bytes, media_type: str, reference: str) -> None:
        """Upload a manifest under a tag or its digest."""
        try:
            self._ask("PUT", self._manifest(reference), {"Content-Type": media_type}, content)
        except CallOutcomeUnknown as error:
            error.append(f". Whether {reference!r} names the new image now is unknown; run this again")
            raise

    # --- Sending requests -----------------------------------------------------------------------------

    def _manifest(self, reference: str) -> str:
        """Return the URL of a manifest."""
        if not DIGEST.fullmatch(reference) and not TAG.fullmatch(reference):
            raise UnexpectedAnswer(f"{reference!r} is neither the digest of an image nor a tag")
        return f"{self._root}/manifests/{reference}"

    def _ask(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        data: bytes | None = None,
        expected: tuple[int, ...] = (),
    ) -> Any:
        """Send a request, with retries; return the response if it is 2xx or of an expected status."""

        def ask() -> Any:
            response = self._session.request(method, url, headers, data)
            if response.status_code not in expected:
                check_response(response)
            return response

        return self._with_retries(ask)

    def _with_retries(self, call: Callable[[], T]) -> T:
        """Make a call with retries: all calls to a registry are idempotent."""
        for failures in range(1, self._retries + 1):
            try:
                return self._attempt(call)
            except (NotSent, CallOutcomeUnknown) as error:
                pause = pause_before_retry(error, failures)
                if pause > self._longest_pause:
                    raise
                reason = error.message
            wait_for_retry(pause, reason, self._on_pause)
        return self._attempt(call)

    def _attempt(self, call: Callable[[], T]) -> T:
        """Make a call once."""
        try:
            return call()
        except HostedError as error:
            error.reworded(self._redact(error.message))
            raise
        except ValueError as error:  # urllib splits no URL whose port or brackets are wrong
            raise UnexpectedAnswer(
                f"the registry {self._host} names an invalid address: {clean(self._redact(str(error)))}"
            ) from None
        except OSError as error:
            raise Interrupted(f"the registry {self._host}: {self._redact(root_reason(error))}") from None


MANIFEST_TYPES = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)


ACCEPT = {"Accept": ", ".join(MANIFEST_TYPES)}


def scheme_of(host: str) -> str:
    """Return the URL scheme for a registry: http only for the local machine."""
    try:
        parts = urlsplit(f"//{host}")
        name = None if parts.netloc != host or "@" in host or parts.port == 0 else parts.hostname
    except ValueError:  # brackets that do not match, or a port that is no number
        name = None
    if not name or "]" in name:
        raise UnexpectedAnswer(f"the platform names {host!r} as its registry, which is not a host name")
    return "http" if is_loopback(name) else "https"


def check_response(response: Any) -> None:
    """Raise an error with the registry's message for any response that is not 2xx."""
    if response.ok and response.status_code < 300:
        return
    said = registry_message(response)
    where = f"{response.request.method} {urlsplit(response.url).path}"  # the query may hold a secret
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        after = retry_after_seconds(response.headers.get("Retry-After"), response.headers.get("Date", ""))
        raise RateLimited(f"too many requests (429) at {where}{describe_pause(after)}: {said}", after)
    if response.status_code < 400:
        raise Redirected(
            f"the registry answered {where} with a redirect ({response.status_code}) to "
            f"{without_query(response.headers.get('Location', 'nowhere'))}, which is not followed"
        )
    if leaves_open(response.status_code):
        raise ServerFailure(f"the registry failed ({response.status_code}) at {where}: {said}")
    raise error_for_status(
        f"the registry refused ({response.status_code}) {where}: {said}", response.status_code
    )


def registry_message(response: Any) -> str:
    """Return the messages in the body of an error, or the meaning of its status."""
    try:
        errors = parse(response.content)["errors"]
        said = clean("; ".join(f"{error.get('code')}: {error.get('message')}" for error in errors))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        said = ""
    return said or NO_REASON + MEANINGS.get(response.status_code, "")


MEANINGS = {
    401: "; the account's registry credentials are not accepted",
    403: "; the account's registry credentials do not open it",
    405: "; the registry, or this repository, may be read-only",
    413: "; what was sent is too large for it",
    423: "; the repository may be locked",
    507: "; it may have no space left",
}


def media_type_of(response: Any) -> str:
    """Return the media type of a manifest, from the response's header or else from its content."""
    said = response.headers.get("Content-Type", "").partition(";")[0].strip()
    if said in MANIFEST_TYPES:
        return str(said)
    try:
        content = json.loads(response.content)
        named = content.get("mediaType")
    except (ValueError, AttributeError, RecursionError):
        return MANIFEST_TYPES[0]
    if named in MANIFEST_TYPES:
        return str(named)
    return MANIFEST_TYPES[1 if "manifests" in content else 0]
