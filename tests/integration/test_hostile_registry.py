# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registries and images that mean no good: endless, without a bottom, and leading where nobody should go."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hosted_sandbox.registry.images import build_image, tar_of
from hosted_sandbox.testing import Sandbox
from integration.ansible_run import Ansible, Outcome, Run
from integration.proxy_server import ProxyServer, running
from integration.tls import Authority, Proxy, TlsFront
from integration.tls import running as fronts_running

SECRET = "registry-s3cret-of-anna"
LOGIN = {"project": "acme", "username": "anna", "secret": SECRET}
INDEX = "application/vnd.oci.image.index.v1+json"
REGISTRY = "registry.example.test"
LEVELS = 30


class Answer(NamedTuple):
    status: int = 200
    headers: Mapping[str, str] = {}
    body: bytes = b""


class HostileRegistry(ThreadingHTTPServer):
    """Keeps manifests, takes every part over, and answers otherwise where `answer` says so."""

    daemon_threads = True

    def __init__(self, answer: Callable[[str, str, str], Answer | None] = lambda *asked: None) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server_address[1]}"
        self.manifests: dict[str, bytes] = {}
        self.copied: set[str] = set()
        self.asked: list[tuple[str, str, str]] = []
        """Method, path and `Authorization` of each request."""
        self.answer = answer

    def keep(self, manifest: Mapping[str, Any] | bytes) -> dict[str, Any]:
        """Keep a manifest; return what refers to it."""
        content = manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode()
        digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
        self.manifests[digest] = content
        return {"mediaType": INDEX, "digest": digest, "size": len(content)}

    def respond(self, method: str, path: str, authorization: str) -> Answer:
        self.asked.append((method, path, authorization))
        answer = self.answer(method, path, authorization)
        if answer is not None or path == "/v2/":
            return answer or Answer()
        name = path.rpartition("/")[2]
        if method in ("POST", "PUT"):
            self.copied.add(name)
            return Answer(201)
        here = "/manifests/" in path and ("-copy/" not in path or name in self.copied)
        found = self.manifests.get(name) if here else None
        return Answer(404) if found is None else Answer(200, {"Content-Type": INDEX}, found)


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def handle_one(self) -> None:
        assert isinstance(self.server, HostileRegistry)
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, headers, body = self.server.respond(
            self.command, self.path, self.headers.get("Authorization", "")
        )
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        with suppress(OSError):  # whoever asked has had enough
            self.end_headers()
            self.wfile.write(b"" if self.command == "HEAD" else body)

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = handle_one  # noqa: N815 - the library's


@contextmanager
def hostile(
    sandbox: Sandbox, registry: HostileRegistry, host: str = "", digest: str = ""
) -> Iterator[dict[str, str]]:
    """Give the environment of a platform that names this registry, and this digest as what runs."""

    def change(content: bytes) -> bytes:
        if b'"secret"' in content:
            return json.dumps({"host": host or registry.host, **LOGIN}).encode()
        runs = app_digest(content)
        return content.replace(runs.encode(), digest.encode()) if digest and runs else content

    with ExitStack() as stack:
        stack.enter_context(running(registry))
        platform = stack.enter_context(running(ProxyServer(sandbox, change=change)))
        yield {"HOSTED_SERVICES_URL": platform.url}


def app_digest(content: bytes) -> str:
    """Return the digest that an answer of the platform names; empty if it names none."""
    _before, colon, after = content.partition(b"sha256:")
    return f"sha256:{after[:64].decode()}" if colon else ""


@pytest.fixture
def shop(sandbox: Sandbox) -> Sandbox:
    """A platform with an application that runs."""
    image = {"slug": "acme-api", "project": "shop", "images": [{"tag": "v1"}], "deployed": "v1"}
    sandbox.seed({"balance_cents": 100_000, "projects": ["old", "shop"], "apps": [image]})
    return sandbox


def told(outcome: Outcome) -> str:
    """Return the error of a task that failed for a reason that people understand."""
    assert outcome.failed
    assert "defect of the collection" not in outcome.message and "Traceback" not in outcome.message
    return outcome.message


def index(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"schemaVersion": 2, "mediaType": INDEX, "manifests": list(entries)}


# --- What is read of a registry -------------------------------------------------------------------------


class Image(NamedTuple):
    """An image, the registry that it is in, and how that is reached: by its address, or else as it says."""

    registry: HostileRegistry
    top: Mapping[str, Any]
    host: str = ""
    reached: Mapping[str, str] = {}


