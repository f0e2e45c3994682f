"""Migrations between two instances, bundles by hand, and what a comparison printed."""
import json
import re

from support.instance import PASSWORD
from support.program import run

MASK = "••••••••"

CONFIG = {
    "admission_control_enabled": "1",
    "cloud1_access_key_id": "AKIAEXAMPLE",
    "cloud1_secret_access_key": "a secret of the source",
    "cloud2_tenant_id": "tenant",
    "epml_pat": "pat of the source",
    "oidc_client_secret": "azure_kv://primary/oidc",
    "public_base_url": "https://source.example",
    "vsphere_host": "vc.example",
    "storage_active_backend": "obj_cloud1",
    "storage_obj_cloud1_bucket": "assets",
    "some_new_setting": "héllo 😀",
    "cloud1_region.us-east-1.vpc_id": "vpc-1",
    "cloud2_region.West US 2.gallery_name": "gallery",
}

GOOD = {"/api/setup/status": (200, b'{"complete": true, "configured_keys": []}'),
        "/api/setup/config": (200, b'{"aws_region": "x"}'),
        ("POST", "/api/setup/import"): (200, b'{"ok": true, "keys_written": 1, "regions_merged": []}')}


class Pair:
    """A source with a configuration and an empty target, both running, with different signing keys."""

    def __init__(self, make_instance, scratch):
        self.scratch = scratch
        self.source = make_instance("source")
        self.target = make_instance("target")
        self.password_file = scratch / "password"
        self.password_file.write_text(PASSWORD + "\n")
        self.home = scratch / "home"
        self.home.mkdir()
        self.root = self.source.login("root")

    def fill(self, config, **more):
        answer = self.root.post("/api/setup/import", {"config": config, **more})
        assert answer.status == 200, answer
        return answer.json

    def migrate(self, action, *args, login=True, **kw):
        flags = ["--admin-user", "root", "--password-file", self.password_file] if login else []
        return run("migrate", action, *args, *flags, env={"HOME": str(self.home), **kw.pop("env", {})}, **kw)

    def export(self, *args, **kw):
        out = self.scratch / "bundle.json"
        done = self.migrate("export", "--source", self.source.url, "--out", out, *args, **kw)
        assert done.code == 0, done
        return out

    def diff(self, bundle, *args, **kw):
        return self.migrate("diff", "--bundle", bundle, "--target", self.target.url, *args, **kw)

    def apply(self, bundle, *args, **kw):
        return self.migrate("import", "--bundle", bundle, "--target", self.target.url, "--apply", *args, **kw)

    def target_config(self):
        return self.target.login("root").get("/api/setup/config").json


def counts(done):
    found = {}
    for line in done.out.splitlines():
        name, _, number = line.strip().partition(": ")
        if name in ("ADD", "CHANGE", "UNKNOWN", "SAME"):
            found[name] = int(number)
    return found


def fingerprint_line(line):
    """(key, chars, fingerprint) of a line `<key> = <n> chars #<fingerprint>`, or None."""
    found = re.match(r"\s*(\S.*?) = (\d+) chars #([0-9a-f]{8})$", line)
    return (found[1], int(found[2]), found[3]) if found else None


def keys_of(done, category):
    """The keys listed under a category's heading."""
    found, here = [], None
    for line in done.out.splitlines():
        if line.strip().partition(":")[0] in ("ADD", "CHANGE", "UNKNOWN", "SAME"):
            here = line.strip().partition(":")[0]
        elif here == category and fingerprint_line(line):
            found.append(fingerprint_line(line)[0])
    return found


def write_bundle(path, mode=0o600, **sections):
    path.touch(mode=mode)
    path.chmod(mode)
    path.write_text(json.dumps(sections))
    return path


def importing(server, scratch, *flags):
    bundle = write_bundle(scratch / "b.json", config={"some_key": "1"})
    return run("migrate", "import", "--bundle", bundle, "--target", server.url, "--token", "a.b.c", "--apply", *flags,
               env={"HOME": str(scratch)})
