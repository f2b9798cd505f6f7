# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Dump a database with its engine's own program into a folder: a whole file, or none.

The dump program reads the password from a file of mode 0600 that is in memory only and goes with this
process, however that ends.

Role `backups` runs this file by its path, outside of the collection's package, so it imports only Python's
own library.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

CONNECT_SECONDS = 10
LAST_WORDS = 500
LAST_LINES = 5
PIECE = 2**20
"""How many bytes of a line are read at once: of the rows in one, there may be gigabytes."""
CUT = re.compile(rb".*[^-/*;\\CDIMS](?=[^-/*;\\CDIMS])", re.DOTALL)
"""Where a longer line is cut. No mark of SQL is, and the rest begins like no line that is looked for."""

LONGEST_LOGIN = 1000
"""How many bytes a name or password may have. The engines' programs cut lines of 4,096 bytes into several."""
CONTROL = re.compile("[\0-\x1f\x7f-\x9f\ud800-\udfff]")

NAME = rb"(?:`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\")"
DEFINER = rb"DEFINER=" + NAME + rb"(?:@" + NAME + rb")? ?"
"""Who owns a view, trigger, routine or event of MariaDB and MySQL. Only an administrator may restore that."""
OWNED = re.compile(rb"((?:/\*!\d+ )?CREATE(?: OR REPLACE)?(?:\*/ /\*!\d+)? )" + DEFINER)
BODY = re.compile(rb"DELIMITER (?!;\s*$)\S+\s*$")
"""What comes before a trigger, routine or event, and before the settings of an event."""
BODY_ENDS = re.compile(rb"DELIMITER ;\s*$")
SETTING = re.compile(rb"/\*!\d+ SET ")
VIEW = re.compile(rb"/\*!50001 CREATE ALGORITHM=\w+ \*/\s*$")
OWNED_VIEW = re.compile(rb"(/\*!50013 )" + DEFINER)
"""The line that follows that of a view."""
COMPLETED = b"-- Dump completed"
"""What the programs of MariaDB and MySQL end a dump with."""
ARCHIVE = b"PGDMP"
"""What PostgreSQL's custom format begins with."""
WITHOUT_OWNERS = ("--no-owner", "--no-privileges")
READER = "pg_restore"
"""What reads PostgreSQL's custom format."""
RESTRICT = re.compile(rb"\\restrict ([0-9A-Za-z]+)\s*$")
HEADING = 10
"""Among how many lines PostgreSQL's restricted mode is entered."""
SANDBOX_MODE = b"/*M!999999"
"""A line that MariaDB's client understands and others take for a command of their own."""

NEWER = re.compile(rb"SET transaction_timeout = 0;\s*$")
"""A line of newer programs that older servers refuse. It sets what is so in any case."""
PREAMBLE = 40
"""How many lines of a dump may come before its content."""
OF_THE_SERVER = re.compile(
    rb"-- (?:Dumped (?:from|by) |Dumping (?:events|routines) for database |Host: |Server version|"
    rb"(?:MariaDB|MySQL) dump |Current Database: |Dump completed)"
)
"""The lines of a dump that name the database or the server that it was made from, or when."""

LEADS_ELSEWHERE = re.compile(r"PG(?!SSL)|(?:MYSQL|MARIADB|LIBMYSQL)_(?!TLS_)")
"""The variables that tell the engines' programs which server to use, and as whom."""
HOW_TO_CONNECT = re.compile(
    r"--(?:loose[-_])?(?:(?:skip|disable|enable)[-_])?"
    r"(?:ssl|tls|server[-_]public[-_]key|get[-_]server[-_]public[-_]key|max[-_]allowed[-_]packet"
    r"|plugin[-_]dir|default[-_]auth|cleartext[-_]plugin)"
)
"""The options of MariaDB and MySQL that users may set: how it encrypts and logs in, how long a row may be."""

