# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pictures of pages for the guides: PNG files with a palette, which take less than half the space."""

from __future__ import annotations

import base64
import json
import struct
import sys
import zlib
from pathlib import Path

from browser import Browser

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "guides"
MOST_BYTES = 150_000

#: Reduce a picture to its 256 most frequent colours; every other pixel gets the nearest of these.
REDUCE = """(async source => {
  const image = new Image();
  image.src = source;
  await image.decode();
  const {width, height} = image;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const bytes = canvas.getImageData(0, 0, width, height).data;
  const pixels = Array.from({length: width * height}, (_, i) =>
    bytes[4 * i] << 16 | bytes[4 * i + 1] << 8 | bytes[4 * i + 2]);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) || 0) + 1);
  const colours = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 256).map(([colour]) => colour);
  const difference = (a, b, by) => ((a >> by & 255) - (b >> by & 255)) ** 2;
  const distance = (a, b) => difference(a, b, 16) + difference(a, b, 8) + difference(a, b, 0);
  const nearest = new Map(colours.map((colour, index) => [colour, index]));
  for (const colour of counts.keys()) {
    if (nearest.has(colour)) continue;
    const distances = colours.map(one => distance(one, colour));
    nearest.set(colour, distances.indexOf(Math.min(...distances)));
  }
  const indexes = pixels.map(pixel => String.fromCharCode(nearest.get(pixel)));
  return {width, height, colours, pixels: btoa(indexes.join(""))};
})"""


def reduced(browser: Browser, png: bytes) -> bytes:
    """Return a picture with a palette of 256 colours, which takes less than half the space."""
    source = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    found = browser.value(f"{REDUCE}({json.dumps(source)})")
    width, height = found["width"], found["height"]
    pixels = base64.b64decode(found["pixels"])
    lines = b"".join(b"\0" + pixels[at : at + width] for at in range(0, len(pixels), width))
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        (b"PLTE", b"".join(colour.to_bytes(3, "big") for colour in found["colours"])),
        (b"IDAT", zlib.compress(lines, 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def write_picture(browser: Browser, name: str) -> None:
    """Write what is visible in the browser to a file of the guides."""
    content = reduced(browser, browser.picture())
    if len(content) > MOST_BYTES:
        sys.exit(f"{name} has {len(content)} bytes, more than {MOST_BYTES}")
    (FOLDER / name).write_bytes(content)
