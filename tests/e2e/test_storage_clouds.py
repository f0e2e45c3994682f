"""Both upload lanes, the probe and deletion through the product on Azure Blob Storage, Google Cloud Storage and Oracle Object
Storage. The test servers are those of the environment, else scripts/doubles starts them for the test run."""
import base64
import email.utils
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from pathlib import Path

import pytest
from test_storage import people, upload
from test_storage_chunked import begin, commit, p8, put, slices

DOUBLES = Path(__file__).resolve().parents[2] / "scripts/doubles"
PART = 8 << 20


def sign(key_file, text):
    """RSASSA-PKCS1-v1_5 with SHA-256; the standard library has none."""
    return subprocess.run(["openssl", "dgst", "-sha256", "-sign", key_file], input=text.encode(), capture_output=True,
                          check=True).stdout


def post(url, body, headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=120) as answer:
            return answer.read()
    except urllib.error.HTTPError as e:
        raise AssertionError(f"{url}: {e.code} {e.read()!r}") from None


def azure(env, scratch):
    return {"storage_obj_cloud2_account": env["AZURE_STORAGE_ACCOUNT"],
            "storage_obj_cloud2_account_key": env["AZURE_STORAGE_KEY"],
            "storage_obj_cloud2_endpoint": env["AZURE_BLOB_ENDPOINT"],
            "storage_obj_cloud2_container": "e2e-" + uuid.uuid4().hex[:12],
            "storage_active_backend": "obj_cloud2"}


def gcs(env, scratch):
    account = json.loads(Path(env["GOOGLE_APPLICATION_CREDENTIALS"]).read_text())
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
    token = json.loads(post(account["token_uri"], form.encode(), {}))["access_token"]
    name = "e2e-" + uuid.uuid4().hex[:12]
    post(env["GCS_ENDPOINT"] + "/storage/v1/b?project=test-project", json.dumps({"name": name}).encode(),
         {"Authorization": "Bearer " + token, "Content-Type": "application/json"})
    return {"storage_obj_cloud3_bucket": name, "storage_obj_cloud3_endpoint": env["GCS_ENDPOINT"],
            "cloud3_service_account_json": json.dumps(account), "storage_active_backend": "obj_cloud3"}


def oci(env, scratch):
    name = "e2e-" + uuid.uuid4().hex[:12]
    target, host = f"/n/{env['OCI_NAMESPACE']}/b", env["OCI_ENDPOINT"].split("://")[1]
    body = json.dumps({"name": name, "compartmentId": env["OCI_COMPARTMENT"]}).encode()
    headers = {"date": email.utils.formatdate(usegmt=True), "host": host, "content-length": str(len(body)),
               "content-type": "application/json",
               "x-content-sha256": base64.b64encode(hashlib.sha256(body).digest()).decode()}
    names = ["date", "(request-target)", "host", "content-length", "content-type", "x-content-sha256"]
    lines = [f"{n}: post {target}" if n.startswith("(") else f"{n}: {headers[n]}" for n in names]
    signature = base64.b64encode(sign(env["OCI_KEY_FILE"], "\n".join(lines))).decode()
    key_id = f"{env['OCI_TENANCY']}/{env['OCI_USER']}/{env['OCI_FINGERPRINT']}"
    headers["authorization"] = (f'Signature version="1",keyId="{key_id}",algorithm="rsa-sha256",'
                                f'headers="{" ".join(names)}",signature="{signature}"')
    post(env["OCI_ENDPOINT"] + target, body, headers)
    return {"storage_obj_cloud4_bucket": name, "storage_obj_cloud4_endpoint": env["OCI_ENDPOINT"],
            "cloud4_tenancy_ocid": env["OCI_TENANCY"], "cloud4_user_ocid": env["OCI_USER"],
            "cloud4_fingerprint": env["OCI_FINGERPRINT"], "cloud4_private_key": Path(env["OCI_KEY_FILE"]).read_text(),
            "storage_active_backend": "obj_cloud4"}


CLOUDS = {"azure": ("AZURE_BLOB_ENDPOINT", azure), "gcs": ("GCS_ENDPOINT", gcs), "oci": ("OCI_ENDPOINT", oci)}


