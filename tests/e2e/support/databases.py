"""Databases on which an instance runs. DASH_E2E_DATABASE=postgres gives every instance a PostgreSQL database of its own whose test does not
name one, so that the whole suite runs on either."""
import contextlib
import json
import os
import sqlite3
import subprocess
import uuid
from pathlib import Path

DATABASES = ["sqlite", "postgres"]
EVERYWHERE = os.environ.get("DASH_E2E_DATABASE", "sqlite")
assert EVERYWHERE in DATABASES, f"DASH_E2E_DATABASE={EVERYWHERE}: one of {DATABASES}"

_of_folder = {}  # the databases that were given, by the instance's data directory


def new_database(kind):
    """The environment of an instance on a database of its own."""
    if kind == "sqlite":
        # Empty counts as not set; named, so that nothing else is given.
        return {} if EVERYWHERE == "sqlite" else {"DASHCTL_DATABASE": ""}
    name = "attack_" + uuid.uuid4().hex[:12]
    subprocess.run(["createdb", name], check=True, capture_output=True)
    url = f"postgres://{os.environ['PGUSER']}:{os.environ['PGPASSWORD']}@{os.environ['PGHOST']}:{os.environ['PGPORT']}/{name}"
    return {"DASHCTL_DATABASE": url}


def database_of(folder, env):
    """What to add to `env` for the data directory `folder`: a name, where none is given and DASH_E2E_DATABASE asks for one."""
    if EVERYWHERE == "sqlite" or "DASHCTL_DATABASE" in env:
        return {}
    if folder not in _of_folder:
        _of_folder[folder] = new_database(EVERYWHERE)
    return _of_folder[folder]


def environment_of(words, env):
    """The same for a command line that names a data directory which was given a database."""
    words = list(map(str, words))
    folder = words[words.index("--data-dir") + 1] if "--data-dir" in words[:-1] else None
    return env if not folder or "DASHCTL_DATABASE" in (env or {}) else {**(env or {}), **_of_folder.get(Path(folder), {})}


def drop_databases(folder):
    """Of all instances below `folder`, which have ended."""
    for at in [at for at in _of_folder if folder in at.parents]:
        name = _of_folder.pop(at)["DASHCTL_DATABASE"].rpartition("/")[2]
        subprocess.run(["dropdb", "--force", name], check=True, capture_output=True)


def sqlite_file(instance):
    """The file of an instance that a test put on SQLite."""
    assert not instance.env.get("DASHCTL_DATABASE")
    return instance.folder / "dashctl.db"


def rows(instance, statement, *values):
    """Runs one statement, with ? for each value, in the instance's database; the rows of a SELECT, as tuples."""
    url = instance.env.get("DASHCTL_DATABASE")
    if not url:
        with contextlib.closing(sqlite3.connect(sqlite_file(instance), timeout=30)) as database, database:
            return database.execute(statement, values).fetchall()
    text = "".join(part + literal for part, literal in zip(statement.split("?"), [*map(postgres_literal, values), ""], strict=True))
    if not statement.lstrip().upper().startswith("SELECT"):
        psql(url, text)
        return []
    # Pairs and not a dictionary, because two columns may have one name.
    found = json.loads(psql(url, f"SELECT coalesce(json_agg(found), '[]') FROM ({text}) found"), object_pairs_hook=list)
    return [tuple(bytes.fromhex(value[2:]) if isinstance(value, str) and value.startswith("\\x") else value for _, value in row)
            for row in found]


def postgres_literal(value):
    if isinstance(value, bytes):
        return f"'\\x{value.hex()}'::bytea"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def psql(url, text):
    done = subprocess.run(["psql", "-qAt", "-v", "ON_ERROR_STOP=1", url], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (text, done.stderr)
    return done.stdout


def dump(instance):
    """All bytes of the database of an instance that has no connections."""
    url = instance.env.get("DASHCTL_DATABASE")
    if not url:
        return sqlite_file(instance).read_bytes()
    return subprocess.run(["pg_dump", "-c", "--if-exists", url], check=True, capture_output=True).stdout


def put_back(instance, dumped):
    """Replaces the database by what dump() returned, of this instance or another."""
    url = instance.env.get("DASHCTL_DATABASE")
    if url:
        psql(url, dumped.decode())
        return
    for file in instance.folder.glob("dashctl.db*"):
        file.unlink()
    sqlite_file(instance).write_bytes(dumped)
