"""Databases on which an instance runs."""
import os
import subprocess
import uuid

DATABASES = ["sqlite", "postgres"]


def new_database(kind):
    """The environment of an instance on a database of its own."""
    if kind == "sqlite":
        return {}
    name = "attack_" + uuid.uuid4().hex[:12]
    subprocess.run(["createdb", name], check=True, capture_output=True)
    url = f"postgres://{os.environ['PGUSER']}:{os.environ['PGPASSWORD']}@{os.environ['PGHOST']}:{os.environ['PGPORT']}/{name}"
    return {"DASHCTL_DATABASE": url}
