# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Plays that put a secret into every option that can hold one, and read every answer that holds one.

The secrets are variables of the play; nothing in these texts is one.
"""

from __future__ import annotations

import json
from textwrap import indent
from typing import Any

import yaml

from cases import by_module

SEED: dict[str, Any] = {
    "projects": ["web"],
    "services": [
        {"name": "db", "product": "postgresql", "project": "web"},
        {"name": "mc", "product": "minecraft", "project": "web", "files": {"a.txt": "hello\n"}},
    ],
}

HEAD = """\
- hosts: localhost
  gather_facts: false
  vars_files: [given.yml]
  vars:
    home: "{{ lookup('ansible.builtin.env', 'HOME') }}"
    kept: "{{ home }}/kept"
    shop: canary-shop
    size: {cpu_cores: 1, ram_gb: 1, storage_gb: 10}
  module_defaults:
    group/hosted.services.all: {token: "{{ token }}", timeout: 30}
    hosted.services.service: {wait_interval: 0.2}
    hosted.services.app_deploy: {wait_interval: 0.2}
    hosted.services.app_release: {wait_interval: 0.2}
    hosted.services.backup: {wait_interval: 0.2}
  tasks:
"""

WORKING = """
- name: Order, and keep what is generated where it was said
  hosted.services.service: &order
    name: fresh
    product: postgresql
    host: node-paris-1
    dimensions: "{{ size }}"
    variables: {POSTGRES_PASSWORD: "{{ variable }}", OTHER: "{{ param }}"}
    secrets_dest: "{{ kept }}/order.json"
    state: started
  register: ordered
- name: Order again
  hosted.services.service: *order
- name: Order, and keep what is generated wherever there is room
  hosted.services.service: {name: other, product: postgresql, host: node-paris-1, dimensions: "{{ size }}"}
- name: Quote
  hosted.services.quote:
    {product: postgresql, host: node-paris-1, dimensions: "{{ size }}", variables: {A: "{{ variable }}"}}
- name: Make an application
  hosted.services.app: {slug: "{{ shop }}", dimensions: "{{ size }}", project: web}
- name: Push its image
  hosted.services.app_image: {slug: "{{ shop }}", path: "{{ home }}/image.tar"}
  register: pushed
- name: Declare it
  hosted.services.app_release:
    {slug: "{{ shop }}", tag: v1, digest: "{{ pushed.image.digest | default('sha256:' + 'a' * 64) }}"}
  ignore_errors: "{{ ansible_check_mode }}"
- name: Set its environment
  hosted.services.environment:
    {slug: "{{ shop }}", variables: {LEVEL: info}, secret_variables: {KEY: "{{ environment_value }}"}}
  ignore_errors: "{{ ansible_check_mode }}"
- name: Deploy it
  hosted.services.app_deploy: {slug: "{{ shop }}", tag: v1, log_lines: 100}
  ignore_errors: "{{ ansible_check_mode }}"
- name: Set another environment
  hosted.services.environment: {slug: "{{ shop }}", secret_variables: {KEY: "{{ variable }}", MORE: "1"}}
  ignore_errors: "{{ ansible_check_mode }}"
- name: Apply a blueprint
  hosted.services.blueprint: &blueprint
    secrets_dir: "{{ kept }}"
    blueprint:
      project: web
      services:
        cache:
          product: postgresql
          host: node-paris-1
          dimensions: "{{ size }}"
          variables: {A: "{{ variable }}"}
      applications:
        canary-more: {dimensions: "{{ size }}", secret_environment: {KEY: "{{ environment_value }}"}}
- name: Apply it again
  hosted.services.blueprint: *blueprint
- name: Read the application
  hosted.services.app_info: {include: [releases, logs, nodes, projects]}
- name: Make an SFTP password
  hosted.services.sftp_password: {service: mc, secrets_dest: "{{ kept }}/sftp.json", update_password: always}
- name: Make an SFTP password that goes to its own place
  hosted.services.sftp_password: {service: fresh}
  ignore_errors: "{{ ansible_check_mode }}"
- name: Copy with a password
  hosted.services.sftp_sync:
    service: mc
    src: "{{ home }}/site"
    dest: site
    known_hosts: "{{ home }}/known_hosts"
    password: "{{ (lookup('ansible.builtin.file', kept + '/sftp.json') | from_json).password }}"
  when: not ansible_check_mode
- name: Copy with a password that opens nothing
  hosted.services.sftp_sync:
    {service: mc, src: "{{ home }}/site", dest: site, known_hosts: "{{ home }}/known_hosts",
     password: "{{ password }}"}
  ignore_errors: true
- name: Register a key
  hosted.services.ssh_key: {name: laptop, public_key_file: "{{ kept }}/key.pub"}
- name: Copy with a key
  hosted.services.sftp_sync: &with_key
    service: mc
    src: "{{ home }}/site"
    dest: site2
    known_hosts: "{{ home }}/known_hosts"
    private_key_file: "{{ kept }}/key"
    passphrase: "{{ passphrase }}"
  when: not ansible_check_mode