def clone(ansible: Ansible, shop: Sandbox, images: Mapping[str, Image]) -> Run:
    """Clone an application that runs an image, from a platform for each image, in a task of its name."""
    tasks = []
    with ExitStack() as stack:
        for number, (name, image) in enumerate(images.items()):
            where = stack.enter_context(hostile(shop, image.registry, image.host, image.top["digest"]))
            target = {"project": f"copy-{number}", "rename": {"suffix": f"-{number}-copy"}}
            options = {"source": "shop", **target, "without_data": ["acme-api"]}
            reached = {**where, **image.reached}
            tasks.append({"name": name, "hosted.services.clone": options, "environment": reached})
        return ansible.tasks(json.dumps(tasks), "ignore_errors: true\n")


PACKED, ZEROS = {"Content-Encoding": "gzip"}, gzip.compress(bytes(50_000_000))
ECHO = json.dumps({"errors": [{"message": SECRET}]}).encode()
BOMBS: dict[str, tuple[Answer, str]] = {
    "gzip": (Answer(200, PACKED, ZEROS), "larger than 4 MB"),
    "plain": (Answer(200, {}, bytes(5_000_000)), "larger than 4 MB"),
    "an error": (Answer(500, PACKED, ZEROS), "larger than 4 MB"),
    "a redirect": (Answer(307, {"Location": "/"}, bytes(50_000_000)), "larger than 4 MB"),
    "deep error": (Answer(403, {}, b'{"errors":' * 100_000), "refused (403)"),
    "another manifest": (Answer(200, {}, b"{}"), "does not match digest"),
    "an echo": (Answer(403, {}, ECHO), "refused (403)"),
}


def giving(answer: Answer) -> HostileRegistry:
    """Return a registry that gives this answer to whoever reads a manifest."""

    def respond(method: str, path: str, login: str) -> Answer | None:
        return answer if method == "GET" and "/manifests/" in path else None

    return HostileRegistry(respond)


def test_what_is_no_image_and_answers_without_a_size_are_told(ansible: Ansible, shop: Sandbox) -> None:
    """Unpacked, whatever their status; what is wrong with them is told, without the secret.

    Of 1,500 indexes within each other, 64 are allowed; thirty that each name the next one twice are 30
    manifests, not 2^30.
    """
    cases: dict[str, Image] = {}
    for name, (answer, _says) in BOMBS.items():
        registry = giving(answer)
        cases[name] = Image(registry, registry.keep(index()))
    for name, levels, twice in (("deep", 1500, 1), ("wide", LEVELS, 2)):
        registry = HostileRegistry()
        top = registry.keep(index())
        for _level in range(levels):
            top = registry.keep(index(*[top] * twice))
        cases[name] = Image(registry, top)
    for name, content in (("no object", b"[]"), ("no list", b'{"manifests": 5}')):
        registry = HostileRegistry()
        cases[name] = Image(registry, registry.keep(content))
    run = clone(ansible, shop, cases)
    says = {name: text for name, (_answer, text) in BOMBS.items()}
    says |= {"deep": "64 levels", "no object": "is no manifest", "no list": "not a list"}
    says["wide"] = "was not pushed to this application"  # the platform has its own registry
    assert {name: text for name, text in says.items() if text not in told(run[name])} == {}
    assert SECRET not in run.output
    asked = [path for method, path, _login in cases["wide"].registry.asked if method == "GET"]
    read = [path for path in asked if "/acme-api/manifests/" in path]
    assert len(read) == len(set(read)) == LEVELS + 1


# --- Where a registry leads -----------------------------------------------------------------------------


PLACES = (
    "http://{0}/", "http://localhost:{1}/", "https://{0}/", "https://2130706433:{1}/",
    "https://[::ffff:127.0.0.1]:{1}/", "http://{0}\\@other.test/", "https://169.254.169.254/", "https://127.1:{1}/",
)  # fmt: skip


CASES = [*product(("login",), PLACES), *product(("blob",), PLACES[:3])]


def leading(way: str, where: str) -> HostileRegistry:
    """Return a registry that leads to a place: for a login, or for a part of an image."""

    def answer(method: str, path: str, login: str) -> Answer | None:
        if way == "login":
            return Answer(401, {"Www-Authenticate": f'Bearer realm="{where}"'})
        if "/blobs/" in path:
            upload = Answer(202, {"Location": f"{path}/1"})
            return {"GET": Answer(307, {"Location": where}), "POST": upload}.get(method, Answer(404))
        return None

    return HostileRegistry(answer)


