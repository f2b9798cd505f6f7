# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real PostgreSQL and MariaDB servers on loopback, for what only the engines themselves can prove."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hosted_sandbox.testing import Sandbox
from unit.plugins.module_utils._resources.platform import id_of

START_SECONDS = 300
USER, DATABASE = "owner", "shop"
#: Everything that the password files of the engines treat specially.
PASSWORD = "p:a\\ss'w\"o#rd %s$;="
TABLE = "CREATE TABLE orders (id integer PRIMARY KEY, note varchar(80));"
ROWS = 1200
ODD_NOTE = "night's \\ work; \u00e9\u00df"
FOLDERS = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True), Path("/usr/sbin")]
PATH = os.pathsep.join([os.environ["PATH"], *map(str, FOLDERS)])


def missing(engine: str) -> str:
    """Name the programs of an engine that are not installed; empty when all are."""
    wanted = {
        "postgresql": ("initdb", "postgres", "psql", "pg_dump", "pg_restore"),
        "mariadb": ("mariadbd", "mariadb-install-db", "mariadb", "mariadb-dump"),
    }
    return ", ".join(name for name in wanted[engine] if not shutil.which(name, path=PATH))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class _Server:
    """A server with one database, which one user opens with PASSWORD."""

    engine: str
    """As the platform names it."""
    account: str | None = None
    """Who runs it when the tests run as root."""

    def __init__(self, folder: Path, port: int, owner: str = USER, database: str = DATABASE) -> None:
        self.folder = folder
        self.port = port
        self.owner, self.database = owner, database

    @property
    def connection(self) -> dict[str, object]:
        """What the platform is to tell of it."""
        return {
            "host": "127.0.0.1",
            "port": self.port,
            "user": self.owner,
            "password": PASSWORD,
            "database": self.database,
        }

    def run(self, *command: str, text: str = "") -> str:
        """Run a program of the engine as whoever runs the server; return what it printed."""
        done = subprocess.run(
            command,
            input=text,
            env=self.environment(),
            cwd=self.folder,
            user=self.user(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def environment(self) -> dict[str, str]:
        """Return the environment of its programs. Two servers of MariaDB meet in a folder they share."""
        return {"PATH": PATH, "LC_ALL": "C", "HOME": str(self.folder), "TMPDIR": str(self.folder)}

    def user(self) -> str | None:
        """Return the account to run as; engines refuse to be root."""
        return self.account if os.getuid() == 0 else None


class PostgreSQL(_Server):
    """PostgreSQL, with passwords on TCP."""

    engine = "postgresql"
    account = "postgres"

    def prepare(self) -> None:
        """Make an empty server."""
        self.run("initdb", "--pgdata=data", "--auth-host=scram-sha-256", "--auth-local=trust", "--no-sync",
                 "--username=admin", "--encoding=UTF8")  # fmt: skip

    def command(self) -> list[str]:
        return ["postgres", "-D", "data", "-p", str(self.port), "-h", "127.0.0.1", "-k", str(self.folder),
                "-c", "fsync=off"]  # fmt: skip

    def sql(self, text: str, database: str = "") -> str:
        """Run statements as the server's own administrator; rows come with tabs between the fields."""
        options = ["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set=ON_ERROR_STOP=1"]
        where = ["-h", str(self.folder), "-p", str(self.port), "-U", "admin", "-d", database or "postgres"]
        return self.run("psql", *options, *where, text=text)

    def create(self) -> None:
        """Make user and database."""
        quoted = PASSWORD.replace("'", "''")
        self.sql(f"SET standard_conforming_strings = on; CREATE ROLE {self.owner} LOGIN PASSWORD '{quoted}';")
        self.sql(f"CREATE DATABASE {self.database} OWNER {self.owner};")

    def restore(self, dump: Path, database: str) -> None:
        """Load a dump into a database that is made for it, as the guide says."""
        self.sql(f"CREATE DATABASE {database} OWNER {USER};")
        where = ["-h", str(self.folder), "-p", str(self.port), "-U", "admin", "-d", database]
        copied = shutil.copy(dump, self.folder / "dump")
        os.chmod(copied, 0o644)
        self.run("pg_restore", "--exit-on-error", *where, str(copied))

    def empty(self) -> None:
        """Let the database hold nothing, as that of a service that was ordered just now."""
        self.sql(f"DROP DATABASE {self.database} WITH (FORCE);")
        self.sql(f"CREATE DATABASE {self.database} OWNER {self.owner};")


class MariaDB(_Server):
    """MariaDB, which root of the socket administers."""

    engine = "mariadb"
    account = "nobody"

    def prepare(self) -> None:
        self.run("mariadb-install-db", "--no-defaults", f"--datadir={self.folder}/data", "--skip-test-db",
                 "--auth-root-authentication-method=normal")  # fmt: skip

    def command(self) -> list[str]:
        return ["mariadbd", "--no-defaults", f"--datadir={self.folder}/data", f"--port={self.port}",
                "--bind-address=127.0.0.1", f"--socket={self.folder}/socket",
                f"--pid-file={self.folder}/pid", "--innodb-flush-log-at-trx-commit=0"]  # fmt: skip

    def sql(self, text: str, database: str = "") -> str:
        where = ["--no-defaults", f"--socket={self.folder}/socket", "--user=root"]
        options = ["--batch", "--skip-column-names", "--binary-mode", "--comments"]
        return self.run("mariadb", *where, *options, "--", database, text=text)

    def create(self) -> None:
        quoted = PASSWORD.replace("\\", "\\\\").replace("'", "''")
        self.sql(
            f"CREATE DATABASE {self.database}; "
            f"CREATE USER {self.owner}@'127.0.0.1' IDENTIFIED BY '{quoted}'; "
            f"GRANT ALL ON {self.database}.* TO {self.owner}@'127.0.0.1';",
            "mysql",
        )

    def restore(self, dump: Path, database: str) -> None:
        self.sql(f"CREATE DATABASE {database};", "mysql")
        unpacked = subprocess.run(["gzip", "-dc", dump], capture_output=True, text=True, check=True)
        self.sql(unpacked.stdout, database)

    def empty(self) -> None:
        self.sql(f"DROP DATABASE {self.database}; CREATE DATABASE {self.database};", "mysql")


Server = PostgreSQL | MariaDB
KINDS: dict[str, type[Server]] = {"postgresql": PostgreSQL, "mariadb": MariaDB}
AS_OWNER = {"postgresql": f"SET ROLE {USER};", "mariadb": ""}
"""What begins statements whose objects are to belong to the user."""


def connect(sandbox: Sandbox, name: str, server: Server) -> None:
    """Let a service of the sandbox be a real database."""
    sandbox.operator(f"services/{id_of(sandbox, name)}", connection=server.connection)


@contextmanager
def serving(kind: type[Server], owner: str = USER, database: str = DATABASE) -> Iterator[Server]:
    """Run a server of this kind on a port of loopback, or skip the test."""
    if names := missing(kind.engine):
        pytest.skip(f"not installed: {names}")
    with tempfile.TemporaryDirectory(prefix="hosted-database-", ignore_cleanup_errors=True) as name:
        server = kind(Path(name), free_port(), owner, database)
        if (account := server.user()) is not None:
            os.chown(name, pwd.getpwnam(account).pw_uid, -1)
        server.prepare()
        with (server.folder / "log").open("wb") as log:
            process = subprocess.Popen(
                server.command(),
                env=server.environment(),
                cwd=server.folder,
                user=account,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        try:
            wait_for(server, process)
            server.create()
            yield server
        finally:
            process.terminate()
            process.wait(START_SECONDS)


def wait_for(server: Server, process: subprocess.Popen[bytes]) -> None:
    """Wait until a server answers and runs statements."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as knock:
            if knock.connect_ex(("127.0.0.1", server.port)) == 0 and is_ready(server):
                return
        time.sleep(0.1)
    raise AssertionError((server.folder / "log").read_text(errors="replace"))


def is_ready(server: Server) -> bool:
    """Return whether a server runs statements: PostgreSQL listens before it does."""
    try:
        server.sql("SELECT 1;")
    except AssertionError:
        return False
    return True