- name: Copy with a key and another passphrase
  hosted.services.sftp_sync:
    {service: mc, src: "{{ home }}/site", dest: site, known_hosts: "{{ home }}/known_hosts",
     private_key_file: "{{ kept }}/key", passphrase: "{{ password }}"}
  ignore_errors: true
- name: Paste a private key
  hosted.services.ssh_key: {name: pasted, public_key: "{{ private_key }}"}
  ignore_errors: true
- name: Name a private key
  hosted.services.ssh_key: {name: pasted, public_key_file: "{{ kept }}/key"}
  ignore_errors: true
- name: Write a value
  hosted.services.database_query:
    {service: db, read_only: false, query: "CREATE TABLE t AS SELECT :a AS a", params: {a: "{{ param }}"}}
- name: Look for a value
  hosted.services.database_query:
    {service: db, query: "SELECT 1 WHERE 'x' = :a", params: {a: "{{ param }}"}}
  ignore_errors: true
- name: Break a statement
  hosted.services.database_query: {service: db, query: "SELECT nothing(:a, :a)", params: {a: "{{ param }}"}}
  ignore_errors: true
- name: Write a file
  hosted.services.file: {service: mc, path: secret.txt, content: "{{ content }}"}
  diff: false
- name: Read what is there
  hosted.services.service_info:
    include: [details, settings, metrics, events, logs, usage, billed_totals, sftp, backups, snapshots]
    time_zone: Europe/Paris
- hosted.services.project_info: {include: [services, spend, graph]}
- hosted.services.account_info:
    include: [overview, wallet, transactions, daily_spend, invoices, statements]
- hosted.services.database_info: {service: db}
- hosted.services.file_info: {service: mc}
- hosted.services.sftp_info: {service: mc}
- hosted.services.sftp_host_key: {service: mc, known_hosts: "{{ home }}/known_hosts"}
- hosted.services.ssh_key_info: {}
- hosted.services.backup: {service: mc, name: nightly-1}
- hosted.services.backup_info: {service: mc}
- hosted.services.backup_retention: {service: mc, pattern: "nightly-*", keep_last: 1}
- hosted.services.snapshot: {service: mc, name: before}
  ignore_errors: true
- hosted.services.snapshot_info: {service: mc}
  ignore_errors: true
- name: Use lookups
  ansible.builtin.assert:
    that:
      - lookup('hosted.services.database_url', 'db', token=token) is search('://')
      - lookup('hosted.services.registry_credentials', token=token).secret | length > 8
- name: Use a lookup that fails
  ansible.builtin.assert:
    that: lookup('hosted.services.database_url', 'db', token=password) is search('://')
  ignore_errors: true
- name: Keep a result as a fact
  ansible.builtin.set_fact: {ordered: "{{ ordered }}", pushed: "{{ pushed }}", cacheable: true}
"""

SLIPS = """
- hosted.services.blueprint: {blueprint: "{{ environment_value }}"}
- hosted.services.blueprint:
    blueprint: {project: x, applications: {abc: {secret_environment: "{{ environment_value }}"}}}
- hosted.services.blueprint:
    blueprint: {project: x, applications: {abc: {secret_enviroment: {A: "{{ environment_value }}"}}}}
- hosted.services.blueprint:
    blueprint: {project: x, applications: {abc: {secret_environment: {A: ["{{ environment_value }}"]}}}}
- hosted.services.blueprint: {blueprint: {project: x, services: {abc: {variables: ["{{ variable }}"]}}}}
- hosted.services.blueprint: {blueprint: {project: x, ssh_keys: {me: "{{ private_key }}"}}}
- hosted.services.blueprint: {blueprint: {project: x, ssh_keys: {me: {public_key: "{{ private_key }}"}}}}
- hosted.services.blueprint: {blueprin: {project: x, applications: {abc: {environment: "{{ variable }}"}}}}
- hosted.services.service: {name: x, variables: "{{ variable }}"}
- hosted.services.service: {name: x, variables: ["{{ variable }}"]}
- hosted.services.service: {name: x, varaibles: {A: "{{ variable }}"}}
- hosted.services.quote: {variables: "a: {{ variable }}"}
- hosted.services.environment: {slug: acme, secret_variables: "{{ environment_value }}"}
- hosted.services.environment: {slug: acme, secret_variables: {"{{ environment_value }}": x, A: y}}
- hosted.services.environment: {slug: acme, secret_variables: {A: {deep: "{{ environment_value }}"}}}
- hosted.services.environment: {slug: acme, secret_variable: {A: "{{ environment_value }}"}}
- hosted.services.database_query: {service: db, query: "SELECT :b", params: {a: "{{ param }}"}}
- hosted.services.database_query: {service: db, query: "SELECT :a", params: {a: {deep: "{{ param }}"}}}
- hosted.services.database_query: {service: db, query: "SELECT :a", params: "{{ param }}"}
- hosted.services.sftp_sync: {host: 127.0.0.1, port: 1, src: x, dest: y, passwrod: "{{ password }}"}
- hosted.services.sftp_sync: {host: 127.0.0.1, port: 1, src: x, dest: y, password: "{{ password }}"}
- hosted.services.sftp_sync:
    {host: 127.0.0.1, port: 1, src: x, dest: y, password: {p: "{{ password }}"}}
