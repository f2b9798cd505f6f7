# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Simulated containers: states, logs and failures that follow from the image."""

from __future__ import annotations

from hosted_sandbox.workloads.workload import Configuration, State, Workload

__all__ = ["Configuration", "State", "Workload"]