@pytest.fixture(scope="module", params=CLOUDS)
def server(request):
    """(name, environment) of a running test server."""
    double = DOUBLES / f"{request.param}.sh"
    if CLOUDS[request.param][0] in os.environ:
        yield request.param, dict(os.environ)
        return
    folder = tempfile.mkdtemp(prefix="c-", dir="/tmp")
    started = subprocess.run([double, "start", folder, "0"], capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    yield request.param, dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", started.stdout, re.M))
    subprocess.run([double, "stop", folder], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def actors(make_instance, server, scratch):
    return people(make_instance(start=False), CLOUDS[server[0]][1](server[1], scratch))


def names(http):
    answer = http.get("/api/storage/list")
    assert answer.status == 200, answer
    return [item["name"] for item in answer.json["items"]]


def fetch_raw(http, name, headers=None):
    return http.get(f"/api/storage/fetch?name={urllib.parse.quote(name)}&raw=1", headers=headers)


def test_both_lanes_store_list_fetch_and_delete(actors):
    data = os.urandom(PART + 12345)
    begun = begin(actors.ann, "big ü.deb", len(data))
    refs = []
    for n, part in enumerate(slices(data), 1):
        answer = put(actors.ann, begun["handle"], n, part)
        assert answer.status == 200, answer
        refs.append({"part": n, "ref": answer.json["ref"]})
        assert names(actors.ann) == []
    status = actors.ann.get("/api/storage/upload/status", headers={"X-Upload-Handle": begun["handle"]})
    assert status.status == 200 and status.json["staged"] == [1, 2], status
    done = commit(actors.ann, begun["handle"], refs)
    assert done.status == 201, done
    assert done.json["digest"] == p8(data)
    assert upload(actors.ann, "small.sh", b"echo\n").status == 201
    assert names(actors.ann) == ["big ü.deb", "small.sh"]
    whole = fetch_raw(actors.ann, "big ü.deb")
    assert whole.status == 200 and whole.body == data
    piece = fetch_raw(actors.ann, "big ü.deb", {"Range": f"bytes={PART - 2}-{PART + 1}"})
    assert piece.status == 206 and piece.body == data[PART - 2:PART + 2]
    for name in ("big%20%C3%BC.deb", "small.sh"):
        assert actors.root.delete("/api/storage/asset/" + name).status == 200
        assert actors.root.delete("/api/storage/asset/" + name).status == 404
    assert names(actors.ann) == []


def test_an_aborted_upload_takes_neither_part_nor_commit(actors):
    begun = begin(actors.ann, "gone.deb", PART + 1)
    assert put(actors.ann, begun["handle"], 1, b"a" * PART).status == 200
    aborted = actors.ann.post("/api/storage/upload/abort", {"handle": begun["handle"]})
    assert aborted.status == 200 and aborted.json["aborted"] is True, aborted
    assert put(actors.ann, begun["handle"], 2, b"b").status == 400
    assert commit(actors.ann, begun["handle"], 2).status == 400
    assert names(actors.ann) == []


def test_parts_go_in_order_and_the_last_may_be_sent_again(actors):
    data = os.urandom(PART + 7)
    first, last = slices(data)
    begun = begin(actors.ann, "order.deb", len(data))
    assert put(actors.ann, begun["handle"], 2, last).status == 400
    for _ in range(2):
        assert put(actors.ann, begun["handle"], 1, first).status == 200
    for _ in range(2):
        assert put(actors.ann, begun["handle"], 2, last).status == 200
    assert commit(actors.ann, begun["handle"], 2).status == 201
    assert commit(actors.ann, begun["handle"], 2).status == 201  # its answer may have been lost
    assert fetch_raw(actors.ann, "order.deb").body == data


def test_the_deep_probe_proves_all_and_leaves_nothing(actors):
    backend = actors.root.get("/api/storage/backends").json["active"]
    answer = actors.root.post("/api/storage/test", {"backend": backend, "deep": True})
    assert answer.status == 200 and answer.json["ok"] is True, answer
    assert names(actors.ann) == []


def test_wrong_credentials_are_a_failure_of_the_store_and_tell_no_secret(actors):
    wrong = {"obj_cloud2": ("storage_obj_cloud2_account_key", base64.b64encode(b"w" * 32).decode()),
             "obj_cloud3": ("cloud3_service_account_json", '{"type":"service_account"}'),
             "obj_cloud4": ("cloud4_user_ocid", "ocid1.user.oc1..nobody")}
    backend = actors.root.get("/api/storage/backends").json["active"]
    key, value = wrong[backend]
    actors.instance.set(**{key: value})
    answer = actors.root.post("/api/storage/test", {"backend": backend})
    assert answer.status == 200 and answer.json["ok"] is False, answer
    assert key in answer.json["error"] and value not in answer.json["error"]
