# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The account's space in the platform's image registry, over the standard push protocol.

The client is oras. Its own repetitions are left out: they take minutes, and do not know what may be repeated.
Import this module only where the registry is asked: it takes a third of a second, which no other task need
pay.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .connection import is_loopback
from .errors import (
    CallOutcomeUnknown,
    ConfigurationError,
    ConnectionFailed,
    HostedError,
    Interrupted,
    NotSent,
    RateLimited,
    ServerFailure,
    UnexpectedAnswer,
    refused,
)
from .http_transport import is_connection_failure, root_reason
from .libraries import requests, require_for
from .models import RegistryCredentials
from .session import pause_before_retry, retry_after_seconds
from .text import Redactor, clean
from .uploads import Upload

try:
    import oras.auth
    import oras.container
    import oras.logger
    import oras.provider
except ImportError:
    oras = None

TRIES = 3
CONNECT_SECONDS = 10.0
DIGEST = re.compile(r"sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128}")
ELSEWHERE = (301, 302, 303, 307, 308)
"""What a registry answers that keeps the parts of images in an object store."""
T = TypeVar("T")


class Repository:
    """The repository of one application. Its secret stays in memory and goes to the registry alone.

    ``sent`` is called with the number of bytes of each piece that arrived. ``timeout`` is how long the
    registry may be silent, in seconds.
    """

    def __init__(
        self,
        credentials: RegistryCredentials,
        slug: str,
        timeout: float = 60,
        verify: bool | str = True,
        sent: Callable[[int], None] = lambda count: None,
    ) -> None:
        require_for("the image registry", oras, "oras")
        self.name = f"{credentials.host}/{credentials.project}/{slug}"
        self._host = credentials.host
        self._sent = sent
        self._timeout = (min(CONNECT_SECONDS, timeout), timeout)
        self._redact = Redactor([credentials.secret])
        self._scheme = scheme_of(credentials.host)
        self._container = oras.container.Container(self.name)
        self._registry = self._log_in(credentials, verify)

    # --- Logging in -----------------------------------------------------------------------------------

    def _log_in(self, credentials: RegistryCredentials, verify: bool | str) -> Any:
        """Return a client that sends the credentials as the registry asks for them."""
        oras.logger.setup_logger(quiet=True)
        registry = oras.provider.Registry(self._host, insecure=self._scheme == "http", tls_verify=verify)
        plain_request = registry.session.request

        def request(method: str, url: str, **options: Any) -> Any:
            self._check_address(url)
            # The library leaves out `verify` in some of its calls; the environment would then decide.
            bounds = {"allow_redirects": False, "timeout": self._timeout, "verify": verify}
            return plain_request(method, url, **{**options, **bounds})

        registry.session.request = request
        registry.session.auth = lambda prepared: prepared  # so that no .netrc entry takes its place
        challenge = self._attempt(
            lambda: registry.session.request("GET", f"{self._scheme}://{self._host}/v2/")
        )
        if challenge.headers.get("Www-Authenticate", "").lower().startswith("basic"):
            registry.session.auth = (credentials.username, credentials.secret)
            registry.auth = oras.auth.get_auth_backend("basic", registry.session)
        registry.auth.set_basic_auth(credentials.username, credentials.secret)
        registry.do_request = lambda *arguments, **options: self._do_request(registry, *arguments, **options)
        return registry

    def _check_address(self, url: str) -> None:
        """Refuse to follow the registry elsewhere over a connection that anybody may listen to."""
        parts = urlsplit(url)
        if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
            raise ConfigurationError(
                f"the registry {self._host} leads to {place(url)}, which is not https; the registry's secret "
                "is not sent there"
            )

    def _do_request(self, registry: Any, url: str, method: str = "GET", **options: Any) -> Any:
        """Make one request of the library's, with its way of logging in, and without its repetitions."""
        if urlsplit(url).netloc != self._host:
            raise ConfigurationError(f"the registry {self._host} wants the upload at {place(url)}; not sent")
        response = self._logged_in(registry, url, method, **options)
        if response.status_code == 401 and getattr(registry.auth, "token", None):
            registry.auth.token = None  # it has run out, and oras would send it again
            response = self._logged_in(registry, url, method, **options)
        if method == "PATCH" and response.ok:
            self._sent(len(options.get("data") or b""))
        return response

    def _logged_in(self, registry: Any, url: str, method: str, **options: Any) -> Any:
        """Make a request with the library's way of logging in, which drops the answer that it cannot use."""
        request = type(registry).do_request.__wrapped__
        try:
            return request(registry, url, method, **options)
        except requests.RequestException:
            raise
        except ValueError as error:
            raise refused(
                f"the registry {self._host} does not accept the account's registry credentials, or asks for "
                f"them in a way that is not known here: {clean(self._redact(str(error)))}",
                401,
            ) from None

    # --- What is there --------------------------------------------------------------------------------

    def digest_of(self, reference: str) -> str | None:
        """Return the digest of the image of this tag or digest; ``None`` when there is none."""

        def look() -> str | None:
            response = self._look(reference)
            if response.status_code == 404:
                return None
            judge(response)
            if DIGEST.fullmatch(reference):
                return reference
            named = response.headers.get("Docker-Content-Digest", "")
            if DIGEST.fullmatch(named):
                return str(named)
            # A registry may leave the header out. The digest is that of the manifest, byte for byte.
            content = response.content or self._read(reference).content
            return f"sha256:{hashlib.sha256(content).hexdigest()}"

        return self._again(look)

    def _look(self, reference: str) -> Any:
        """Ask for a manifest without its content, or with it where the registry does not know HEAD."""
        response = self._registry.do_request(self._manifest(reference), "HEAD", headers=dict(ACCEPT))
        if response.status_code in (405, 501):
            return self._registry.do_request(self._manifest(reference), headers=dict(ACCEPT))
        return response

    def _read(self, reference: str) -> Any:
        """Ask for a manifest."""
        response = self._registry.do_request(self._manifest(reference), headers=dict(ACCEPT))
        judge(response)
        return response

    def manifest(self, reference: str) -> tuple[bytes, str]:
        """Return the manifest of this tag or digest, byte for byte, and its media type.

        :raises UnexpectedAnswer: when it is not the one that the digest names.
        """

        def read() -> tuple[bytes, str]:
            response = self._read(reference)
            algorithm, _colon, wanted = reference.partition(":")
            if DIGEST.fullmatch(reference) and hashlib.new(algorithm, response.content).hexdigest() != wanted:
                raise UnexpectedAnswer(
                    f"the registry {self._host} has another manifest than {reference} under that digest"
                )
            return response.content, type_of(response)

        return self._again(read)

    def has_blob(self, digest: str) -> bool:
        """Tell whether a part of an image is there already."""

        def look() -> bool:
            url = f"{self._scheme}://{self._container.get_blob_url(digest)}"
            response = self._registry.do_request(url, "HEAD")
            there = response.status_code in ELSEWHERE
            return there or (response.status_code != 404 and judge(response))

        return self._again(look)

    # --- Sending --------------------------------------------------------------------------------------

    def send_blob(self, path: str, digest: str, size: int) -> None:
        """Send a part of an image of ``size`` bytes from a file. One that is cut off goes on where it was."""

        def request(url: str, method: str, **options: Any) -> Any:
            response = self._registry.do_request(url, method, **options)
            judge(response)
            return response

        start = f"{self._scheme}://{self._container.upload_blob_url()}"
        upload = Upload(request, start, path, digest)
        self._again(upload.run)

    def put_manifest(self, content: bytes, media_type: str, reference: str) -> str | None:
        """Put the manifest under a tag or its digest, byte for byte. Return the registry's digest of it."""

        def put() -> Any:
            headers = {"Content-Type": media_type}
            response = self._registry.do_request(
                self._manifest(reference), "PUT", data=content, headers=headers
            )
            judge(response)
            return response.headers.get("Docker-Content-Digest")

        digest: str | None = self._again(put)
        return digest

    # --- How every call is made -----------------------------------------------------------------------

    def _manifest(self, reference: str) -> str:
        return f"{self._scheme}://{self._container.manifest_url(reference)}"

    def _again(self, call: Callable[[], T]) -> T:
        """Make a call, again after a failure: all of them can be made twice."""
        for failures in range(1, TRIES):
            try:
                return self._attempt(call)
            except (NotSent, CallOutcomeUnknown) as error:
                time.sleep(pause_before_retry(error, failures))
        return self._attempt(call)

    def _attempt(self, call: Callable[[], T]) -> T:
        """Make a call once, with the errors of the libraries in our words."""
        try:
            return call()
        except HostedError:
            raise
        except requests.exceptions.SSLError as error:
            raise ConfigurationError(
                f"the certificate of the registry {self._host} was not accepted: {root_reason(error)}"
            ) from None
        except requests.exceptions.InvalidJSONError:
            raise Interrupted(f"the registry {self._host} answered with something that is not JSON") from None
        except (requests.RequestException, OSError) as error:
            kind = ConnectionFailed if is_connection_failure(error) else Interrupted
            raise kind(
                f"the registry {self._host} cannot be reached: {self._redact(root_reason(error))}"
            ) from None
        except ValueError as error:  # what oras raises for an answer that it did not want
            raise Interrupted(f"the registry {self._host}: {clean(self._redact(str(error)))}") from None


