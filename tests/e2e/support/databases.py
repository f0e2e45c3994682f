"""Databases on which an instance runs. DASH_E2E_DATABASE=postgres gives every instance a PostgreSQL database of its own whose test does not
name one, so that the whole suite runs on either."""
import os
import subprocess
import uuid
from pathlib import Path

import pytest

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
    """The instance's SQLite database, for tests that look into it or change it; they are skipped where there is none."""
    if instance.env.get("DASHCTL_DATABASE"):
        pytest.skip("looks into the file of SQLite")
    return instance.folder / "dashctl.db"
