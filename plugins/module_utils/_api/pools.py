# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Opens pools of connections of urllib3, with the CAs and proxies that requests would use.

requests spends as much time on a call as urllib3 does, and most tasks need nothing else of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from .errors import ConfigurationError
from .libraries import certifi, urllib3
from .proxies import from_environment

AFTER_HOST = re.compile("[/?#]")


def origin(url: str) -> str:
    """Return the scheme, host and port of a URL, in a tenth of the time that urlsplit takes."""
    scheme, __, rest = url.partition("://")
    return f"{scheme}://{AFTER_HOST.split(rest, 1)[0]}"


def open_pools(url: str, verify: bool | str, proxies: Mapping[str, str] | None = None) -> Any:
    """Return a pool manager of urllib3 for the server of a URL.

    ``verify`` and ``proxies`` are those of requests; the environment's are read, too.

    :raises ConfigurationError: if the CAs or the proxy cannot be used.
    """
    # urllib3 warns about unverified certificates, which the user asked for. An Ansible worker must not write
    # to the terminal itself. Disabling the warnings on import has no effect, because Ansible restores the
    # filters after it loads a plugin.
    urllib3.disable_warnings()
    settings = from_environment(url, verify, proxies)
    tls = tls_settings(url, settings["verify"])
    proxy = proxy_for(url, settings["proxies"])
    return DirectPool(url, tls) if proxy is None else open_proxy(proxy, tls)


class DirectPool:
    """The connections to one server, in the form of a pool manager, which looks for the pool at each call."""

    def __init__(self, url: str, tls: Mapping[str, Any]) -> None:
        self._open = partial(urllib3.connection_from_url, url, **(tls if url.startswith("https:") else {}))
        self.pool = self._open()

    def request(self, method: str, url: str, **how: Any) -> Any:
        """Send a request; see :meth:`urllib3.PoolManager.request`."""
        return self.pool.request(method, url[len(origin(url)) :] or "/", assert_same_host=False, **how)

    def clear(self) -> None:
        """Close all open connections."""
        self.pool.close()
        self.pool = self._open()

    def __enter__(self) -> DirectPool:
        return self

    def __exit__(self, *error: object) -> None:
        self.clear()


def tls_settings(url: str, verify: bool | str) -> dict[str, Any]:
    """Return the arguments of urllib3 that verify certificates in the way that ``verify`` says.

    :raises ConfigurationError: if the file or folder of CAs does not exist.
    """
    if verify is False:
        return {"cert_reqs": "CERT_NONE"}
    authorities = certifi.where() if verify is True else str(verify)
    if url.startswith("https:") and not os.path.exists(authorities):
        raise ConfigurationError(
            f"cannot send: the file of certificate authorities {authorities!r} does not exist"
        )
    kind = "ca_cert_dir" if os.path.isdir(authorities) else "ca_certs"
    return {"cert_reqs": "CERT_REQUIRED", kind: authorities}


def proxy_for(url: str, proxies: Mapping[str, str]) -> str | None:
    """Return the URL of the proxy for a URL; ``None`` if there is none. The most specific key decides."""
    parts = urlsplit(url)
    keys = (f"{parts.scheme}://{parts.hostname}", parts.scheme, f"all://{parts.hostname}", "all")
    proxy = next((proxies[key] for key in keys if key in proxies), None)
    if not proxy:
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def open_proxy(proxy: str, tls: Mapping[str, Any]) -> Any:
    """Return a pool manager that sends all requests by way of a proxy.

    :raises ConfigurationError: if its URL is invalid, or it needs a library that is not installed. The
        message holds no password.
    """
    parts = urllib3.util.parse_url(proxy)
    if not parts.host:
        raise ConfigurationError("cannot send: the URL of the proxy names no host")
    user, __, password = (parts.auth or "").partition(":")
    if str(parts.scheme).startswith("socks"):
        return socks_manager()(proxy, unquote(user) or None, unquote(password) or None, **tls)
    headers = {}
    if user:
        headers = urllib3.util.make_headers(proxy_basic_auth=f"{unquote(user)}:{unquote(password)}")
    return urllib3.ProxyManager(proxy, proxy_headers=headers, **tls)


def socks_manager() -> Any:
    """Return urllib3's class for SOCKS proxies.

    :raises ConfigurationError: if PySocks, which it needs, is not installed.
    """
    try:
        from urllib3.contrib.socks import SOCKSProxyManager  # noqa: PLC0415 - needs a library of its own
    except ImportError:
        raise ConfigurationError(
            "cannot send: a SOCKS proxy needs the Python library PySocks; install it with: "
            "pip install PySocks"
        ) from None
    return SOCKSProxyManager
