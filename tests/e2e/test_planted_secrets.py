"""A secret of each kind goes through the flows of an instance, and is looked for in all that anybody can read afterwards: logs,
answers, the output of commands, the database, metrics, the data folder and what a crash leaves."""
import base64
import json
import os
import re
import signal
import sqlite3
import urllib.parse
import uuid

from support.automation import ansible, put_asset, run as run_asset, ssh_host
from support.databases import dump, sqlite_file
from support.doubles import double
from support.jobs import MACHINE, executor, wait_for
from support.instance import PASSWORD, sign_in
from support.program import run
from support.storage import upload

# Those of the settings; the rest are planted where they are used.
SETTINGS = ["cloud1_secret_access_key", "storage_obj_cloud2_account_key", "cloud3_service_account_json", "cloud4_private_key",
            "storage_local_password", "epml_pat", "oidc_client_secret"]
DATA_FILES_WITH_SECRETS = {"signing.key"}


class Planted:
    """Secrets by kind, and everything that was shown since."""

    def __init__(self):
        self.secrets, self.seen = {}, {}

    def plant(self, kind):
        self.secrets[kind] = f"planted-{uuid.uuid4().hex}-{len(self.secrets)}"
        return self.secrets[kind]

    def saw(self, place, content):
        self.seen[place] = content if isinstance(content, bytes) else content.encode()

    def forms(self, secret):
        """As it is, quoted for URLs, in hex and in base64 at any offset."""
        raw = secret.encode()
        yield raw
        yield urllib.parse.quote(secret, safe="").encode()
        yield raw.hex().encode()
        for offset in range(3):
            coded = base64.b64encode(b"\0" * offset + raw)
            yield coded[4 if offset else 0:-4]

    def found(self):
        return [(kind, place) for kind, secret in self.secrets.items() for place, content in self.seen.items()
                if any(form in content for form in self.forms(secret))]


def database(instance):
    """Every value that the database holds."""
    if instance.env.get("DASHCTL_DATABASE"):
        return dump(instance)
    connection = sqlite3.connect(f"file:{sqlite_file(instance)}?mode=ro", uri=True)
    try:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return "\n".join(repr(row) for table in tables for row in connection.execute(f'SELECT * FROM "{table}"'))
    finally:
        connection.close()


def readable(root):
    """What an admin can read without naming anything, by the server's own description. A stream of events does not end."""
    paths = re.findall(r"^  (/[^{}\s]*):\n    get:", root.get("/openapi.yaml").text, re.M)
    assert {"/api/jobs", "/api/audit", "/api/setup/config", "/api/hosts", "/metrics"} <= set(paths)
    return [path for path in paths if path != "/api/events"]


def look_around(planted, one, root):
    for path in readable(root):
        answer = root.get(path)
        assert answer.status < 500, (path, answer)
        planted.saw(f"GET {path}", answer.body + repr(answer.headers).encode())
    for job in root.get("/api/jobs").json["jobs"]:
        for path in (f"/api/jobs/{job['id']}", f"/api/jobs/{job['id']}/logs"):
            planted.saw(f"GET {path}", root.get(path).body)
    for words in (["config", "list"], ["doctor"], ["audit", "verify"], ["job", "list"], ["token", "list"], ["user", "list"], ["host", "list"]):
        done = one.dashctl(*words)
        planted.saw("dashctl " + " ".join(words), done.out + done.err)
    planted.saw("the server's log", one.log_file.read_bytes())
    planted.saw("the database's values", database(one))
    for path in one.folder.rglob("*"):
        if path.is_file() and path.name not in DATA_FILES_WITH_SECRETS:
            planted.saw(f"the file {path.relative_to(one.folder)}", path.read_bytes())


def test_no_planted_secret_is_found_anywhere(make_instance, scratch):
    planted = Planted()
    one = make_instance(start=False, env={"AUTOMATION_ANSIBLE": ansible()})
    (scratch / "assets").mkdir()
    password = planted.plant("password of a user")
    one.add_user("ann", workgroups=["web"], password=password)
    for key in SETTINGS:
        one.set(**{key: planted.plant(key)})
    one.set(storage_local_path=str(scratch / "assets"), storage_active_backend="local", ansible_enabled="true", automation_targets="127.0.0.1")
    planted.secrets["token"] = one.token("root")
    with double("ssh", "SSH_PORT") as ssh:
        one.start()
        root = one.login("root")
        planted.secrets["session"] = root.token
        # Sign-ins, good, wrong and of nobody; a secret in a wrong place of a request.
        assert sign_in(one, "ann", password).status == 200
        assert sign_in(one, "ann", planted.plant("wrong password")).status == 401
        assert root.get("/api/nothing?token=" + planted.plant("query")).status == 404
        assert root.request("GET", "/api/auth/me", headers={"Authorization": "Bearer " + planted.plant("wrong token")}).status == 401
        assert root.patch("/api/storage/config", {"storage_obj_cloud2_account_key": planted.plant("changed setting")}).status == 200
        # Stores that refuse, and configuration between instances.
        for backend in ("obj_cloud1", "obj_cloud2", "obj_cloud3", "obj_cloud4"):
            answer = root.post("/api/storage/test", {"backend": backend})
            planted.saw(f"the test of {backend}", answer.body)
        exported = run("migrate", "export", "--source", one.url, "--token-file", "-", "--out", "-", stdin=planted.secrets["token"])
        planted.saw("what a failed export says", exported.err)
        # A deploy and runs, with secrets in parameters, of hosts and of the run.
        executor(one, "cloud1-vm-deploy", "cat >/dev/null; echo deployed")
        job_id = root.post("/api/cloud1/deploy", MACHINE).json["job_id"]
        wait_for(root, job_id, "completed", "failed")
        host = ssh_host("by-password", ssh, secret=ssh["SSH_PASS"])
        assert root.post("/api/hosts", host).status == 201
        assert root.post("/api/hosts", ssh_host("wrong", ssh, secret=planted.plant("secret of a host"))).status == 201
        put_asset(root, "show.yml", "- hosts: all\n  gather_facts: false\n  tasks:\n    - ansible.builtin.debug: {msg: 'it is {{ word }}'}\n")
        done = run_asset(root, "show.yml", "by-password", secret_vars={"word": planted.plant("variable of a run")})
        assert done["status"] == "completed", done
        run_asset(root, "show.yml", "wrong", secret_vars={"word": planted.secrets["variable of a run"]})
        assert upload(root, "plain.sh", b"#!/bin/sh\necho plain\n").status in (200, 201)
        look_around(planted, one, root)
        # A crash writes down nothing either.
        one.process.send_signal(signal.SIGABRT)
        one.process.wait(timeout=60)
        one.process = None
        planted.saw("the log after the crash", one.log_file.read_bytes())
        for path in (path for path in one.folder.rglob("*") if path.is_file() and path.name not in DATA_FILES_WITH_SECRETS):
            planted.saw(f"after the crash: {path.relative_to(one.folder)}", path.read_bytes())
    assert PASSWORD.encode() not in b"".join(planted.seen.values())
    assert planted.found() == []


def test_the_search_finds_what_is_there():
    planted = Planted()
    secret = planted.plant("kind")
    for offset in range(3):
        planted.saw(f"offset {offset}", base64.b64encode(b"x" * offset + secret.encode() + b"the end"))
    planted.saw("URL", urllib.parse.quote(secret + "/"))
    planted.saw("JSON", json.dumps({"a": secret}))
    planted.saw("other", os.urandom(100))
    assert {place for _, place in planted.found()} == {"offset 0", "offset 1", "offset 2", "URL", "JSON"}
