# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sends requests to an image registry, and logs in as it asks: by Basic, or by a token of its token server.

The protocol: https://distribution.github.io/distribution/spec/auth/token/
"""

from __future__ import annotations

import base64
import ipaddress
import re
import socket
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from .bounded_call import run_bounded
from .connection import is_loopback
from .errors import ConfigurationError, Interrupted, Refused, UnexpectedAnswer, error_for_status
from .http_transport import HttpTransport, failure, proxies_for, read_whole
from .libraries import requests, urllib3
from .models import RegistryCredentials
from .responses import parse
from .text import clean
from .uploads import Chunk

MAX_REDIRECTS = 3
MAX_ANSWER = 4 * 1024 * 1024
"""The largest manifest, token or message in bytes, unpacked. Registries take no larger manifest either."""
ELSEWHERE = (301, 302, 303, 307, 308)
"""Redirects to an object store: a registry may keep blobs there."""
USER_AGENT = "hosted.services (Ansible collection)"
PARAMETER = re.compile(r'\b([A-Za-z]+)="([^"]*)"')


class RegistrySession:
    """A session with one registry, for several threads. Sends the secret to it and its token server only.

    :param timeout: how long the registry may be silent, in seconds, and how long an answer may take in all
        where no blob is sent or received.
    :param log: called with one line per request, without secrets.
    """

    def __init__(
        self,
        credentials: RegistryCredentials,
        verify: bool | str,
        timeout: float,
        log: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._host = credentials.host
        self._verify = verify
        self._log = log
        self._timeout = timeout
        login = f"{credentials.username}:{credentials.secret}".encode()
        self._basic = f"Basic {base64.b64encode(login).decode()}"
        self._authorization: str | None = None
        self._transport = HttpTransport()

    def look(self, url: str) -> None:
        """Request the root of the registry, which says whether it takes Basic; then no request is sent twice.

        :raises ConfigurationError: if the address is not encrypted.
        """
        challenge = self._send("GET", url, {}).headers.get("Www-Authenticate", "")
        if challenge.lower().startswith("basic"):
            self._authorization = self._basic

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        data: bytes | Chunk | None = None,
        *,
        stream: bool = False,
    ) -> Any:
        """Send a request, and once more if the registry asks for a login, or for a new one.

        :param stream: whether the body of the response is left to be read in pieces.

        :raises ConfigurationError: if the address is another server's, or is not encrypted.
        :raises Refused: if the token server does not accept the credentials.
        """
        if urlsplit(url).netloc != self._host:
            raise ConfigurationError(
                f"the registry {self._host} wants the upload at {without_query(url)}; not sent"
            )
        response = self._send(method, url, headers or {}, data, self._authorization, stream=stream)
        if response.status_code not in (401, 403):
            return response
        authorization = self._answer(response.headers.get("Www-Authenticate", ""))
        if authorization in (None, self._authorization):
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
            response = self._send(
                "GET", urljoin(response.url, response.headers["Location"]), headers, stream=True
            )
        return response

    def check_address(self, url: str) -> None:
        """Refuse to follow the registry to an unencrypted address, or from elsewhere to this machine.

        A token server or a store on another host is usual, as with Docker Hub; https proves who it is.
        """
        target = urllib3.util.parse_url(url)  # as requests does; urlsplit may see another host
        if target.scheme != "https" and not is_loopback((target.host or "").strip("[]")):
            raise ConfigurationError(
                f"the registry {self._host} leads to {without_query(url)}, which is not https; the "
                "registry's secret is not sent there"
            )
        own = urllib3.util.parse_url(f"https://{self._host}")
        if target.netloc != own.netloc and is_inside(target) and not is_inside(own):
            raise ConfigurationError(
                f"the registry {self._host} leads to {without_query(url)}, an address of this machine or its "
                "link, where only a registry on this machine may lead; nothing is sent there"
            )

    def _send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        data: bytes | Chunk | None = None,
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
            how: Any = {"verify": self._verify, "seconds": self._timeout}
            response = self._transport.open(method, url, sent, data, **how)
            if not stream or response.status_code >= 300:
                response._content = read_whole(response, MAX_ANSWER)  # noqa: SLF001 - as requests keeps it
            return response

        try:
            lasts = stream or isinstance(data, Chunk)
            response = call() if lasts else run_bounded(self._timeout, call)
            outcome = str(response.status_code)
            return response
        except TimeoutError:
            raise Interrupted(
                f"no complete response of the registry {self._host} within {self._timeout:g} seconds"
            ) from None
        except (OSError, urllib3.exceptions.HTTPError) as error:
            told = failure(error, url, self._verify, "the registry's address")
            raise told.prepend(f"the registry {self._host}: ") from None
        finally:
            took = (time.monotonic() - begun) * 1000
            self._log(f"{method} {without_query(url)} -> {outcome} in {took:.0f} ms")

    def _answer(self, challenge: str) -> str | None:
        """Return the header that answers a challenge; ``None`` if the challenge is of an unknown kind."""
        scheme, _space, text = challenge.partition(" ")
        if scheme.lower() == "basic":
            return self._basic
        if scheme.lower() != "bearer":
            return None
        return f"Bearer {self._token(dict(PARAMETER.findall(text)))}"

    def _token(self, asked: Mapping[str, str]) -> str:
        """Return a token of the token server that the registry names."""
        realm = asked.get("realm", "")
        address = realm if "://" in realm else f"https://{realm}"
        query = {name: asked[name] for name in ("service", "scope") if name in asked}
        if query:
            address += f"{'&' if urlsplit(address).query else '?'}{urlencode(query)}"
        response = self._send("GET", address, {"Accept": "application/json"}, None, self._basic)
        if response.status_code != 200:
            raise self._refused(f"its token server answered {response.status_code}")
        try:
            told = parse(response.content)
        except (ValueError, RecursionError):
            raise Interrupted(
                f"the token server of the registry {self._host} answered with something that is not JSON"
            ) from None
        if not isinstance(told, dict):
            raise UnexpectedAnswer(f"the token server of the registry {self._host} returned no JSON object")
        token = told.get("token") or told.get("access_token")
        if not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise self._refused("its token server returned no token")
        return token

    def _refused(self, reason: str) -> Refused:
        """Return the error for credentials that are not accepted."""
        return error_for_status(
            f"the registry {self._host} does not accept the account's registry credentials: {reason}", 401
        )


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
