# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a task that makes one call costs here and elsewhere, in alternation, against the same stub.

``python peers.py ENVIRONMENT``: a virtual environment with the peers (`make bench-peers` makes it). All
contestants run in it, with one ansible-core. The cost of a task is the difference between a play of several
tasks and a play of one, so that what happens once in a play is not part of it.

The protocol of amazon.aws is too much for the stub, so moto plays Amazon. It answers later than the stub; how
long it takes is printed as well.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests

from benchmarks.scale import stub
from benchmarks.stub import HETZNER
from integration.database_servers import free_port

ROUNDS = int(os.environ.get("ROUNDS", "5"))
GOAL = 15
START_SECONDS = 60.0
LIST_KEYS = {"Action": "DescribeKeyPairs", "Version": "2016-11-15"}


@dataclass(frozen=True)
class Contestant:
    """A task, how often it is repeated, and whether mitogen runs it."""

    name: str
    task: str
    more: int = 10
    mitogen: bool = False

    def play(self, count: int) -> str:
        """Return a play of so many tasks."""
        strategy = "  strategy: mitogen_linear\n" if self.mitogen else ""
        head = f"- hosts: localhost\n  gather_facts: false\n{strategy}  tasks:\n"
        return head + f"    - {self.task}\n" * count


OURS = "hosted.services.ssh_key_info: {}"
AS_MODULE = OURS + "\n      vars: {hosted_in_process: false}"
HCLOUD = "hetzner.hcloud.ssh_key_info: {}"
AWS = "amazon.aws.ec2_key_info: {}"
URI = """ansible.builtin.uri: {url: "{{ lookup('env', 'HCLOUD_ENDPOINT') }}/ssh_keys"}"""
CONTESTANTS = (
    Contestant("ansible.builtin.debug", "ansible.builtin.debug: {msg: bench}", more=40),
    Contestant("hosted.services.ssh_key_info", OURS, more=40),
    Contestant("the same, the module way", AS_MODULE),
    Contestant("ansible.builtin.uri", URI),
    Contestant("ansible.builtin.uri with mitogen", URI, more=20, mitogen=True),
    Contestant("hetzner.hcloud.ssh_key_info", HCLOUD),
    Contestant("hetzner.hcloud.ssh_key_info with mitogen", HCLOUD, more=20, mitogen=True),
    Contestant("amazon.aws.ec2_key_info", AWS),
    Contestant("amazon.aws.ec2_key_info with mitogen", AWS, more=20, mitogen=True),
)
DEBUG, HERE, THERE = CONTESTANTS[0], CONTESTANTS[1], CONTESTANTS[5]


class Bench:
    """Runs plays in the environment of the peers."""

    def __init__(self, environment: Path, folder: Path, url: str, amazon: str) -> None:
        self.binaries, self.folder = environment / "bin", folder
        python = self.binaries / "python"
        strategies = subprocess.check_output(
            [python, "-c", "import ansible_mitogen; print(*ansible_mitogen.__path__)"], text=True
        ).strip()
        self.environment = {
            **os.environ,
            "PATH": f"{self.binaries}:{os.environ['PATH']}",
            "VIRTUAL_ENV": str(environment),
            "HOSTED_SERVICES_URL": url,
            "HOSTED_SERVICES_TOKEN": "bench",
            "HCLOUD_ENDPOINT": f"{url}{HETZNER}",
            "HCLOUD_TOKEN": "0" * 64,
            "AWS_ENDPOINT_URL": amazon,
            "AWS_ACCESS_KEY_ID": "bench",
            "AWS_SECRET_ACCESS_KEY": "bench",
            "AWS_REGION": "eu-west-3",
            "ANSIBLE_STRATEGY_PLUGINS": f"{strategies}/plugins/strategy",
            "ANSIBLE_PYTHON_INTERPRETER": str(python),
            "ANSIBLE_DEPRECATION_WARNINGS": "false",
            "ANSIBLE_LOCALHOST_WARNING": "false",
            "ANSIBLE_INVENTORY_UNPARSED_WARNING": "false",
        }

    def seconds(self, contestant: Contestant, count: int) -> float:
        """Return how long a play of so many tasks takes."""
        play = self.folder / "play.yml"
        play.write_text(contestant.play(count))
        begun = time.perf_counter()
        done = subprocess.run(
            [self.binaries / "ansible-playbook", play],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        took = time.perf_counter() - begun
        if done.returncode or f"ok={count} " not in done.stdout:
            sys.exit(f"{contestant.name} failed:\n{done.stdout}{done.stderr}")
        return took

    def versions(self) -> str:
        """Return what was compared, with the versions."""
        names = ["ansible-core", "ansible", "mitogen", "hcloud", "boto3", "moto"]
        code = "import sys; from importlib.metadata import version as v; print(*map(v, sys.argv[1:]))"
        said = subprocess.check_output([self.binaries / "python", "-c", code, *names], text=True)
        return ", ".join(map(" ".join, zip(names, said.split(), strict=True)))


@contextmanager
def moto(environment: Path) -> Iterator[str]:
    """Serve what amazon.aws calls, and yield the URL."""
    port = free_port()
    command = [str(environment / "bin" / "moto_server"), "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            url = f"http://127.0.0.1:{port}"
            response_time(url, time.monotonic() + START_SECONDS)
            yield url
        finally:
            process.terminate()


def response_time(url: str, until: float = 0.0) -> float:
    """Return the seconds in which moto lists no keys; wait ``until`` then for it to start."""
    begun = time.perf_counter()
    try:
        response = requests.post(url, data=LIST_KEYS, headers={"Host": "ec2.amazonaws.com"}, timeout=30)
        response.raise_for_status()
    except requests.ConnectionError:
        if time.monotonic() >= until:
            raise
        time.sleep(0.2)
        return response_time(url, until)
    return time.perf_counter() - begun


def main() -> None:
    """Measure and print."""
    environment = Path(sys.argv[1]).absolute()
    costs: dict[Contestant, list[float]] = {contestant: [] for contestant in CONTESTANTS}
    answers = list[float]()
    with stub(1, 0) as url, moto(environment) as amazon, tempfile.TemporaryDirectory() as folder:
        bench = Bench(environment, Path(folder), url, amazon)
        for contestant in CONTESTANTS:
            bench.seconds(contestant, 1)  # once to warm up
        for turn in range(ROUNDS):
            print(f"round {turn + 1} of {ROUNDS}, load {os.getloadavg()[0]:.1f}", file=sys.stderr)
            answers += [response_time(amazon) for __ in range(10)]
            for contestant, taken in costs.items():
                one, several = bench.seconds(contestant, 1), bench.seconds(contestant, 1 + contestant.more)
                taken.append((several - one) / contestant.more)
        print(f"{bench.versions()}, {os.cpu_count()} cores,")
    print(f"medians of {ROUNDS} rounds in alternation, for each task after the first\n")
    report({contestant: statistics.median(taken) for contestant, taken in costs.items()})
    print(f"  moto answers in {statistics.median(answers) * 1000:.1f} ms")


def report(cost: dict[Contestant, float]) -> None:
    """Print the table."""
    for contestant, seconds in cost.items():
        compared = f"{seconds / cost[DEBUG]:6.1f} x debug   {seconds / cost[HERE]:6.1f} x ours"
        print(f"  {contestant.name:<42} {seconds * 1000:7.1f} ms   {compared}")
    verdict = "reached" if cost[THERE] / cost[HERE] >= GOAL else "MISSED"
    print(f"\n  goal: at least {GOAL} x faster than {THERE.name}: {verdict}")


if __name__ == "__main__":
    main()