def test_nobody_leads_to_this_machine(ansible: Ansible, shop: Sandbox) -> None:
    """A registry elsewhere has neither its secret sent to a port of the controller, nor a request.

    It is reached by a proxy, under a name of its own.
    """
    inside, authority = HostileRegistry(), Authority(ansible.folder, "authority")
    certificate = authority.issue("registry", [REGISTRY])
    part = {"digest": f"sha256:{'1' * 64}", "size": 9}
    around = "localhost,127.0.0.1,2130706433,ip6-localhost,169.254.169.254"
    known = {"HOSTED_SERVICES_CA_PATH": str(authority.path), "NO_PROXY": around}
    cases: dict[str, Image] = {}
    with ExitStack() as stack:
        stack.enter_context(running(inside))
        for way, place in CASES:
            registry = leading(way, place.format(inside.host, inside.host.partition(":")[2]))
            front = TlsFront(certificate, registry.server_address[1])
            proxy = Proxy(front.port)
            stack.enter_context(fronts_running(front, proxy))
            reached = {**known, "HTTPS_PROXY": f"http://127.0.0.1:{proxy.port}"}
            cases[f"{way}: {place}"] = Image(registry, registry.keep({"config": part}), REGISTRY, reached)
        run = clone(ansible, shop, cases)
    assert [name for name in cases if "this machine or its link" not in told(run[name])] == []
    assert inside.asked == [] and SECRET not in run.output


# --- Images on disk -------------------------------------------------------------------------------------


def wrapped(folder: Path, levels: int, **changes: Any) -> dict[str, bytes]:
    """Return the files of an image, changed, within that many indexes, each of which names the next twice."""
    build_image(folder / "image", {"app/server": b"x"})
    found = [path for path in folder.glob("image/**/*") if path.is_file()]
    files = {str(path.relative_to(folder / "image")): path.read_bytes() for path in found}
    (entry,) = json.loads(files["index.json"])["manifests"]
    manifest = json.loads(files[blob(entry)])
    for content in [{**manifest, **changes}, *[None] * levels]:
        raw = json.dumps(index(entry, entry) if content is None else content).encode()
        entry = {"digest": f"sha256:{hashlib.sha256(raw).hexdigest()}", "size": len(raw)}
        entry["mediaType"] = INDEX if content is None else manifest["mediaType"]
        files[blob(entry)] = raw
    return {**files, "index.json": json.dumps(index(entry)).encode()}


def blob(entry: dict[str, Any]) -> str:
    """Return the path of what a descriptor refers to."""
    return f"blobs/{entry['digest'].replace(':', '/')}"


def odd(files: dict[str, bytes], **member: Any) -> bytes:
    """Return an archive with one more member."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        extra = tarfile.TarInfo(member.pop("name", "extra"))
        for name, value in member.items():
            setattr(extra, name, value)
        archive.addfile(extra)
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def long_header(files: dict[str, bytes]) -> bytes:
    """Return a packed archive, whose first header unpacks to more than anybody needs."""
    info = tarfile.TarInfo("long")
    info.type, info.size = tarfile.XHDTYPE, 100_000_000
    return gzip.compress(info.tobuf() + bytes(info.size) + tar_of(files))


HUGE = {"config": {"digest": f"sha256:{'2' * 64}", "size": 10**400}}
SPARSE = {"GNU.sparse.map": "0,0", "GNU.sparse.size": str(2**50), "GNU.sparse.name": "big"}
LINK = {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"}
IMAGES: dict[str, tuple[Callable[[Path], bytes], str]] = {
    "thirty": (lambda folder: tar_of(wrapped(folder, LEVELS)), ""),
    "names outside": (lambda folder: odd(wrapped(folder, 0), name="../../escaped"), ""),
    "a link outside": (lambda folder: odd(wrapped(folder, 0), **LINK), ""),
    "too deep": (lambda folder: tar_of(wrapped(folder, 1500)), "64 levels"),
    "a long header": (lambda folder: long_header(wrapped(folder, 0)), "not packed"),
    "a sparse file": (lambda folder: odd(wrapped(folder, 0), pax_headers=SPARSE), "sparse file"),
    "a size without end": (lambda folder: tar_of(wrapped(folder, 0, **HUGE)), "size of sha256:2222"),
    "no list": (lambda folder: tar_of(wrapped(folder, 0, layers=5)), "layers are not a list"),
    "no config": (lambda folder: tar_of(wrapped(folder, 0, config=[1])), "without a digest"),
    "a header": (lambda folder: tar_of(wrapped(folder, 0, mediaType="a\r\nX: y")), "media type"),
}  # fmt: skip


def test_images_from_elsewhere(ansible: Ansible, sandbox: Sandbox) -> None:
    """Those that are no bombs are pushed; of the others something is said that people understand."""
    sandbox.seed({"apps": [{"slug": "shop"}]})
    tasks = []
    for number, (name, (make, _says)) in enumerate(IMAGES.items()):
        (ansible.folder / str(number)).mkdir()
        (ansible.folder / f"{number}.tar").write_bytes(make(ansible.folder / str(number)))
        tasks.append({"name": name, "hosted.services.app_image": {"slug": "shop", "path": f"{number}.tar"}})
    run = ansible.tasks(json.dumps(tasks), "ignore_errors: true\n")
    for name, (_make, says) in IMAGES.items():
        assert (says in told(run[name])) if says else run[name].outcome == "ok", run[name]
    assert not list(ansible.folder.parent.glob("**/escaped"))
