#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app_image
short_description: Push an image to the repository of an application
version_added: 1.0.0
author:
  - hosted.services contributors (@hosted-services)
description:
  - Pushes an image from an OCI archive or an OCI layout on disk, which docker buildx, podman, skopeo and kaniko write,
    to the application's repository in the platform's registry. Neither docker nor a login is needed.
  - When the registry holds its digest already, nothing is sent. Otherwise only the layers are sent that are not there.
  - The image is read and compared with its digests before anything is sent, in check mode too. The image is there
    with the last call, or not at all.
  - The credentials of the registry are read from the platform for each task. Their secret is kept in memory alone.
options:
  path:
    description:
      - The OCI archive, a tar file, or the folder of an OCI layout. Layers may be compressed with gzip or zstd.
      - A relative path is looked for in C(files/) of the role and next to the playbook, see the notes.
    type: path
    required: true
  image_name:
    description:
      - Name of the image in the layout, for one that holds several. That is the annotation
        C(org.opencontainers.image.ref.name) of its C(index.json).
    type: str
  platform:
    description:
      - Platform that the image must be for, such as V(linux/amd64). Set it to that of the node. An image for another
        one is refused, because it would start and die without a message.
      - When it is not set, the image is compared with the one that the application runs. The platform shows what that
        one is for, and not what the node is, so another architecture is warned of and not refused.
      - Of an index with images for several platforms the one that fits is pushed.
    type: str
  tag:
    description:
      - Tag to give to the image in the registry, best that of the release. Without one it is there by its digest, and
        M(hosted.services.app_release) gives it the tag of the release.
    type: str
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
  - hosted.services.common.attributes
notes:
  - O(timeout) is also how long the registry may be silent.
  - A registry is spoken to over plain HTTP only when it is on this very machine.
seealso:
  - module: hosted.services.app
  - module: hosted.services.app_release
"""

EXAMPLES = r"""
- name: Push what was built by docker buildx build --output type=oci,dest=shop.tar
  hosted.services.app_image:
    slug: acme-shop
    path: shop.tar
    tag: "1.4.0"
  register: pushed

- name: Declare it as a release
  hosted.services.app_release:
    slug: acme-shop
    tag: "1.4.0"
    digest: "{{ pushed.image.digest }}"

- name: Push the image for one platform out of several
  hosted.services.app_image:
    slug: acme-shop
    path: build/layout
    platform: linux/arm64
"""

RETURN = r"""
image:
  description: The image in the registry. In check mode, as it is expected to be.
  returned: success
  type: dict
  sample:
    slug: acme-shop
    repository: registry.example.com/acme/acme-shop
    reference: registry.example.com/acme/acme-shop@sha256:4a5c…
    tag: "1.4.0"
    digest: sha256:4a5c…
    platform: linux/amd64
    size_bytes: 48230112
    sent_bytes: 1204330
  contains:
    slug:
      description: Slug of the application.
      type: str
    repository:
      description: Its repository.
      type: str
    reference:
      description: Repository and digest.
      type: str
    tag:
      description: Tag that was given to the image in the registry, if any.
      type: str
    digest:
      description: Digest of the image.
      type: str
    platform:
      description: Platform that it is for.
      type: str
    size_bytes:
      description: Size of all its parts.
      type: int
    sent_bytes:
      description: How much of that was sent by this task.
      type: int
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  returned: success
  type: list
  elements: str
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE


def main() -> None:
    """Run the module."""
    run_module(APP_IMAGE)


if __name__ == "__main__":
    main()
