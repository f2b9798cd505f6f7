# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The YAML language server that editors use, from npm, and what it says of a file (LSP)."""

from __future__ import annotations

import json
import shutil
import subprocess
import threading
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

PACKAGE = "yaml-language-server@1.25.0"
SECONDS = 600


def install(folder: Path) -> list[str]:
    """Install the server below a folder and return the command that runs it; skip the test without npm."""
    install_package(folder, PACKAGE)
    return [str(folder / "node_modules" / ".bin" / "yaml-language-server"), "--stdio"]


def install_package(folder: Path, package: str) -> None:
    """Install a package of npm below a folder; skip the test where it cannot be had."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    npm = ["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), package]
    if subprocess.run(npm, check=False, timeout=SECONDS).returncode:
        pytest.skip(f"npm cannot install {package}")


class LanguageServer:
    """A running server; a context manager. One that does not answer is ended."""

    def __init__(self, command: list[str]) -> None:
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.watchdog = threading.Timer(SECONDS, self.process.kill)
        self.watchdog.start()
        self.calls = 0
        self.call("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.notify("initialized", {})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.watchdog.cancel()
        self.process.kill()
        self.process.communicate()

    def diagnose(self, path: Path, text: str) -> list[str]:
        """Open a file with this text, and return the mistakes that the server finds in it."""
        path.write_text(text)
        uri = path.as_uri()
        document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
        self.notify("textDocument/didOpen", {"textDocument": document})
        while True:
            message = self.read()
            if message.get("method") == "textDocument/publishDiagnostics" and message["params"]["uri"] == uri:
                return [found["message"] for found in message["params"]["diagnostics"]]

    def complete(self, path: Path, line: int, character: int) -> list[str]:
        """Return what the server offers at a place of an open file, both numbers from 0."""
        position = {"line": line, "character": character}
        place = {"textDocument": {"uri": path.as_uri()}, "position": position}
        found: dict[str, Any] = self.call("textDocument/completion", place)
        return [item["label"] for item in found["items"]]

    def call(self, method: str, params: Any) -> Any:
        """Call the server and return its result."""
        self.calls += 1
        self.send({"id": self.calls, "method": method, "params": params})
        while True:
            message = self.read()
            if message.get("id") == self.calls and "method" not in message:
                return message["result"]

    def notify(self, method: str, params: Any) -> None:
        """Tell the server something."""
        self.send({"method": method, "params": params})

    def send(self, message: dict[str, Any]) -> None:
        """Write a message."""
        assert self.process.stdin is not None
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def read(self) -> dict[str, Any]:
        """Return the next message. What the server asks is answered with nothing."""
        assert self.process.stdout is not None
        length = 0
        while line := self.process.stdout.readline().strip():
            name, __, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        if not length:
            raise EOFError("the language server has ended")
        message: dict[str, Any] = json.loads(self.process.stdout.read(length))
        if "id" in message and "method" in message:
            asked = (
                message["params"].get("items", []) if message["method"] == "workspace/configuration" else None
            )
            self.send({"id": message["id"], "result": None if asked is None else [None] * len(asked)})
        return message
