# Copyright (c) 2026, the hosted.services contributors
# GNU General Public License v3.0 or later (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every restore of a dump that the guide describes, word for word: by another user, on a fresh server."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from integration.ansible_run import REPOSITORY
from integration.database_servers import (
    DATABASE,
    PASSWORD,
    PATH,
    USER,
    MariaDB,
    PostgreSQL,
    Server,
    serving,
)

pytestmark = pytest.mark.night

GUIDE = REPOSITORY / "docs" / "guides" / "backups.md"
SCRIPT = REPOSITORY / "roles" / "backups" / "files" / "dump_database.py"
COMMANDS = {
    "postgresql": "pg_restore ",
    "mariadb": "gzip -dc database.sql.gz | mariadb ",
    "mysql": "gzip -dc database.sql.gz | mysql ",
}
#: A row that looks like what a dump says of owners: it must come back as it was.
TRAP = "/*!50013 DEFINER=`a`@`b` SQL SECURITY DEFINER */\nDELIMITER ;;\nCREATE DEFINER=`a`@`b` PROCEDURE"
POSTGRESQL = f"""
    SET ROLE {USER};
    CREATE TABLE orders (id integer PRIMARY KEY, note text);
    INSERT INTO orders VALUES (1, $${TRAP}$$);
    CREATE VIEW first AS SELECT note FROM orders WHERE id = 1;
    CREATE FUNCTION twice(a integer) RETURNS integer LANGUAGE sql AS 'SELECT 2 * a';
    RESET ROLE;
    CREATE ROLE reader;
    GRANT SELECT ON orders, first TO reader;
"""  # noqa: S608 - our own statements
MARIADB = f"""
    CREATE TABLE orders (id integer PRIMARY KEY, note text);
    INSERT INTO orders VALUES (1, '{TRAP}');
    CREATE DEFINER={USER}@'127.0.0.1' VIEW first AS SELECT note FROM orders WHERE id = 1;
    CREATE DEFINER={USER}@'127.0.0.1' FUNCTION twice(a integer) RETURNS integer DETERMINISTIC RETURN 2 * a;
    CREATE DEFINER={USER}@'127.0.0.1' PROCEDURE nothing() SELECT 1;
    CREATE DEFINER={USER}@'127.0.0.1' TRIGGER up BEFORE INSERT ON orders FOR EACH ROW SET NEW.id = NEW.id + 1;
    CREATE DEFINER={USER}@'127.0.0.1' EVENT nightly ON SCHEDULE EVERY 1 DAY DO SELECT 1;
"""  # noqa: S608 - our own statements


def documented(engine: str) -> str:
    """Return the command that the guide names for an engine."""
    (line,) = [line for line in GUIDE.read_text().splitlines() if line.startswith(COMMANDS[engine])]
    return line


@pytest.mark.parametrize("engine", ["postgresql", "mariadb", "mysql"])
def test_a_restore_as_the_guide_has_it(engine: str, tmp_path: Path) -> None:
    """All that belongs to the database comes back, and belongs to whoever restored it."""
    kind: type[Server] = PostgreSQL if engine == "postgresql" else MariaDB
    if engine == "mysql" and not (shutil.which("mysql") and shutil.which("mysqldump")):
        pytest.skip("not installed: mysql, mysqldump")
    with serving(kind) as old:
        old.sql(POSTGRESQL if kind is PostgreSQL else MARIADB, DATABASE)
        subprocess.run(
            [sys.executable, SCRIPT, tmp_path],
            input=json.dumps({**old.connection, "engine": engine}),
            env={"PATH": PATH},
            text=True,
            check=True,
        )
    with serving(kind, "tenant", "fresh") as new:
        access = {name: str(value) for name, value in new.connection.items()}
        done = subprocess.run(
            ["sh", "-euc", documented(engine)],
            cwd=tmp_path,
            env={
                "PATH": PATH,
                **{f"DB_{name.upper()}": value for name, value in access.items()},
                "PGPASSWORD": PASSWORD,
                "MYSQL_PWD": PASSWORD,
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert new.sql("SELECT note FROM first;", "fresh").replace("\\n", "\n").strip() == TRAP
        assert new.sql("SELECT twice(21);", "fresh").strip() == "42"
        if kind is MariaDB:
            owners = new.sql(
                "SELECT DEFINER FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = 'fresh' "
                "UNION ALL SELECT DEFINER FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'fresh' "
                "UNION ALL SELECT DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = 'fresh' "
                "UNION ALL SELECT DEFINER FROM information_schema.EVENTS WHERE EVENT_SCHEMA = 'fresh';",
                "fresh",
            )
            assert owners.split() == ["tenant@127.0.0.1"] * 5
        else:
            assert set(
                new.sql("SELECT tableowner FROM pg_tables WHERE schemaname = 'public';", "fresh").split()
            ) == {"tenant"}


def test_the_guide_says_how_to_log_in() -> None:
    """The commands take what these variables hold, and the guide sets each of them."""
    text = GUIDE.read_text()
    used = set(re.findall(r"\$(DB_\w+)", "".join(documented(engine) for engine in COMMANDS)))
    assert used == {"DB_HOST", "DB_PORT", "DB_USER", "DB_DATABASE"}
    assert all(f"{name}=" in text for name in (*used, "PGPASSWORD", "MYSQL_PWD"))
