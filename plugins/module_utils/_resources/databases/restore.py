# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Restore a dump into another database with its engine's own client, in place of all that is there.

A dump is in a file without a name: nobody else can open it, and it is gone with this process however that
ends. What it says and what a server answers are statements or data to the client, never commands of its own,
which would run on this machine: MariaDB's and MySQL's reads in binary mode, PostgreSQL's in restricted mode.

PostgreSQL is restored in one transaction, so that its users see the old content or the new one. MariaDB
and MySQL cannot do that: their tables are dropped first, and whoever reads meanwhile finds them missing.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import tempfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, cast

from ..._sftp.errors import TransferFailed
from .dump import (
    LAST_LINES,
    MARIADB,
    POSTGRESQL,
    PRINTING,
    Engine,
    NoDumpError,
    Source,
    content_digest,
    find_program,
    find_source,
    is_whole,
    restorable,
    running,
    statements,
    write,
)

RESTRICTING = b"\\restrict"
"""psql's command that makes it refuse all others."""
LOCK_SECONDS = 60
"""How long a restore waits for those who use a table, before it gives up and changes nothing."""
PSQL_MEMORY = 2**31
"""How many bytes of memory psql may use: it reads a dump in small parts, but an answer as a whole."""
EMPTY_POSTGRESQL = """
DO $hosted$
DECLARE found record;
BEGIN
    FOR found IN SELECT nspname FROM pg_namespace
        WHERE nspname NOT LIKE 'pg\\_%' AND nspname NOT IN ('information_schema', 'public')
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_namespace'::regclass
            AND objid = pg_namespace.oid AND deptype = 'e')
    LOOP EXECUTE format('DROP SCHEMA %I CASCADE', found.nspname); END LOOP;
    FOR found IN SELECT relname, CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW'
            WHEN 'S' THEN 'SEQUENCE' WHEN 'f' THEN 'FOREIGN TABLE' ELSE 'TABLE' END AS kind
        FROM pg_class WHERE relnamespace = 'public'::regnamespace
        AND relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass
            AND objid = pg_class.oid AND deptype = 'e')
    LOOP EXECUTE format('DROP %s IF EXISTS public.%I CASCADE', found.kind, found.relname); END LOOP;
    FOR found IN SELECT oid::regprocedure AS signature, CASE prokind WHEN 'a' THEN 'AGGREGATE'
            WHEN 'p' THEN 'PROCEDURE' ELSE 'FUNCTION' END AS kind
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_proc'::regclass
            AND objid = pg_proc.oid AND deptype = 'e')
    LOOP EXECUTE format('DROP %s IF EXISTS %s CASCADE', found.kind, found.signature); END LOOP;
    FOR found IN SELECT typname, CASE typtype WHEN 'd' THEN 'DOMAIN' ELSE 'TYPE' END AS kind
        FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype IN ('d', 'e', 'r', 'c')
        AND (typrelid = 0 OR EXISTS (SELECT FROM pg_class WHERE oid = typrelid AND relkind = 'c'))
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_type'::regclass
            AND objid = pg_type.oid AND deptype = 'e')
    LOOP EXECUTE format('DROP %s IF EXISTS public.%I CASCADE', found.kind, found.typname); END LOOP;
    PERFORM lo_unlink(oid) FROM pg_largeobject_metadata;
END $hosted$;
"""
"""Drops all that is in a PostgreSQL database and does not belong to an extension."""

WHAT_IS_IN_MARIADB = """
SELECT CONCAT('DROP ', IF(TABLE_TYPE = 'VIEW', 'VIEW', IF(TABLE_TYPE = 'SEQUENCE', 'SEQUENCE', 'TABLE')),
    ' IF EXISTS `', REPLACE(TABLE_NAME, '`', '``'), '`;')
    FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE()
UNION ALL SELECT CONCAT('DROP ', ROUTINE_TYPE, ' IF EXISTS `', REPLACE(ROUTINE_NAME, '`', '``'), '`;')
    FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE()
UNION ALL SELECT CONCAT('DROP EVENT IF EXISTS `', REPLACE(EVENT_NAME, '`', '``'), '`;')
    FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE();
"""
"""Returns the statements that drop all that is in a database of MariaDB or MySQL."""


@dataclass(frozen=True)
class Dump:
    file: IO[bytes]
    path: Path
    """Where this process and its children can open it."""
    engine: Engine
    digest: str

    @property
    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    @classmethod
    @contextmanager
    def of(cls, database: Source) -> Iterator[Dump]:
        """Dump a database into a file of mode 0600 that has no name."""
        engine = database.engine
        with tempfile.TemporaryFile() as file:
            write(file, database)
            file.flush()
            path = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")
            yield cls(file, path, engine, content_digest(path, engine))

    @classmethod
    @contextmanager
    def kept_at(cls, path: Path) -> Iterator[Dump]:
        """Open a dump that was kept, and read it to its end: it may have been cut off."""
        engine = engine_of(path)
        try:
            with open(path, "rb") as file:
                last = deque(statements(path, engine) if engine.compress else (), LAST_LINES)
                if not is_whole(file, engine, last):
                    raise NoDumpError(f"{path.name} is no whole dump: it was cut off, or is something else")
                checked = Path(f"/proc/{os.getpid()}/fd/{file.fileno()}")  # path may lead elsewhere by then
                yield cls(file, checked, engine, content_digest(path, engine))
        except (OSError, EOFError, zlib.error) as error:
            raise NoDumpError(f"the dump {path.name} cannot be read: {error}") from None

    def is_in(self, database: Source) -> bool:
        """Tell whether a database holds what the dump says, by another dump of it."""
        with Dump.of(database) as there:
            return there.digest == self.digest

    def restore(self, database: Source) -> None:
        """Replace all that is in a database by what the dump says. PostgreSQL does so in whole or not."""
        lines = restorable(self.path, self.engine)
        if database.engine is POSTGRESQL:
            # The dump ends the transaction. psql's own would be committed at the end of its input, also if
            # this process is killed meanwhile.
            begin = f"BEGIN;\nSET lock_timeout = '{LOCK_SECONDS}s';\n{EMPTY_POSTGRESQL}"
            run_client(database, chain([begin.encode()], lines))
            return
        drops = run_client(database, [WHAT_IS_IN_MARIADB.encode()])
        first = [b"SET FOREIGN_KEY_CHECKS = 0;\n", drops, b"SET FOREIGN_KEY_CHECKS = 1;\n"]
        run_client(database, chain(first, lines))


