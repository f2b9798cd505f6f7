# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A client of the platform's image registry, by the OCI distribution specification.

It logs in as the registry asks: by Basic, or by a token of its token server, as
https://distribution.github.io/distribution/spec/auth/token/ describes.
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import math
import re
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import IO, Any, TypeVar
from urllib.parse import urlencode, urljoin, urlsplit

from . import errors
from .bounded_call import run_bounded
from .connection import is_loopback
from .http_transport import HttpTransport, Request, failure, proxies_for, root_reason
from .libraries import requests, urllib3
from .models import DIGEST, RegistryCredentials
from .responses import describe_pause, parse, pause_before_retry, retry_after_seconds, wait_for_retry
from .text import Redactor, clean

RETRIES = 2
TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}")
T = TypeVar("T")
MAX_REDIRECTS = 3
MAX_ANSWER = 4 * 1024 * 1024
"""The largest manifest, token or message in bytes, unpacked. Registries take no larger manifest either."""
ELSEWHERE = (301, 302, 303, 307, 308)
"""Redirects to an object store: a registry may keep blobs there."""
USER_AGENT = "hosted.services (Ansible collection)"
PARAMETER = re.compile(r'\b([A-Za-z]+)="([^"]*)"')
BLOCK = 1024 * 1024
"""How many bytes of a blob are in memory at a time."""
Content = Callable[[], AbstractContextManager[IO[bytes]]]
"""Opens the content of a blob."""


class Blob:
    """A blob, read while it is sent: as often as it is, because a login may be asked for first."""

    def __init__(self, content: Content, size: int, sent: Callable[[int], None]) -> None:
        self._content, self._size, self._sent = content, size, sent

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[bytes]:
        left = self._size
        with self._content() as file:
            while left:
                block = file.read(min(left, BLOCK))
                if not block:
                    raise errors.Interrupted(f"the content ended {left} bytes before its announced end")
                left -= len(block)
                yield block
                self._sent(len(block))