- hosted.services.sftp_sync:
    {host: 127.0.0.1, port: 1, src: x, dest: y, passphrase: ["{{ passphrase }}"]}
- hosted.services.ssh_key: {name: x, public_key: ["{{ private_key }}"]}
- hosted.services.file: {service: mc, path: x, content: {a: "{{ content }}"}, colour: "{{ content }}"}
- hosted.services.project: {name: x, token: ["{{ token }}"]}
- hosted.services.project: {name: x, token: "{{ token }} {{ token }}"}
- hosted.services.project: {name: x, tokne: "{{ token }}"}
- hosted.services.project: {name: x, token: "{{ token }}", base_url: "https://u:{{ password }}@127.0.0.1:1"}
- hosted.services.project: {name: x, token: "{{ token }}", auth_scheme: "B\\n"}
- hosted.services.project: {name: x, token: "{{ token }}", timeout: soon}
- hosted.services.project: {name: x, token: null, token_file: "{{ kept }}/key"}
"""

WITH_SECRETS = """
- hosted.services.app_deploy: {slug: acme, tag: v1, force: true}
- hosted.services.app_image: {slug: acme, path: "{{ home }}/image.tar"}
- hosted.services.app_release: {slug: acme, tag: v2, digest: "sha256:{{ 'a' * 64 }}"}
- hosted.services.backup_info: {service: mc}
- hosted.services.backup_retention: {service: mc, pattern: "nightly-*", keep_last: 1}
- hosted.services.database_query: {service: db, query: "SELECT :a", params: {a: "{{ param }}"}}
- hosted.services.environment: {slug: acme, secret_variables: {A: "{{ environment_value }}"}, force: true}
- hosted.services.file: {service: mc, path: b.txt, content: "{{ content }}"}
  diff: false
- hosted.services.quote:
    {product: minecraft, host: node-paris-1, preset: preset-small, variables: {A: "{{ variable }}"}}
- hosted.services.service:
    {name: n, product: minecraft, host: node-paris-1, preset: preset-small, variables: {A: "{{ variable }}"}}
- hosted.services.sftp_host_key: {service: mc, known_hosts: "{{ home }}/known_hosts"}
- hosted.services.sftp_password: {service: mc, update_password: always}
- hosted.services.sftp_sync: {service: mc, src: "{{ home }}/site", dest: x, password: "{{ password }}"}
- hosted.services.ssh_key: {name: another, public_key_file: "{{ kept }}/key.pub"}
"""
"""One task of each module that takes secrets, or that needs what is on the stage."""


def one_of_each() -> str:
    """Return one task of every module: those above, and the first sample of each other one."""
    samples = by_module("sample_args")
    others = [name for name in samples if f"hosted.services.{name}:" not in WITH_SECRETS]
    return WITH_SECRETS + "".join(
        f"- hosted.services.{name}: {json.dumps(samples[name][0])}\n" for name in others
    )


ONE_OF_EACH = one_of_each()
"""Every module once, with the secrets that it takes."""

LOOKUPS = """
- ansible.builtin.assert: {that: "lookup('hosted.services.database_url', 'db', token=token) is search('x')"}
- ansible.builtin.assert: {that: "lookup('hosted.services.registry_credentials', token=token) is mapping"}
"""


SECRETIVE = (
    "account_info", "blueprint", "database_query", "environment", "file", "quote", "service", "sftp_password",
    "sftp_sync", "ssh_key",
)  # fmt: skip
"""The modules that take or receive secrets, apart from the token, and one that does not."""


IN_PROCESS_ALONE = (
    "Order again", "Order, and keep what is generated wherever there is room",
    "Copy with a password",
    "Copy with a key and another passphrase", "Look for a value",
)  # fmt: skip
"""The tasks that, as modules, would put the same secrets into the same options as others do."""
BODIES = ("database_query", "environment", "file", "service", "sftp_password")
"""The modules whose calls take secrets along, or bring some back, as what they write."""


def with_secrets(tasks: str, modules: tuple[str, ...] = SECRETIVE) -> str:
    """Return those of the tasks that are of such modules; started for itself, each takes half a second."""
    chosen = [task for task in yaml.safe_load(tasks) if any(named(task, name) for name in modules)]
    return json.dumps([task for task in chosen if task.get("name") not in IN_PROCESS_ALONE])


def named(task: dict[str, Any], module: str) -> bool:
    return f"hosted.services.{module}" in task


def play(tasks: str, keywords: str = "") -> str:
    """Return a play of these tasks. `keywords` are further lines of it."""
    head = HEAD.replace("  tasks:\n", indent(keywords, "  ") + "  tasks:\n")
    return head + indent(tasks, "    ")