LONGEST_ANSWER = 2**26
"""How many bytes a program may print, dumps aside: the names of half a million tables."""
PRINTING = f"ulimit -f {LONGEST_ANSWER // 512}; "
PLUGINS = ("lib*/plugin", "lib*/m*/plugin", "lib*/*/libmariadb*/plugin")
"""Where the programs of MariaDB have their plugins, below the folder that they are installed in."""
DISCREET = re.compile(r"(?:caching_sha2_password|sha256_password|parsec|.*_client|client_.*)\.so")
"""Those that do not send a password as it is to a server that asks for it."""


class NoDumpError(Exception):
    """There is no dump; the message says why, and what to do."""


class NotDumpableError(NoDumpError):
    """No dump of this database can be made from here, however often that is tried."""


@dataclass(frozen=True)
class Login:
    host: str
    port: int
    user: str
    password: str
    database: str


@dataclass(frozen=True)
class Engine:
    programs: tuple[str, ...]
    clients: tuple[str, ...]
    """What dumps and what restores, by preference."""
    package: str
    file: str
    compress: bool
    """Whether what the program writes is compressed here."""
    secret: Callable[[Login], str]
    """Writes the file that holds the password."""
    command: Callable[[str, Login, str], list[str]]
    client: Callable[[str, Login, str], list[str]]
    """The arguments after a program's path; ``environment`` is what they leave out."""
    environment: Callable[[Login, str], dict[str, str]]
    lines: Callable[[Iterable[bytes]], Iterator[bytes]] = iter
    """Leaves lines and clauses out of a dump."""


def pg_environment(login: Login, secret: str) -> dict[str, str]:
    """Name host, user and database where they cannot be taken for options.

    Only a server whose certificate is checked may ask for the password itself (of libpq 16 on).
    """
    trusted = os.environ.get("PGSSLMODE") in ("verify-ca", "verify-full")
    return {
        **({} if trusted else {"PGREQUIREAUTH": "!password"}),
        "PGHOST": login.host,
        "PGPORT": str(login.port),
        "PGUSER": login.user,
        "PGDATABASE": login.database,
        "PGPASSFILE": secret,
        "PGCONNECT_TIMEOUT": str(CONNECT_SECONDS),
    }


def quoted(value: str) -> str:
    """Write a value of an option file so that it is read as it is."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return '"' + "".join(escapes.get(character, character) for character in value) + '"'


def mysql_login(program: str, login: Login, secret: str) -> list[str]:
    """Return the arguments by which a program of MariaDB and MySQL opens this database and no other.

    Of the files of the user, which may name another server, it gets what says how to connect alone. Without
    that, it might not encrypt.
    """
    done = subprocess.run(  # noqa: S603 - the engine's own program
        [program, "--print-defaults"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    if done.returncode:
        said = last_words(done.stderr)
        raise NoDumpError(f"{Path(program).name} cannot read its option files; correct them: {said}")
    options = re.split(r"\s+(?=--)", done.stdout.decode(errors="surrogateescape").strip())
    return [
        f"--defaults-file={secret}",  # has to be the first
        *(each for each in options if HOW_TO_CONNECT.match(each)),
        "--protocol=tcp",
        f"--host={login.host}",
        f"--port={login.port}",
        f"--user={login.user}",
    ]


def mysql_command(program: str, login: Login, secret: str) -> list[str]:
    """Read statements from standard input, and write rows without headings.

    In binary mode no command but DELIMITER and that of the character set is known, and no byte is changed.
    """
    return [
        *mysql_login(program, login, secret),
        "--binary-mode",
        "--local-infile=0",  # a server or a dump that asks for a file of this machine gets none
        "--comments",  # those in a trigger or a routine belong to it
        f"--connect-timeout={CONNECT_SECONDS}",
        "--batch",
        "--quick",  # rows are printed as they come, however many they are
        "--raw",
        "--skip-column-names",
        "--",
        login.database,
    ]


def mysqldump_command(program: str, login: Login, secret: str) -> list[str]:
    return [
        *mysql_login(program, login, secret),
        "--comments",  # the last one says that the dump is complete
        "--single-transaction",
        "--quick",
        "--hex-blob",
        "--routines",
        "--triggers",
        "--events",
        "--no-tablespaces",
        "--loose-column-statistics=0",  # of MySQL alone; older servers have none, and refuse the dump
        "--loose-set-gtid-purged=OFF",  # of MySQL alone; restoring it takes an administrator
        "--",
        login.database,
    ]


def without_owners(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a dump without owners: what is restored belongs to whoever restores it.

    Only the line after that of a view names one, and the first statement of a body: what looks alike in a
    body, a text or a name stays.
    """
    owned, in_body = None, False
    for line in lines:
        if in_body and BODY_ENDS.match(line):
            owned, in_body = None, False
        elif not in_body and BODY.match(line):
            owned, in_body = OWNED, True
        elif not in_body and VIEW.match(line):
            owned = OWNED_VIEW
        elif owned and not SETTING.match(line):
            found, owned = owned.match(line), None
            if found:
                yield found[1] + line[found.end() :]
                continue
        yield line