def engine_of(path: Path) -> Engine:
    return POSTGRESQL if path.name == POSTGRESQL.file else MARIADB


@contextmanager
def as_failure(what: str = "", advice: str = "") -> Iterator[None]:
    """Raise the reason why there is no dump as a transfer that failed, which says what helps."""
    try:
        yield
    except NoDumpError as error:
        raise TransferFailed(f"{what}: {error}. {advice}" if what else str(error)) from None


def check_client(engine: Engine) -> None:
    find_program(engine, engine.programs)
    program = find_program(engine, engine.clients)
    if engine is not POSTGRESQL:
        return
    done = subprocess.run(  # noqa: S603 - the engine's own program
        [program, "--help=commands"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if RESTRICTING not in done.stdout:
        raise NoDumpError(
            "psql on this machine has no restricted mode, so a database or a dump could run commands here; "
            f"update {engine.package} to 13.22, 14.19, 15.14, 16.10, 17.6 or later"
        )


def find_target(connection: Mapping[str, object], source: Source) -> Source:
    """Return the database to restore into, which is another one than ``source``."""
    target = find_source(connection)
    if target.engine is not source.engine:
        raise NoDumpError(
            f"a dump made by {source.engine.programs[0]} cannot be restored into a database of engine "
            f"{connection.get('engine')!r}"
        )
    mine, other = ((each.login.host, each.login.port, each.login.database) for each in (source, target))
    if mine == other:
        raise NoDumpError(
            f"from this machine, both databases are {mine[2]!r} at {mine[0]}:{mine[1]}, so the one to "
            "restore into cannot be told from the one that was dumped. An internal name leads to the one of "
            "this machine's project: open the other one (public: true), or run this elsewhere"
        )
    return target


COUNT_POSTGRESQL = b"""
DO $hosted$
DECLARE found record; counted bigint; every text := '';
BEGIN
    FOR found IN SELECT table_schema, table_name FROM information_schema.tables
        WHERE table_type = 'BASE TABLE' AND table_schema NOT IN ('pg_catalog', 'information_schema')
    LOOP
        EXECUTE format('SELECT count(*) FROM %I.%I', found.table_schema, found.table_name) INTO counted;
        every := every || counted || ' ';
    END LOOP;
    PERFORM set_config('hosted.counted', every, false);
END $hosted$;
SELECT current_setting('hosted.counted');
"""
"""Returns how many rows each table has."""
LIST_MARIADB = b"""
SELECT CONCAT('SELECT COUNT(*) FROM `', REPLACE(TABLE_NAME, '`', '``'), '`;')
    FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() AND TABLE_TYPE = 'BASE TABLE';
"""
"""Returns the statements that count the rows of each table."""


def check_login(target: Source) -> None:
    """Run a statement: what accepts the connection may be a proxy, or an engine that is still starting."""
    run_client(target, [b"SELECT 1;\n"])


def count_rows(target: Source) -> list[int]:
    """Return how many rows each table of a database has, counted by the engine and not estimated."""
    postgresql = target.engine is POSTGRESQL
    printed = run_client(target, [COUNT_POSTGRESQL if postgresql else run_client(target, [LIST_MARIADB])])
    try:
        return [int(count) for count in printed.split()]
    except ValueError:
        raise NoDumpError("asked how many rows a table has, the database answered with no number") from None


def run_client(target: Source, statements: Iterable[bytes]) -> bytes:
    """Let the engine's client run statements; return what it printed.

    From its first line on, psql ends at a command, as nobody knows the key.
    """
    engine, bounds = target.engine, PRINTING
    program = find_program(engine, engine.clients)
    if engine is POSTGRESQL:
        statements = chain([RESTRICTING + b" %b\n" % secrets.token_hex(32).encode()], statements)
        bounds += f"ulimit -d {PSQL_MEMORY // 1024}; "
    with tempfile.TemporaryFile() as rows:
        with running(target, program, engine.client, bounds, stdin=subprocess.PIPE, stdout=rows) as process:
            pipe = cast(IO[bytes], process.stdin)
            try:
                pipe.writelines(statements)
                pipe.flush()
            except BrokenPipeError:  # it ended by itself, and says why
                pass
            except BaseException:  # it must not take what it got for all
                process.kill()
                raise
            finally:
                with suppress(BrokenPipeError):  # for what was not sent yet
                    pipe.close()
        rows.seek(0)
        return rows.read()
