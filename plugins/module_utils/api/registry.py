# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The account's space in the platform's image registry, over the standard push protocol.

The client is oras. Its own repetitions are left out: they take minutes, and do not know what may be repeated.
Import this module only where the registry is asked: it takes a third of a second, which no other task need
pay.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar
from urllib.parse import urlsplit

from .backoff import backoff
from .connection import is_loopback
from .errors import (
    ConfigurationError,
    ConnectionFailed,
    HostedError,
    Interrupted,
    NotSent,
    OpenOutcome,
    Refused,
    ServerFailure,
    UnexpectedAnswer,
)
from .libraries import requests, require_for
from .models import RegistryCredentials
from .text import Redactor, clean
from .wire import is_connection_failure, root_reason

try:
    import oras.auth
    import oras.container
    import oras.logger
    import oras.provider
except ImportError:
    oras = None

TRIES = 3
CHUNK = 8 * 1024 * 1024
CONNECT_SECONDS = 10.0
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
                f"the registry {self._host} leads to {clean(url)}, which is not https; the registry's secret "
                "is not sent there"
            )

    def _do_request(self, registry: Any, url: str, method: str = "GET", **options: Any) -> Any:
        """Make one request of the library's, with its way of logging in, and without its repetitions."""
        if urlsplit(url).netloc != self._host:
            raise ConfigurationError(f"the registry {self._host} wants the upload at {clean(url)}; not sent")
        request = type(registry).do_request.__wrapped__
        response = request(registry, url, method, **options)
        if response.status_code == 401 and getattr(registry.auth, "token", None):
            registry.auth.token = None  # it has run out, and oras would send it again
            response = request(registry, url, method, **options)
        if method == "PATCH" and response.ok:
            self._sent(len(options.get("data") or b""))
        return response

    # --- What is there --------------------------------------------------------------------------------

    def digest_of(self, reference: str) -> str | None:
        """Return the digest of the image of this tag or digest; ``None`` when there is none."""

        def look() -> str | None:
            accept = ", ".join(MANIFEST_TYPES)
            response = self._registry.do_request(
                self._manifest(reference), "HEAD", headers={"Accept": accept}
            )
            if response.status_code == 404:
                return None
            judge(response)
            return response.headers.get("Docker-Content-Digest") or reference

        return self._again(look)

    def manifest(self, reference: str) -> tuple[bytes, str]:
        """Return the manifest of this tag or digest, byte for byte, and its media type."""

        def read() -> tuple[bytes, str]:
            accept = ", ".join(MANIFEST_TYPES)
            response = self._registry.do_request(self._manifest(reference), headers={"Accept": accept})
            judge(response)
            return response.content, response.headers.get("Content-Type") or MANIFEST_TYPES[0]

        return self._again(read)

    def has_blob(self, digest: str) -> bool:
        """Tell whether a part of an image is there already."""

        def look() -> bool:
            url = f"{self._scheme}://{self._container.get_blob_url(digest)}"
            response = self._registry.do_request(url, "HEAD")
            return response.status_code != 404 and judge(response)

        return self._again(look)

    # --- Sending --------------------------------------------------------------------------------------

    def send_blob(self, path: str, digest: str, size: int) -> None:
        """Send a part of an image from a file, in pieces. One that is cut off is begun anew."""

        def send() -> bool:
            layer = {"digest": digest, "size": size}
            return judge(self._registry.chunked_upload(path, self._container, layer, chunk_size=CHUNK))

        self._again(send)

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
            except (NotSent, OpenOutcome):
                time.sleep(backoff(failures))
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


def scheme_of(host: str) -> str:
    """Return how a registry is spoken to: plain http on this very machine alone."""
    name = urlsplit(f"//{host}").hostname
    if not name:
        raise UnexpectedAnswer(f"the platform names {host!r} as its registry, which is no host")
    return "http" if is_loopback(name) else "https"


def judge(response: Any) -> bool:
    """Tell that the registry did what it was asked, or raise what it answered.

    :raises Refused: with the registry's own words.
    :raises ServerFailure: when it failed.
    """
    if response.ok and response.status_code < 300:
        return True
    said = registry_message(response)
    where = f"{response.request.method} {urlsplit(response.url).path}"
    if response.status_code >= 500:
        raise ServerFailure(f"the registry failed ({response.status_code}) at {where}: {said}")
    raise Refused(f"the registry refused ({response.status_code}) {where}: {said}", response.status_code)


def registry_message(response: Any) -> str:
    """Return what the registry says in an error's body."""
    try:
        errors = response.json()["errors"]
        return clean("; ".join(f"{error.get('code')}: {error.get('message')}" for error in errors))
    except (ValueError, KeyError, TypeError, AttributeError):
        return "no reason was given"
