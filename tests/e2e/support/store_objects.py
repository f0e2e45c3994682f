"""The objects of a store of each kind, as a program that is not ours puts them there, and the store's versioning."""
import base64
import email.utils
import hashlib
import hmac
import json
import os
import re
import urllib.parse
from pathlib import Path

from support.cloud_stores import gcs_token, oci_headers, send
from support.s3_bucket import Bucket


def quoted(key):
    return urllib.parse.quote(key, safe="/")


class S3Objects:
    def __init__(self, settings, env, scratch):
        self.bucket = Bucket(env, settings["storage_obj_cloud1_bucket"])

    def put(self, key, data):
        self.bucket.put(key, data)

    def keep_versions(self):
        body = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
        assert self.bucket.call("PUT", "/" + self.bucket.name, "versioning=", body).status == 200

    def delete(self, key):
        self.bucket.delete(key)

    def all(self):
        """{key: bytes} of every object."""
        return {key: self.bucket.get(key) for key in self.bucket.keys()}


class AzureObjects:
    def __init__(self, settings, env, scratch):
        self.account, self.key = settings["storage_obj_cloud2_account"], settings["storage_obj_cloud2_account_key"]
        self.endpoint, self.container = settings["storage_obj_cloud2_endpoint"], settings["storage_obj_cloud2_container"]
        self.call("PUT", "", {"restype": "container"})

    def call(self, method, key, query, body=b"", headers=None):
        """Shared Key (learn.microsoft.com, Authorize with Shared Key); the emulator has the account in the path too."""
        path = f"/{self.container}" + (f"/{quoted(key)}" if key else "")
        headers = {"x-ms-date": email.utils.formatdate(usegmt=True), "x-ms-version": "2021-08-06", **(headers or {})}
        canonical = "".join(f"{k}:{headers[k]}\n" for k in sorted(headers) if k.startswith("x-ms-"))
        resource = f"/{self.account}/{self.account}{path}" + "".join(f"\n{k}:{query[k]}" for k in sorted(query))
        length = str(len(body)) if body else ""
        to_sign = "\n".join([method, "", "", length, "", "application/octet-stream", "", "", "", "", "", "",
                             canonical + resource])
        digest = hmac.new(base64.b64decode(self.key), to_sign.encode(), hashlib.sha256).digest()
        headers |= {"Authorization": f"SharedKey {self.account}:{base64.b64encode(digest).decode()}",
                    "Content-Type": "application/octet-stream", "Content-Length": str(len(body or b""))}
        return send(method, self.endpoint + path + ("?" + urllib.parse.urlencode(query) if query else ""), body, headers)

    def put(self, key, data):
        self.call("PUT", key, {}, data, {"x-ms-blob-type": "BlockBlob"})

    def set_metadata(self, key, **metadata):
        self.call("PUT", key, {"comp": "metadata"}, b"", {"x-ms-meta-" + name: value for name, value in metadata.items()})

    def delete(self, key):
        self.call("DELETE", key, {}, None)

    def all(self):
        """{key: bytes} of every object."""
        listed = self.call("GET", "", {"restype": "container", "comp": "list"}, None).decode()
        return {key: self.call("GET", key, {}, None) for key in re.findall("<Name>([^<]*)</Name>", listed)}

    def lease(self, key, lease_id):
        self.call("PUT", key, {"comp": "lease"}, b"", {"x-ms-lease-action": "acquire", "x-ms-lease-duration": "-1",
                                                       "x-ms-proposed-lease-id": lease_id})

    def snapshot(self, key):
        self.call("PUT", key, {"comp": "snapshot"})


class GcsObjects:
    def __init__(self, settings, env, scratch):
        self.endpoint, self.name = settings["storage_obj_cloud3_endpoint"], settings["storage_obj_cloud3_bucket"]
        self.token = gcs_token(json.loads(settings["cloud3_service_account_json"]), scratch)

    def call(self, method, path, body=b"", kind="application/octet-stream"):
        return send(method, self.endpoint + path, body, {"Authorization": "Bearer " + self.token, "Content-Type": kind})

    def put(self, key, data):
        self.call("POST", f"/upload/storage/v1/b/{self.name}/o?uploadType=media&name={urllib.parse.quote(key, safe='')}", data)

    def keep_versions(self):
        self.call("PATCH", f"/storage/v1/b/{self.name}", b'{"versioning": {"enabled": true}}', "application/json")

    def delete(self, key):
        self.call("DELETE", f"/storage/v1/b/{self.name}/o/{urllib.parse.quote(key, safe='')}", None)

    def all(self):
        """{key: bytes} of every object."""
        listed = json.loads(self.call("GET", f"/storage/v1/b/{self.name}/o", None)).get("items", [])
        return {item["name"]: self.call("GET", f"/storage/v1/b/{self.name}/o/{urllib.parse.quote(item['name'], safe='')}?alt=media",
                                        None) for item in listed}


class OciObjects:
    def __init__(self, settings, env, scratch):
        self.env = {**env, "OCI_KEY_FILE": str(scratch / "oci.pem")}
        Path(self.env["OCI_KEY_FILE"]).write_text(settings["cloud4_private_key"], encoding="utf-8")
        self.path = f"/n/{env['OCI_NAMESPACE']}/b/{settings['storage_obj_cloud4_bucket']}"

    def call(self, method, path, body=None):
        return send(method, self.env["OCI_ENDPOINT"] + path, body, oci_headers(self.env, method, path, body or b""))

    def put(self, key, data):
        self.call("PUT", f"{self.path}/o/{quoted(key)}", data)

    def keep_versions(self):
        self.call("POST", self.path, b'{"versioning": "Enabled"}')

    def delete(self, key):
        self.call("DELETE", f"{self.path}/o/{quoted(key)}")

    def all(self):
        """{key: bytes} of every object."""
        listed = json.loads(self.call("GET", f"{self.path}/o"))["objects"]
        return {item["name"]: self.call("GET", f"{self.path}/o/{quoted(item['name'])}") for item in listed}


KINDS = {"s3": S3Objects, "azure": AzureObjects, "gcs": GcsObjects, "oci": OciObjects}


def objects_of(kind, settings, scratch, env=None):
    return KINDS[kind](settings, env or dict(os.environ), scratch)
