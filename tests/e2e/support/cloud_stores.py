"""A new container on each kind of store, and the settings that make it the active backend."""
import base64
import email.utils
import hashlib
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

from support.s3_bucket import Bucket


def sign(key_file, text):
    """RSASSA-PKCS1-v1_5 with SHA-256; the standard library has none."""
    return subprocess.run(["openssl", "dgst", "-sha256", "-sign", key_file], input=text.encode(), capture_output=True,
                          check=True).stdout


def send(method, url, body, headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers, method=method), timeout=120) as answer:
            return answer.read()
    except urllib.error.HTTPError as e:
        raise AssertionError(f"{method} {url}: {e.code} {e.read()!r}") from None


def azure(env, scratch):
    return {"storage_obj_cloud2_account": env["AZURE_STORAGE_ACCOUNT"],
            "storage_obj_cloud2_account_key": env["AZURE_STORAGE_KEY"],
            "storage_obj_cloud2_endpoint": env["AZURE_BLOB_ENDPOINT"],
            "storage_obj_cloud2_container": "e2e-" + uuid.uuid4().hex[:12],
            "storage_active_backend": "obj_cloud2"}


def gcs_token(account, scratch):
    """An access token of a service account."""
    key = scratch / "key.pem"
    key.write_text(account["private_key"])

    def b64url(raw):
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    now = int(time.time())
    claims = {"iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 600,
              "scope": "https://www.googleapis.com/auth/devstorage.full_control"}
    text = b64url(b'{"alg":"RS256","typ":"JWT"}') + "." + b64url(json.dumps(claims).encode())
    form = urllib.parse.urlencode({"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                                   "assertion": text + "." + b64url(sign(key, text))})
    return json.loads(send("POST", account["token_uri"], form.encode(), {}))["access_token"]


def gcs(env, scratch):
    account = json.loads(Path(env["GOOGLE_APPLICATION_CREDENTIALS"]).read_text())
    name = "e2e-" + uuid.uuid4().hex[:12]
    send("POST", env["GCS_ENDPOINT"] + "/storage/v1/b?project=test-project", json.dumps({"name": name}).encode(),
         {"Authorization": "Bearer " + gcs_token(account, scratch), "Content-Type": "application/json"})
    return {"storage_obj_cloud3_bucket": name, "storage_obj_cloud3_endpoint": env["GCS_ENDPOINT"],
            "cloud3_service_account_json": json.dumps(account), "storage_active_backend": "obj_cloud3"}


def oci_headers(env, method, target, body):
    """The headers of a signed request; its body is JSON, or that of an object, which the service exempts."""
    headers = {"date": email.utils.formatdate(usegmt=True), "host": env["OCI_ENDPOINT"].split("://")[1]}
    names = ["date", "(request-target)", "host"]
    if method == "POST":
        headers |= {"content-length": str(len(body)), "content-type": "application/json",
                    "x-content-sha256": base64.b64encode(hashlib.sha256(body).digest()).decode()}
        names += ["content-length", "content-type", "x-content-sha256"]
    lines = [f"{n}: {method.lower()} {target}" if n.startswith("(") else f"{n}: {headers[n]}" for n in names]
    signature = base64.b64encode(sign(env["OCI_KEY_FILE"], "\n".join(lines))).decode()
    key_id = f"{env['OCI_TENANCY']}/{env['OCI_USER']}/{env['OCI_FINGERPRINT']}"
    headers["authorization"] = (f'Signature version="1",keyId="{key_id}",algorithm="rsa-sha256",'
                                f'headers="{" ".join(names)}",signature="{signature}"')
    return headers


def oci(env, scratch):
    name = "e2e-" + uuid.uuid4().hex[:12]
    target = f"/n/{env['OCI_NAMESPACE']}/b"
    body = json.dumps({"name": name, "compartmentId": env["OCI_COMPARTMENT"]}).encode()
    send("POST", env["OCI_ENDPOINT"] + target, body, oci_headers(env, "POST", target, body))
    return {"storage_obj_cloud4_bucket": name, "storage_obj_cloud4_endpoint": env["OCI_ENDPOINT"],
            "cloud4_tenancy_ocid": env["OCI_TENANCY"], "cloud4_user_ocid": env["OCI_USER"],
            "cloud4_fingerprint": env["OCI_FINGERPRINT"], "cloud4_private_key": Path(env["OCI_KEY_FILE"]).read_text(),
            "storage_active_backend": "obj_cloud4"}


def share(env):
    """A folder of its own on the SMB share, as the store `local`."""
    name = "e2e-" + uuid.uuid4().hex[:12]
    host, share_name, port, user, password = (env["SMB_" + key] for key in ("HOST", "SHARE", "PORT", "USER", "PASS"))
    subprocess.run(["smbclient", f"//{host}/{share_name}", "--port", port, "--user", f"{user}%{password}", "--command", f"mkdir {name}"],
                   capture_output=True, check=True)
    return {"storage_local_path": f"\\\\{host}\\{share_name}\\{name}", "storage_local_port": port,
            "storage_local_username": user, "storage_local_password": password}


CLOUDS = {"azure": ("AZURE_BLOB_ENDPOINT", azure), "gcs": ("GCS_ENDPOINT", gcs), "oci": ("OCI_ENDPOINT", oci)}

STORES = ["local", "s3", "azure", "gcs", "oci"]


def store_settings(kind, scratch):
    """The settings that make a store of this kind the active one."""
    if kind == "local":
        (scratch / "store").mkdir(exist_ok=True)
        return {"storage_local_path": str(scratch / "store"), "storage_active_backend": "local"}
    if kind == "s3":
        return Bucket(dict(os.environ)).settings
    return CLOUDS[kind][1](dict(os.environ), scratch)
