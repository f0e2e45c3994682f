"""The real infrastructure-as-code program, with its state on a backend of ours, by its own backends and locks."""
import base64
import datetime
import json
import os
import shutil
import subprocess
import uuid
from pathlib import Path

MODULE = """
resource "terraform_data" "one" { input = var.word }
variable "word" { default = "first" }
output "word" { value = terraform_data.one.output }
"""
# An apply of it holds its lock until the file `go` is there.
WAITING = """
resource "terraform_data" "gate" {
  provisioner "local-exec" { command = "touch %(folder)s/at && while [ ! -e %(folder)s/go ]; do sleep 0.05; done" }
}
"""


def iac_binary():
    for path in (os.environ.get("IAC_BINARY", ""), shutil.which("tofu"), shutil.which("terraform"),
                 str(Path.home() / ".cache/dashctl/bin/tofu")):
        if path and Path(path).is_file():
            return path
    raise RuntimeError("no OpenTofu or Terraform: run scripts/setup iac, or set IAC_BINARY")


def text(value):
    return json.dumps(value)


def backend_text(settings, job, data_dir):
    """The program's own words for where the active backend of these settings has the state of a job."""
    kind = settings["storage_active_backend"]
    if kind == "obj_cloud1":
        return f"""backend "s3" {{
          bucket = {text(settings["storage_obj_cloud1_bucket"])}
          key = "iac-state/{job}/terraform.tfstate"
          region = {text(settings["storage_obj_cloud1_region"])}
          endpoints = {{ s3 = {text(settings["storage_obj_cloud1_endpoint"])} }}
          access_key = {text(settings["cloud1_access_key_id"])}
          secret_key = {text(settings["cloud1_secret_access_key"])}
          use_path_style = true
          use_lockfile = true
          skip_credentials_validation = true
          skip_region_validation = true
          skip_requesting_account_id = true
          skip_metadata_api_check = true
        }}"""
    if kind == "obj_cloud3":
        return f"""backend "gcs" {{
          bucket = {text(settings["storage_obj_cloud3_bucket"])}
          prefix = "iac-state/{job}"
          credentials = {text(settings["cloud3_service_account_json"])}
          storage_custom_endpoint = {text(settings["storage_obj_cloud3_endpoint"] + "/storage/v1/")}
        }}"""
    return f"""backend "local" {{ path = {text(f"{data_dir}/deploy/{job}/terraform.tfstate")} }}"""


class Deployment:
    """A folder with a module whose state is that of a job on one backend."""

    def __init__(self, folder, settings, job, data_dir, module=MODULE):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True)
        (self.folder / "main.tf").write_text(
            "terraform {\n" + backend_text(settings, job, data_dir) + "\n}\n" + module % {"folder": self.folder})
        (self.folder / "cli").write_text("")
        self.run("init")

    @property
    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("TF_", "AWS_", "GOOGLE_"))}
        return {**kept, "TF_CLI_CONFIG_FILE": str(self.folder / "cli"), "TF_IN_AUTOMATION": "1", "CHECKPOINT_DISABLE": "1"}

    def start(self, *args):
        return subprocess.Popen([iac_binary(), *args, "-input=false", "-no-color"], cwd=self.folder, env=self.environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, *args, expect=0):
        process = self.start(*args)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == expect, out
        return out

    def apply(self, word="first"):
        self.run("apply", "-auto-approve", f"-var=word={word}")

    def plan(self, word="first"):
        """0 when nothing would change, 2 when something would."""
        process = self.start("plan", "-detailed-exitcode", f"-var=word={word}")
        out, _ = process.communicate(timeout=120)
        assert process.returncode in (0, 2), out
        return process.returncode

    def destroy(self):
        self.run("destroy", "-auto-approve")


class HeldLock:
    """The lock on a state that the program of this kind of store leaves: `store` is the objects of a cloud's, or the state's folder."""

    def __init__(self, kind, store, key):
        self.id = str(uuid.uuid4())
        began = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(hours=2, minutes=5)
        self.created = began.strftime("%Y-%m-%dT%H:%M:%SZ")
        info = json.dumps({"ID": self.id, "Operation": "OperationTypeApply", "Who": "ann@host", "Version": "1.11.4",
                           "Created": began.strftime("%Y-%m-%dT%H:%M:%S.%f000Z")})
        if kind == "local":
            (store / ".terraform.tfstate.lock.info").write_text(info)
        elif kind == "azure":
            store.set_metadata(key, terraformlockid=base64.b64encode(info.encode()).decode())
            store.lease(key, self.id)
        else:
            name = {"s3": key + ".tflock", "gcs": key.replace("default.tfstate", "default.tflock"), "oci": key + ".lock"}[kind]
            store.put(name, info.encode())
