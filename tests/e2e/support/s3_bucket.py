"""A bucket on a real S3 server, looked at by a client that is not ours: SigV4 (AWS Signature Version 4) over the standard library."""
import datetime
import hashlib
import hmac
import http.client
import re
import urllib.parse
import uuid

EMPTY = hashlib.sha256(b"").hexdigest()


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

    def delete(self, key):
        assert self.call("DELETE", f"/{self.name}/{key}").status == 204

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
