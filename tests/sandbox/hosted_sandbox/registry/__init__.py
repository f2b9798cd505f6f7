# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The platform's image registry: an OCI distribution server for push and pull, and what it reads in images.

* ``app``: the HTTP protocol, a plain ASGI application (`create_registry`).
* ``store``: repositories on disk.
* ``content``: reading an image back from its blobs: manifest, config, layers.
* ``scan``: the vulnerability verdict of an image.
* ``images``: building small images from files, for tests and demonstrations.
"""

from __future__ import annotations

from hosted_sandbox.registry.access import AccountSpace
from hosted_sandbox.registry.app import create_registry
from hosted_sandbox.registry.content import Blobs, Image, ImageConfig, ImageError
from hosted_sandbox.registry.scan import Verdict, scan
from hosted_sandbox.registry.store import RegistryStore

__all__ = [
    "AccountSpace",
    "Blobs",
    "Image",
    "ImageConfig",
    "ImageError",
    "RegistryStore",
    "Verdict",
    "create_registry",
    "scan",
]