MANIFEST_TYPES = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)


ACCEPT = {"Accept": ", ".join(MANIFEST_TYPES)}


def scheme_of(host: str) -> str:
    """Return how a registry is spoken to: plain http on this very machine alone."""
    name = urlsplit(f"//{host}").hostname
    if not name:
        raise UnexpectedAnswer(f"the platform names {host!r} as its registry, which is no host")
    return "http" if is_loopback(name) else "https"


def judge(response: Any) -> bool:
    """Tell that the registry did what it was asked, or raise what it answered.

    :raises Refused: with the registry's own words.
    :raises RateLimited: when it wants a pause.
    :raises ServerFailure: when it failed.
    """
    if response.ok and response.status_code < 300:
        return True
    said = registry_message(response)
    where = f"{response.request.method} {urlsplit(response.url).path}"  # a query may open the upload
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        after = retry_after_seconds(response.headers.get("Retry-After"))
        raise RateLimited(f"too many requests (429) at {where}: {said}", after)
    if response.status_code >= 500:
        raise ServerFailure(f"the registry failed ({response.status_code}) at {where}: {said}")
    raise refused(f"the registry refused ({response.status_code}) {where}: {said}", response.status_code)


def registry_message(response: Any) -> str:
    """Return what the registry says in an error's body, or else what its status means."""
    try:
        errors = response.json()["errors"]
        said = clean("; ".join(f"{error.get('code')}: {error.get('message')}" for error in errors))
    except (ValueError, KeyError, TypeError, AttributeError):
        said = ""
    return said or MEANINGS.get(response.status_code, "no reason was given")


MEANINGS = {
    401: "no reason was given; the account's registry credentials are not accepted",
    403: "no reason was given; the account's registry credentials do not open it",
    405: "no reason was given; the registry, or this repository, may be read-only",
    413: "no reason was given; what was sent is too large for it",
    423: "no reason was given; the repository may be locked",
    507: "no reason was given; it may have no space left",
}


def type_of(response: Any) -> str:
    """Return the media type of a manifest: that of the answer, or else the one that it names itself."""
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


def place(url: str) -> str:
    """Return an address without its query, which may open an upload to whoever has it."""
    parts = urlsplit(url)
    return clean(f"{parts.scheme}://{parts.netloc}{parts.path}")
