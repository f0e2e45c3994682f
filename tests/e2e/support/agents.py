"""An agent of the deployed system, scripted: what version 2.3 sends, byte for byte (testdata/agent/vectors.json). Bodies
are canonical JSON, no lease waits, the intervals of the server are ignored."""
import base64
import hashlib
import json
import secrets
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from support.http_client import Http

SEAL_LABEL = b"vm-dashboard/agent-secret-seal/v1"
RAW = (serialization.Encoding.Raw, serialization.PublicFormat.Raw)


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


class ScriptedAgent:
    """One identity, and its requests to the instance at `port`."""

    def __init__(self, port, version="2.3.0", job_types=("agent_discover", "agent_hypervisor"), key=None):
        self.http = Http(port)
        self.version, self.job_types = version, list(job_types)
        self.key = key or Ed25519PrivateKey.generate()
        self.id = self.audience = self.dashboard_key = None

    @property
    def public_key(self):
        return base64.b64encode(self.key.public_key().public_bytes(*RAW)).decode()

    def enroll(self, code, headers=None):
        body = {"agent_version": self.version, "enrollment_code": code, "policy_hash": "0" * 64, "public_key": self.public_key}
        answer = self.http.post("/api/agent/enroll", canonical(body),
                                headers={"Content-Type": "application/json", **(headers or {})})
        if answer.status == 200:
            self.id, self.audience = answer.json["agent_id"], answer.json["audience"]
            self.dashboard_key = Ed25519PublicKey.from_public_bytes(base64.b64decode(answer.json["dashboard_public_key"]))
        return answer

    def signed_headers(self, path, body, timestamp=None, nonce=None):
        stamp, nonce = str(timestamp or int(time.time())), nonce or secrets.token_hex(16)
        message = canonical({"aud": self.audience, "id": self.id, "method": "POST", "nonce": nonce, "path": path,
                             "sha256": hashlib.sha256(body).hexdigest(), "ts": stamp})
        return {"Content-Type": "application/json", "X-Agent-Id": self.id, "X-Agent-Timestamp": stamp, "X-Agent-Nonce": nonce,
                "X-Agent-Signature": base64.b64encode(self.key.sign(message)).decode()}

    def send(self, path, body, headers=None, **signed):
        raw = body if isinstance(body, bytes) else canonical(body)
        return self.http.post(path, raw, headers={**self.signed_headers(path, raw, **signed), **(headers or {})})

    def lease(self, headers=None, **more):
        return self.send("/api/agent/lease", {"agent_version": self.version, "job_types": self.job_types, **more}, headers)

    def leased(self, **more):
        """The job of a lease, verified as the agent verifies it; None without one."""
        answer = self.lease(**more)
        assert answer.status == 200, answer
        job = answer.json["job"]
        if job is not None:
            assert (job["agent_id"], job["audience"]) == (self.id, self.audience)
            assert self.is_dashboards(job, answer.json["signature"])
        return job

    def is_dashboards(self, job, signature):
        try:
            self.dashboard_key.verify(base64.b64decode(signature), canonical(job))
        except InvalidSignature:
            return False
        return True

    def report(self, job, what, body):
        return self.send(f"/api/agent/jobs/{job['job_id']}/{what}", body)

    def heartbeat(self, job, percent=50, message="working"):
        return self.report(job, "heartbeat", {"message": message, "progress_pct": percent})

    def logs(self, job, lines):
        return self.report(job, "logs", {"lines": lines})

    def complete(self, job, result=None, error="", status=None):
        return self.report(job, "complete",
                           {"error": error, "result": result or {}, "status": status or ("failed" if error else "completed")})

    def secret(self, job, ref):
        """The answer, and the secret when it was released."""
        reply = X25519PrivateKey.generate()
        public = reply.public_key().public_bytes(*RAW)
        answer = self.report(job, "secret", {"connection_ref": ref, "reply_key": base64.b64encode(public).decode()})
        if answer.status != 200:
            return answer, None
        sealed = answer.json["sealed"]
        ephemeral = base64.b64decode(sealed["epk"])
        shared = reply.exchange(X25519PublicKey.from_public_bytes(ephemeral))
        key = HKDF(SHA256(), 32, None, SEAL_LABEL).derive(ephemeral + public + shared)
        aad = canonical({"agent_id": self.id, "aud": self.audience, "epk": sealed["epk"], "job_id": job["job_id"], "ref": ref, "v": 1})
        plain = AESGCM(key).decrypt(base64.b64decode(sealed["nonce"]), base64.b64decode(sealed["ct"]), aad)
        return answer, json.loads(plain)["secret"]


def add_agent(root, name, types=("agent_storage",)):
    """Adds an agent over the API; returns its document, with the code."""
    answer = root.post("/api/agents", {"name": name, "site": "dc", "description": "", "allowed_job_types": list(types)})
    assert answer.status == 201, answer
    return answer.json


def enrolled(root, port, name, types=("agent_storage",), **more):
    agent = ScriptedAgent(port, **more)
    answer = agent.enroll(add_agent(root, name, types)["enrollment_code"])
    assert answer.status == 200, answer
    return agent
