#!/usr/bin/python
# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: app_image
short_description: Push an image to the repository of an application
version_added: 1.0.0
description:
  - Pushes an image from an OCI archive or layout on disk, as written by docker buildx, podman, skopeo and kaniko, to
    the platform's registry. Needs neither docker nor a registry login.
  - Sends nothing if the registry has the digest, and otherwise only the layers that it lacks. An interrupted push
    leaves no partial image.
  - Verifies the image before anything is sent, in check mode too.
options:
  path:
    description: OCI archive (a tar file that is not compressed) or folder of an OCI layout. Layers can be compressed
      with gzip or zstd.
    type: path
    required: true
  image_name:
    description: Name of the image if the layout contains several, from C(org.opencontainers.image.ref.name).
    type: str
  platform:
    description: Platform of the node, such as V(linux/amd64). Selects the image from an index of several, and refuses
      an image for another platform. If not set, the task warns if the architecture is not that of the image in service.
    type: str
  tag:
    description: Tag for the image in the registry. M(hosted.services.app_release) needs only the digest.
    type: str
extends_documentation_fragment:
  - hosted.services.on_app
  - hosted.services.common
notes:
  - O(timeout) is also the maximum time without a response from the registry.
  - Plain HTTP is used only for a registry on this machine.
seealso:
  - module: hosted.services.app
  - module: hosted.services.app_release
"""

EXAMPLES = r"""
- name: Push an image built with docker buildx build --output type=oci,dest=shop.tar
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

- name: Push the image for one of several platforms
  hosted.services.app_image:
    slug: acme-shop
    path: build/layout
    platform: linux/arm64
"""

RETURN = r"""
image:
  description: The image in the registry. In check mode, the expected result.
  returned: success
  type: dict
  contains:
    # generated: app slug
    slug:
      description: Slug of the application.
      type: str
      sample: acme-shop
    # generated end
    repository:
      description: Its repository.
      type: str
    reference:
      description: Repository and digest.
      type: str
    tag:
      description: Tag of the image in the registry, if any.
      type: str
    # generated: release digest
    digest:
      description: Digest of the image.
      type: str
      sample: sha256:4a5c…
    # generated end
    platform:
      description: Platform of the image.
      type: str
    size_bytes:
      description: Total size of the image.
      type: int
    sent_bytes:
      description: Number of bytes that this task sent.
      type: int
# generated: actions
actions:
  description: Changes that the task made, or would make in check mode, one sentence each.
  type: list
  elements: str
  sample:
  - stop service 'survival' (svc_8c1d)
  returned: success
# generated end
"""

from ansible_collections.hosted.services.plugins.module_utils._ansible.module import run_module
from ansible_collections.hosted.services.plugins.module_utils._resources.app_image import APP_IMAGE


def main() -> None:
    """Run the module."""
    run_module(APP_IMAGE)


if __name__ == "__main__":
    main()
