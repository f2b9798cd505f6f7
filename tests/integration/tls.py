# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Certificates made on the spot, a server that speaks TLS before a sandbox, and a proxy before that."""

from __future__ import annotations

import base64
import ipaddress
import select
import socket
import socketserver
import ssl
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from hosted_sandbox.testing import Sandbox
from integration import proxy_server

HOST = "api.example.test"
REGISTRY = "registry.example.test"
HERE = (HOST, REGISTRY, "localhost", "127.0.0.1")
DAY = timedelta(days=1)
SIGNS = x509.KeyUsage(
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    key_cert_sign=True,
    crl_sign=True,
    encipher_only=False,
    decipher_only=False,
)
"""What an authority's certificate is for. Python 3.13 asks for this, and for the identifiers of keys."""


class Authority:
    """Signs certificates; its own is in `path`."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder = folder
        self.key = ec.generate_private_key(ec.SECP256R1())
        self.name = subject(name)
        self.certificate = self._sign(self.name, self.key.public_key(), (), datetime.now(UTC), None)
        self.path = folder / f"{name}.pem"
        self.path.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def issue(
        self, name: str, hosts: Sequence[str] = HERE, since: timedelta = -DAY, own: bool = False
    ) -> Path:
        """Write a certificate for two days from `since` on, with its key; `own`: signed by itself."""
        key = ec.generate_private_key(ec.SECP256R1())
        signer = key if own else None
        certificate = self._sign(subject(name), key.public_key(), hosts, datetime.now(UTC) + since, signer)
        path = self.folder / f"{name}.pem"
        plain = serialization.NoEncryption()
        path.write_bytes(
            key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
            + certificate.public_bytes(serialization.Encoding.PEM)
        )
        return path

    def _sign(
        self,
        name: x509.Name,
        key: ec.EllipticCurvePublicKey,
        hosts: Sequence[str],
        since: datetime,
        own: ec.EllipticCurvePrivateKey | None,
    ) -> x509.Certificate:
        builder = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name if own else self.name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(since)
            .not_valid_after(since + 2 * DAY)
            .add_extension(x509.BasicConstraints(ca=not hosts, path_length=None), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key((own or self.key).public_key()),
                critical=False,
            )
        )
        if hosts:
            names = x509.SubjectAlternativeName([general_name(host) for host in hosts])
            builder = builder.add_extension(names, critical=False)
        else:
            builder = builder.add_extension(SIGNS, critical=True)
        return builder.sign(own or self.key, hashes.SHA256())


def subject(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


class Front(socketserver.ThreadingTCPServer):
    """Carries bytes between who connects and a port on this machine."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, handler: type[socketserver.BaseRequestHandler], behind: int) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.behind = behind
        self.connections = 0

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class TlsFront(Front):
    """Speaks TLS to who connects."""

    def __init__(self, certificate: Path, behind: int) -> None:
        super().__init__(TlsPassage, behind)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)


class TlsPassage(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        """Take the TLS off, if the other side agrees to it."""
        assert isinstance(self.server, TlsFront)
        self.server.connections += 1
        with suppress(OSError):
            carry(self.server.context.wrap_socket(self.request, server_side=True), self.server.behind)


class Proxy(Front):
    """An HTTP proxy for CONNECT. It knows one server by whatever name; `login` is user:password."""

    def __init__(self, behind: int, login: str = "") -> None:
        super().__init__(ProxyPassage, behind)
        self.asked: list[str] = []
        """Where it was asked to lead."""
        self.login = login


class ProxyPassage(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        """Open a tunnel, for those who may."""
        assert isinstance(self.server, Proxy)
        if not (head := read_head(self.request)):
            return
        self.server.asked.append(head.decode().split()[1])
        expected = b"Basic " + base64.b64encode(self.server.login.encode())
        if self.server.login and expected not in head:
            self.request.sendall(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
            return
        self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        with suppress(OSError):
            carry(self.request, self.server.behind)


def read_head(connection: socket.socket) -> bytes:
    """Read a request up to its body; nothing when whoever connected hangs up before."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            return b""
        head += byte
    return head


def carry(front: socket.socket, port: int) -> None:
    """Carry bytes both ways until one side has had enough."""
    with front, socket.create_connection(("127.0.0.1", port)) as behind:
        other = {front: behind, behind: front}
        while True:
            waiting = isinstance(front, ssl.SSLSocket) and front.pending() > 0
            for ready in [front] if waiting else select.select(list(other), [], [])[0]:
                data = ready.recv(65536)
                if not data:
                    return
                other[ready].sendall(data)


@contextmanager
def running(*fronts: Front) -> Iterator[None]:
    """Run servers while a test needs them."""
    with ExitStack() as stack:
        for front in fronts:
            stack.enter_context(proxy_server.running(front))
        yield


def port_of(sandbox: Sandbox) -> int:
    return int(urlsplit(sandbox.base_url).port or 0)