@dataclass(eq=False, repr=False)
class Repository:
    """The repository of one application, for several threads.

    Sends the secret to the registry and its token server only.
    """

    credentials: RegistryCredentials
    slug: str
    timeout: float = 60
    """The seconds that the registry may be silent, or take in all where no blob is sent, or ask to wait."""
    verify: bool | str = True
    sent: Callable[[int], None] = lambda count: None
    """Called with the size of each block that was sent, in bytes."""
    retries: int = field(default=RETRIES, kw_only=True)
    log: Callable[[str], None] = field(default=lambda line: None, kw_only=True)
    """Called with one line per request, without secrets."""
    on_pause: Callable[[str], None] = field(default=lambda line: None, kw_only=True)
    """Told every second of a pause before a retry how long it goes on and why."""

    def __post_init__(self) -> None:
        self._host = self.credentials.host
        self.path = f"{self.credentials.project}/{self.slug}"
        self.name = f"{self._host}/{self.path}"
        self._root = f"{scheme_of(self._host)}://{self._host}/v2/{self.path}"
        login = f"{self.credentials.username}:{self.credentials.secret}".encode()
        self._basic = f"Basic {base64.b64encode(login).decode()}"
        self._authorization: str | None = None
        self._redact = Redactor([self.credentials.secret])
        self._transport = HttpTransport()

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
            raise errors.UnexpectedAnswer(
                f"the registry {self._host} returned a manifest that does not match digest {reference}"
            )
        kind = response.headers.get("Content-Type", MANIFEST_TYPES[0])
        return response.content, kind.partition(";")[0].strip()

    def has_blob(self, digest: str) -> bool:
        expected = (HTTPStatus.NOT_FOUND, *ELSEWHERE)
        response = self._ask("HEAD", f"{self._root}/blobs/{digest}", expected=expected)
        return bool(response.status_code != HTTPStatus.NOT_FOUND)

    def open_blob(self, digest: str) -> AbstractContextManager[IO[bytes]]:
        """Open a blob to read it as it arrives, from the registry or from the store that it names."""
        response = self.download(f"{self._root}/blobs/{digest}", {"Accept-Encoding": "identity"})
        check_response(response)
        return closing(response.raw)

    # --- Sending --------------------------------------------------------------------------------------

    def send_blob(self, content: Content, digest: str, size: int, source: str | None = None) -> bool:
        """Upload a blob, or have the registry take it over from repository ``source``; return whether it did.

        The registry verifies the digest. A retry begins anew.
        """
        blob = Blob(content, size, self.sent) if size else None
        mount = f"?{urlencode({'mount': digest, 'from': source})}" if source else ""

        def send() -> bool:
            begun = self.request("POST", f"{self._root}/blobs/uploads/{mount}", {"Content-Length": "0"})
            check_response(begun)
            if mount and begun.status_code == HTTPStatus.CREATED:
                return True
            location = begun.headers.get("Location")
            if not location:
                raise errors.UnexpectedAnswer("the registry does not say where to upload to (no Location)")
            url = urljoin(begun.url, location)
            url += f"{'&' if urlsplit(url).query else '?'}{urlencode({'digest': digest})}"
            check_response(self.request("PUT", url, {"Content-Type": "application/octet-stream"}, blob))
            return False

        return self._with_retries(send)

    def put_manifest(self, content: bytes, media_type: str, reference: str) -> None:
        try:
            self._ask("PUT", self._manifest(reference), {"Content-Type": media_type}, content)
        except errors.CallOutcomeUnknown as error:
            error.append(f". Whether {reference!r} names the new image now is unknown; run this again")
            raise

    # --- Sending requests -----------------------------------------------------------------------------

    def _manifest(self, reference: str) -> str:
        if not DIGEST.fullmatch(reference) and not TAG.fullmatch(reference):
            raise errors.UnexpectedAnswer(f"{reference!r} is neither the digest of an image nor a tag")
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
            response = self.request(method, url, headers, data)
            if response.status_code not in expected:
                check_response(response)
            return response

        return self._with_retries(ask)

    def _with_retries(self, call: Callable[[], T]) -> T:
        """Make a call with retries: all calls to a registry are idempotent."""
        failures = 0
        while True:
            error: errors.HostedError
            try:
                return call()
            except errors.HostedError as raised:
                error = raised.reworded(self._redact(raised.message))
            except ValueError as raised:  # urllib splits no URL whose port or brackets are wrong
                said = clean(self._redact(str(raised)))
                error = errors.UnexpectedAnswer(f"the registry {self._host} names an invalid address: {said}")
            except OSError as raised:
                error = errors.Interrupted(f"the registry {self._host}: {self._redact(root_reason(raised))}")
            failures, retried = failures + 1, isinstance(error, (errors.NotSent, errors.CallOutcomeUnknown))
            pause = pause_before_retry(error, failures) if retried and failures <= self.retries else math.inf
            if pause > self.timeout:
                raise error from None
            wait_for_retry(pause, error.message, self.on_pause)

    # --- Requests and logins --------------------------------------------------------------------------

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        data: bytes | Blob | None = None,
        *,
        stream: bool = False,
    ) -> Any:
        """Send a request, and once more if the registry asks for a login, or for a new one.

        :param stream: whether the body of the response is left to be read in pieces.
        """
        if urlsplit(url).netloc != self._host:
            raise errors.ConfigurationError(
                f"the registry {self._host} wants the upload at {without_query(url)}; not sent"
            )
        used = self._authorization  # another thread may log in meanwhile
        response = self._send(method, url, headers or {}, data, used, stream=stream)
        if response.status_code not in (401, 403):
            return response
        scheme, _space, asked = response.headers.get("Www-Authenticate", "").partition(" ")
        authorization = self._basic if scheme.lower() == "basic" else None
        if scheme.lower() == "bearer":
            authorization = f"Bearer {self._token(dict(PARAMETER.findall(asked)))}"
        if authorization in (None, used):
            return response
        self._authorization = authorization
        return self._send(method, url, headers or {}, data, authorization, stream=stream)

    def download(self, url: str, headers: Mapping[str, str]) -> Any:
        """Request a blob, whose body is left to be read in pieces. An object store gets no credentials."""
        response = self.request("GET", url, headers, stream=True)
        for _redirect in range(MAX_REDIRECTS):
            if response.status_code not in ELSEWHERE or "Location" not in response.headers:
                break
            response.close()
            url = urljoin(response.url, response.headers["Location"])
            response = self._send("GET", url, headers, stream=True)
        return response

    def check_address(self, url: str) -> None:
        """Refuse to follow the registry to an unencrypted address, or from elsewhere to this machine.

        A token server or a store on another host is usual, as with Docker Hub; https proves who it is.
        """
        target = urllib3.util.parse_url(url)  # as requests does; urlsplit may see another host
        if target.scheme != "https" and not is_loopback((target.host or "").strip("[]")):
            raise errors.ConfigurationError(
                f"the registry {self._host} leads to {without_query(url)}, which is not https; the "
                "registry's secret is not sent there"
            )
        own = urllib3.util.parse_url(f"https://{self._host}")
        if target.netloc != own.netloc and is_inside(target) and not is_inside(own):
            raise errors.ConfigurationError(
                f"the registry {self._host} leads to {without_query(url)}, an address of this machine or its "
                "link, where only a registry on this machine may lead; nothing is sent there"
            )

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        data: bytes | Blob | None = None,
        authorization: str | None = None,
        *,
        stream: bool = False,
    ) -> Any:
        """Send one request, without following redirects."""
        self.check_address(url)
        login = {"Authorization": authorization} if authorization else {}
        begun, outcome = time.monotonic(), "no answer"

        def call() -> Any:
            sent = {"User-Agent": USER_AGENT, **headers, **login}
            request = Request(method, url, None, sent, self.verify)
            response = self._transport.open(request, self.timeout, data, None if stream else MAX_ANSWER)
            if stream and response.status_code >= 300:  # as requests keeps what was read
                response._content = next(response.iter_content(MAX_ANSWER), b"")  # noqa: SLF001 - as requests
                response.close()
            return response

        try:
            lasts = stream or isinstance(data, Blob)
            response = call() if lasts else run_bounded(self.timeout, call)
            outcome = str(response.status_code)
            return response
        except TimeoutError:
            raise errors.Interrupted(
                f"no complete response of the registry {self._host} within {self.timeout:g} seconds"
            ) from None
        except (OSError, urllib3.exceptions.HTTPError) as error:
            told = failure(error, url, self.verify, "the registry's address")
            raise told.prepend(f"the registry {self._host}: ") from None
        finally:
            took = (time.monotonic() - begun) * 1000
            self.log(self._redact(f"{method} {without_query(url)} -> {outcome} in {took:.0f} ms"))

    def _token(self, asked: Mapping[str, str]) -> str:
        """Return a token of the token server that the registry names."""
        realm = asked.get("realm", "")
        address = realm if "://" in realm else f"https://{realm}"
        query = urlencode({name: asked[name] for name in ("service", "scope") if name in asked})
        if query:
            address += f"{'&' if urlsplit(address).query else '?'}{query}"
        response = self._send("GET", address, {"Accept": "application/json"}, None, self._basic)
        refused = f"the registry {self._host} does not accept the account's registry credentials"
        if response.status_code != 200:
            reason = f"its token server answered {response.status_code}"
            raise errors.error_for_status(f"{refused}: {reason}", 401)
        try:
            told = parse(response.content)
        except (ValueError, RecursionError):
            said = f"the token server of the registry {self._host} answered with something that is not JSON"
            raise errors.Interrupted(said) from None
        token = (told.get("token") or told.get("access_token")) if isinstance(told, dict) else None
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise errors.error_for_status(f"{refused}: its token server returned no token", 401)
        return token