def for_mysql(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a dump as MySQL's own client reads them, whichever program made it."""
    return (line for n, line in enumerate(without_owners(lines)) if n or not line.startswith(SANDBOX_MODE))


POSTGRESQL = Engine(
    programs=("pg_dump",),
    clients=("psql",),
    package="postgresql-client",
    file="database.dump",
    compress=False,  # the custom format is compressed
    secret=lambda login: "*:*:*:*:" + login.password.replace("\\", "\\\\").replace(":", "\\:") + "\n",
    command=lambda program, login, secret: ["--no-password", "--format=custom"],
    client=lambda program, login, secret: [
        *("--no-psqlrc", "--no-password", "--quiet", "--set=ON_ERROR_STOP=1", "--tuples-only", "--no-align")
    ],
    environment=pg_environment,
)
MARIADB = Engine(
    programs=("mariadb-dump", "mysqldump"),
    clients=("mariadb", "mysql"),
    package="mariadb-client",
    file="database.sql.gz",
    compress=True,
    secret=lambda login: f"[client]\npassword={quoted(login.password)}\n",
    command=mysqldump_command,
    client=mysql_command,
    # No such file can be there: MySQL's programs read that of saved logins in any case.
    environment=lambda login, secret: {"MYSQL_TEST_LOGIN_FILE": f"{os.devnull}/none"},
    lines=without_owners,
)
MYSQL = replace(
    MARIADB,
    programs=("mysqldump", "mariadb-dump"),
    clients=("mysql", "mariadb"),
    package="default-mysql-client",
    lines=for_mysql,
)
ENGINES = {"postgresql": POSTGRESQL, "postgres": POSTGRESQL, "mariadb": MARIADB, "mysql": MYSQL}


def find_program(engine: Engine, programs: tuple[str, ...]) -> str:
    for found in filter(None, map(shutil.which, programs)):
        return found
    raise NoDumpError(f"{' or '.join(programs)} is not installed on this machine; install {engine.package}")


def reach(connection: Mapping[str, Any]) -> tuple[str, int]:
    """Return the first address of the database that answers: the internal one, then the public one."""
    reasons = []
    for prefix in ("", "public_"):
        host, port = connection.get(f"{prefix}host"), connection.get(f"{prefix}port")
        if not host or not port:
            continue
        try:
            socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
            return str(host), int(port)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or error
            reasons.append(shown(f"{host}:{port}: {why}"))
    raise NotDumpableError(
        f"this machine cannot reach the database ({'; '.join(reasons) or 'it has no address'}), which is "
        "known only inside the project's network. Run this on a service there, or set public: true"
    )


@dataclass(frozen=True)
class Source:
    """A database that can be dumped: its engine, the program, and the login to an address that answers."""

    engine: Engine
    program: str
    login: Login


def find_source(connection: Mapping[str, Any]) -> Source:
    """Return what it takes to dump a database. Nothing is written, and nobody logs in."""
    name = str(connection.get("engine"))
    engine = ENGINES.get(name.lower())
    if engine is None:
        raise NotDumpableError(
            f"a database of engine {name!r} cannot be dumped: only the dump programs of PostgreSQL, MariaDB "
            "and MySQL are known"
        )
    program = find_program(engine, engine.programs)
    texts = (login_text(connection, name) for name in ("user", "password", "database"))
    return Source(engine, program, Login(*reach(connection), *texts))


def login_text(connection: Mapping[str, Any], name: str) -> str:
    """Return a text of a login, which must stay one value wherever it is written."""
    text = str(connection.get(name) or "")
    if CONTROL.search(text) or len(text.encode()) > LONGEST_LOGIN:
        raise NotDumpableError(
            f"the {name} that the platform names for the database holds a control character, or has more "
            f"than {LONGEST_LOGIN} bytes, so it is not used to log in. Give the database another one"
        )
    return text


def surroundings() -> dict[str, str]:
    """Return the environment without what would lead a program elsewhere; how it encrypts is the user's."""
    return {name: value for name, value in os.environ.items() if not LEADS_ELSEWHERE.match(name)}


def last_words(said: bytes, password: str = "") -> str:
    """Return the end of what a program said, without the password and what a terminal would obey."""
    text = said.decode(errors="replace").replace(password or "\0", "***")
    return shown(" ".join(text.split()))[-LAST_WORDS:]


def shown(text: str) -> str:
    """Return a text without what a terminal would obey, or show in another order."""
    return "".join(one for one in text if one.isprintable())


@contextmanager
def in_memory(text: str) -> Iterator[int]:
    """Hold a text in a file of mode 0600 that is on no disk; yield its descriptor."""
    descriptor = os.memfd_create("secret")
    try:
        os.fchmod(descriptor, 0o600)
        os.write(descriptor, text.encode())
        yield descriptor
    finally:
        os.close(descriptor)


def dump(folder: Path, connection: Mapping[str, Any]) -> dict[str, Any]:
    source = find_source(connection)
    target = dump_from(folder, source)
    address = f"{source.login.host}:{source.login.port}"
    return {"file": target.name, "bytes": target.stat().st_size, "address": address}


def dump_from(folder: Path, source: Source) -> Path:
    target = folder / source.engine.file
    handle, temporary = tempfile.mkstemp(dir=folder, prefix=".", suffix=".partial")
    try:
        with os.fdopen(handle, "w+b") as file:
            write(file, source)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise
    return target


def write(file: IO[bytes], source: Source) -> None:
    engine, program = source.engine, source.program
    last: deque[bytes] = deque(maxlen=LAST_LINES)
    bounds, stdout = (PRINTING, subprocess.PIPE) if engine.compress else ("", file)
    with running(source, program, engine.command, bounds, stdin=subprocess.DEVNULL, stdout=stdout) as process:
        if process.stdout:
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                for line in engine.lines(pieces(process.stdout)):
                    packed.write(line)
                    last.append(line)
    if not is_whole(file, engine, last):
        sign = f"line {COMPLETED.decode()!r}" if engine.compress else f"{ARCHIVE.decode()} at its beginning"
        raise NoDumpError(
            f"{program} ended with 0, but what it wrote is no whole dump: it has no {sign}. "
            "Is it a wrapper that hides a failure?"
        )


@contextmanager
def running(
    database: Source, program: str, arguments: Callable[[str, Login, str], list[str]], bounds: str, **io: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program of a database's engine, which opens the database, within bounds that a shell sets."""
    engine, login = database.engine, database.login
    with (
        in_memory(engine.secret(login)) as descriptor,
        tempfile.TemporaryDirectory() as plugins,
        tempfile.TemporaryFile() as words,
    ):
        link_plugins(Path(program), Path(plugins))
        secret = f"/proc/self/fd/{descriptor}"
        surrounding = {**surroundings(), **engine.environment(login, secret), "MARIADB_PLUGIN_DIR": plugins}
        with subprocess.Popen(  # noqa: S603 - the engine's own program
            ["/bin/sh", "-c", f'{bounds}exec "$@"', "sh", program, *arguments(program, login, secret)],
            env=surrounding,
            pass_fds=[descriptor],
            stderr=words,
            **io,
        ) as process:
            yield process
        if process.returncode:
            if signal.SIGXFSZ in (-process.returncode, process.returncode - 128):
                raise NoDumpError(
                    f"{Path(program).name} printed more than {LONGEST_ANSWER:,} bytes, so it was stopped. "
                    "Is the server what it should be?"
                )
            said = last_words(end_of(words), login.password)
            raise NoDumpError(f"{Path(program).name} ended with {process.returncode}: {said}")


def link_plugins(program: Path, folder: Path) -> None:
    """Let the programs of MariaDB have only plugins that keep a password to themselves."""
    for prefix in (program.resolve().parent.parent, Path("/usr"), Path("/usr/local")):
        for found in (each for where in PLUGINS for each in prefix.glob(f"{where}/*.so")):
            if DISCREET.fullmatch(found.name) and not (link := folder / found.name).is_symlink():
                link.symlink_to(found)


def end_of(words: IO[bytes]) -> bytes:
    words.seek(max(0, words.seek(0, os.SEEK_END) - PIECE))
    return words.read(PIECE)


def pieces(file: IO[bytes] | gzip.GzipFile) -> Iterator[bytes]:
    """Yield the lines of a dump, and those of more than a piece in pieces, so that none fills the memory."""
    rest = b""
    while piece := rest + file.readline(PIECE):
        cut = None if len(piece) < PIECE or piece.endswith(b"\n") else CUT.match(piece)
        rest = piece[cut.end() :] if cut else b""
        yield cut[0] if cut else piece


def is_whole(file: IO[bytes], engine: Engine, last: Iterable[bytes]) -> bool:
    """Tell whether a file begins, or its last lines end, as dumps do."""
    if engine.compress:
        return any(line.startswith(COMPLETED) for line in last)
    file.seek(0)
    return file.read(len(ARCHIVE)) == ARCHIVE


def content_digest(dump: Path, engine: Engine, *, elsewhere: bool = True) -> str:
    """Read a dump to its end; return a checksum of what it says, whenever it was made.

    If not ``elsewhere``, owners and rights count, and what its server and program say of themselves.
    """
    summing = hashlib.sha256()
    try:
        for number, line in enumerate(restorable(dump, engine) if elsewhere else statements(dump, engine)):
            # Further down in a dump of PostgreSQL, such a line is a row.
            may_differ = engine.compress or (elsewhere and number <= PREAMBLE)
            if not (may_differ and (OF_THE_SERVER.match(line) if elsewhere else line.startswith(COMPLETED))):
                summing.update(line)
    except (OSError, EOFError, zlib.error) as error:
        raise NoDumpError(f"the dump {dump.name} cannot be read back: {error}") from None
    return summing.hexdigest()


def restorable(dump: Path, engine: Engine) -> Iterator[bytes]:
    """Yield the lines of a dump as they are restored: all of it will belong to whoever does that."""
    for number, line in enumerate(statements(dump, engine, owners=False)):
        if number > PREAMBLE or not NEWER.match(line):
            yield line


def statements(dump: Path, engine: Engine, owners: bool = True) -> Iterator[bytes]:
    """Yield the lines of a dump as they would be restored, with the owners and rights that it names or not.

    Dumps of MariaDB and MySQL name none. Those of PostgreSQL are one transaction, which their last statement
    ends: without that, the large objects in them have some of their own.
    """
    if engine.compress:
        with gzip.open(dump) as file:
            yield from pieces(file)
        return
    program = find_program(engine, (READER,))
    options = () if owners else WITHOUT_OWNERS
    with (
        tempfile.TemporaryFile() as words,
        subprocess.Popen(  # noqa: S603 - the engine's own program
            [program, "--file=-", "--single-transaction", *options, "--", str(dump)],
            env=surroundings(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=words,
        ) as process,
    ):
        if process.stdout:
            yield from unrestricted(pieces(process.stdout))
        if process.wait():
            raise NoDumpError(f"the dump {dump.name} cannot be read back: {last_words(end_of(words))}")


def unrestricted(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the lines of a dump without the two by which newer programs restrict psql to statements.

    Their key is another one each time, so a line of the content cannot be the second one.
    """
    key = None
    for number, line in enumerate(lines):
        if number < HEADING and (found := RESTRICT.match(line)):
            key = found[1]
        elif key is None or line.rstrip() != b"\\unrestrict " + key:
            yield line
