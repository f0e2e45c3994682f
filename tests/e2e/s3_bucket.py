"""A bucket on a real S3 server, looked at by a client that is not ours: SigV4 (AWS Signature Version 4) over the standard library.
The server is the one of S3_ENDPOINT, else scripts/doubles/s3.sh is started for the test run."""
import datetime
import hashlib
import hmac
import http.client
import os
import re
import shutil
import subprocess
import tempfile
import urllib.parse
import uuid
from pathlib import Path

import pytest

DOUBLE = Path(__file__).resolve().parents[2] / "scripts/doubles/s3.sh"
EMPTY = hashlib.sha256(b"").hexdigest()


def exports(text):
    return dict(re.findall(r"^export (\w+)='?([^'\n]*)'?$", text, re.M))


class Bucket:
    def __init__(self, env, name=None):
        self.endpoint = env["S3_ENDPOINT"]
        self.access, self.secret = env["AWS_ACCESS_KEY_ID"], env["AWS_SECRET_ACCESS_KEY"]
        self.region = env.get("AWS_REGION", "us-east-1")
        self.name = name or "e2e-" + uuid.uuid4().hex[:12]
        assert self.call("PUT", f"/{self.name}").status in (200, 409)  # 409: ours already

    def call(self, method, path, query="", body=b""):
        host = self.endpoint.split("://")[1]
        path = urllib.parse.quote(path, safe="/-_.~")
        stamp = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        day, digest = stamp[:8], hashlib.sha256(body).hexdigest()
        headers = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
        names = ";".join(sorted(headers))
        canonical = "\n".join([method, path, query, *[f"{k}:{headers[k]}" for k in sorted(headers)], "", names, digest])
        scope = f"{day}/{self.region}/s3/aws4_request"
        to_sign = "\n".join(["AWS4-HMAC-SHA256", stamp, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        key = ("AWS4" + self.secret).encode()
        for word in (day, self.region, "s3", "aws4_request"):
            key = hmac.new(key, word.encode(), hashlib.sha256).digest()
        signature = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
        headers["authorization"] = (f"AWS4-HMAC-SHA256 Credential={self.access}/{scope}, SignedHeaders={names}, "
                                    f"Signature={signature}")
        connection = http.client.HTTPConnection(host, timeout=60)
        try:
            connection.request(method, path + ("?" + query if query else ""), body=body, headers=headers)
            answer = connection.getresponse()
            answer.content = answer.read()
            return answer
        finally:
            connection.close()

    def put(self, key, data):
        assert self.call("PUT", f"/{self.name}/{key}", body=data).status == 200

    def get(self, key):
        answer = self.call("GET", f"/{self.name}/{key}")
        return answer.content if answer.status == 200 else None

    def keys(self):
        answer = self.call("GET", f"/{self.name}", "list-type=2")
        assert answer.status == 200, answer.content
        return sorted(urllib.parse.unquote(k) for k in re.findall(r"<Key>([^<]*)</Key>", answer.content.decode()))

    def open_uploads(self):
        answer = self.call("GET", f"/{self.name}", "uploads=")
        assert answer.status == 200, answer.content
        return re.findall(r"<UploadId>([^<]*)</UploadId>", answer.content.decode())

    @property
    def settings(self):
        return {"cloud1_access_key_id": self.access, "cloud1_secret_access_key": self.secret,
                "storage_obj_cloud1_endpoint": self.endpoint, "storage_obj_cloud1_path_style": "1",
                "storage_obj_cloud1_region": self.region, "storage_obj_cloud1_bucket": self.name,
                "storage_active_backend": "obj_cloud1"}


@pytest.fixture(scope="session")
def s3_server():
    if "S3_ENDPOINT" in os.environ:
        yield dict(os.environ)
        return
    folder = tempfile.mkdtemp(prefix="s3-", dir="/tmp")
    started = subprocess.run([DOUBLE, "start", folder, "0"], capture_output=True, text=True, check=False)
    assert started.returncode == 0, started.stderr
    yield exports(started.stdout)
    subprocess.run([DOUBLE, "stop", folder], check=False, capture_output=True)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def bucket(s3_server):
    return Bucket(s3_server)