MANIFEST_TYPES = (
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
)


ACCEPT = {"Accept": ", ".join(MANIFEST_TYPES)}


def scheme_of(host: str) -> str:
    """Return the URL scheme for a registry: http only for the local machine."""
    name = None
    with suppress(ValueError):  # brackets that do not match, or a port that is no number
        parts = urlsplit(f"//{host}")
        name = None if parts.netloc != host or "@" in host or parts.port == 0 else parts.hostname
    if not name or "]" in name:
        raise errors.UnexpectedAnswer(
            f"the platform names {host!r} as its registry, which is not a host name"
        )
    return "http" if is_loopback(name) else "https"


def check_response(response: Any) -> None:
    """Raise an error with the registry's message unless a response is 2xx."""
    status, headers = response.status_code, response.headers
    if status < 300:
        return
    where = f"{response.request.method} {urlsplit(response.url).path}"  # the query may hold a secret
    try:
        told = parse(response.content)["errors"]
        said = clean("; ".join(f"{error.get('code')}: {error.get('message')}" for error in told))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        said = ""
    said = said or errors.NO_REASON
    if status == 429:
        after = retry_after_seconds(headers.get("Retry-After"), headers.get("Date", ""))
        raise errors.RateLimited(f"too many requests (429) at {where}{describe_pause(after)}: {said}", after)
    if status < 400:
        leads = f"a redirect ({status}) to {without_query(headers.get('Location', 'nowhere'))}"
        raise errors.Redirected(f"the registry answered {where} with {leads}, which is not followed")
    if errors.leaves_open(status):
        raise errors.ServerFailure(f"the registry failed ({status}) at {where}: {said}")
    raise errors.error_for_status(f"the registry refused ({status}) {where}: {said}", status)


def is_inside(url: Any) -> bool:
    """Tell whether a parsed URL leads to this machine or its link, where clouds keep secrets of machines."""
    name = (url.host or "").strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    proxied = requests.utils.select_proxy(url.url, proxies_for(url.url))  # looks names up itself
    try:  # also reads 127.1 and 2130706433, as whatever connects does
        found = socket.getaddrinfo(name, None, flags=socket.AI_NUMERICHOST if proxied else 0)
    except (OSError, UnicodeError):
        return False
    addresses = [ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found]
    plain = [getattr(address, "ipv4_mapped", None) or address for address in addresses]
    return any(each.is_loopback or each.is_link_local or each.is_unspecified for each in plain)


def without_query(url: str) -> str:
    """Return a URL without its query, which may hold an upload's secret."""
    parts = urlsplit(url)
    return clean(f"{parts.scheme}://{parts.netloc}{parts.path}")
