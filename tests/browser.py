# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Chromium without a window, controlled by its DevTools protocol over two pipes: no driver, no package."""

from __future__ import annotations

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

#: The program, if this machine has it.
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
SECONDS = 30.0
ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *(
        "--disable-background-networking",
        "--disable-component-update",
        "--hide-scrollbars",
        "--disable-lcd-text",
    ),
)
#: Where Chromium reads commands and writes what comes of them (--remote-debugging-pipe).
COMMANDS, RESULTS = 3, 4


class Browser:
    """One page of a browser that runs until the end of the `with` block."""

    def __init__(self) -> None:
        if CHROMIUM is None:
            raise RuntimeError("Chromium is not installed")
        self._folder = Path(tempfile.mkdtemp(prefix="browser-"))
        self._process, self._send, self._receive = _start(CHROMIUM, self._folder)
        self._buffer = b""
        self._count = 0
        self._session = ""
        self.problems: list[str] = []
        """Errors of scripts, and what the page's policy refused."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Run a command of the protocol and return its result."""
        self._count += 1
        message = {"id": self._count, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + SECONDS
        while True:
            answer = self._message(end)
            if answer.get("id") == self._count:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer["result"]
                return result
            if answer.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
                self.problems.append(json.dumps(answer["params"]))

    def _message(self, end: float) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            ready = select.select([self._receive], [], [], max(0.0, end - time.monotonic()))[0]
            part = os.read(self._receive, 1 << 16) if ready else b""
            if not part:
                raise TimeoutError("Chromium does not answer")
            self._buffer += part
        message, __, self._buffer = self._buffer.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        return found

    def size(self, width: int, height: int, dark: bool = False) -> None:
        """Set the size of the page, and whether the person prefers dark pages."""
        self.call("Emulation.setDeviceMetricsOverride",
                  width=width, height=height, deviceScaleFactor=1, mobile=False)  # fmt: skip
        preference = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[preference])

    def open(self, url: str) -> None:
        """Open a page and wait until it is complete."""
        self.call("Page.navigate", url=url)
        self.wait(f"location.href.startsWith({json.dumps(url)}) && document.readyState === 'complete'")

    def value(self, expression: str) -> Any:
        """Return the value of a JavaScript expression in the page, or what it promises."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression: str) -> None:
        """Wait until a JavaScript expression is true."""
        end = time.monotonic() + SECONDS
        while not self.value(expression):
            if time.monotonic() > end:
                raise TimeoutError(f"never true: {expression}")
            time.sleep(0.02)

    def click(self, selector: str) -> None:
        """Click on the middle of an element with the mouse."""
        place = self.value(
            f"(e => {{ e.scrollIntoView({{block: 'center', behavior: 'instant'}});"
            f" const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})"
            f"(document.querySelector({json.dumps(selector)}))"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1
            )

    def picture(self) -> bytes:
        """Return what is visible as a PNG file."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)
        os.close(self._send)
        os.close(self._receive)
        shutil.rmtree(self._folder, ignore_errors=True)


def _start(program: str, folder: Path) -> tuple[int, int, int]:
    """Start Chromium; return its process and the ends of the pipes to it and from it."""
    theirs_in, send = os.pipe()
    receive, theirs_out = os.pipe()
    # Not among the descriptors that they become in the child.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in (theirs_in, theirs_out)]
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    pipes = [
        (os.POSIX_SPAWN_DUP2, end, number) for end, number in zip(ends, (COMMANDS, RESULTS), strict=True)
    ]
    arguments = [program, *ARGUMENTS, "--remote-debugging-pipe", f"--user-data-dir={folder}"]
    try:
        process = os.posix_spawn(
            program, arguments, {**os.environ, "HOME": str(folder)}, file_actions=[*null, *pipes], setpgroup=0
        )
    finally:
        for end in (theirs_in, theirs_out, *ends):
            os.close(end)
    return process, send, receive
