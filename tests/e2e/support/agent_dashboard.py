"""A dashboard as the deployed ones are to an agent: enrolment, lease, reports and secrets, with real signatures. It knows no
wait_s unless it is told to, and answers what a test puts in its way."""
import base64
import hashlib
import http.server
import json
import secrets
import ssl
import sys
import threading
import time
import uuid

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from support.wait import wait_until

RAW = {"encoding": serialization.Encoding.Raw, "format": serialization.PublicFormat.Raw}
SEAL_LABEL = b"vm-dashboard/agent-secret-seal/v1"
WINDOW = 60


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def b64(data):
    return base64.b64encode(data).decode()


def seal(secret, reply_key, binding):
    ephemeral = X25519PrivateKey.generate()
    public = ephemeral.public_key().public_bytes(**RAW)
    shared = ephemeral.exchange(X25519PublicKey.from_public_bytes(reply_key))
    key = HKDF(hashes.SHA256(), 32, None, SEAL_LABEL).derive(public + reply_key + shared)
    nonce = secrets.token_bytes(12)
    aad = canonical({**binding, "epk": b64(public), "v": 1})
    text = AESGCM(key).encrypt(nonce, canonical({"secret": secret}), aad)
    return {"v": 1, "alg": "X25519-HKDF-SHA256-AES256GCM", "epk": b64(public), "nonce": b64(nonce), "ct": b64(text)}


class AgentDashboard(http.server.ThreadingHTTPServer):
    """One agent's dashboard. `answers` holds answers (status, body, headers) that the next requests get instead, by the last
    word of their path; `cut` the words whose next request is read and then dropped without an answer."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, knows_wait=False, clock_offset=0, certificate=None):
        super().__init__(("127.0.0.1", 0), AgentRequest)
        self.scheme = "https" if certificate else "http"
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.socket = context.wrap_socket(self.socket, server_side=True)
        self.knows_wait, self.clock_offset = knows_wait, clock_offset
        self.key = Ed25519PrivateKey.generate()
        self.audience = "https://dash.example.test"
        self.codes, self.agents, self.nonces = set(), {}, set()
        self.jobs, self.reports, self.secrets, self.assets = [], {}, {}, {}
        self.requests, self.answers, self.cut, self.bad = [], {}, [], []
        self.changed = threading.Condition()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that does not trust the certificate is no news."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    @property
    def port(self):
        return self.server_address[1]

    @property
    def url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    def now(self):
        return time.time() + self.clock_offset

    def close(self):
        self.shutdown()
        self.server_close()

    def new_code(self):
        code = "agte_" + secrets.token_hex(32)
        self.codes.add(code)
        return code

    def adopt(self, identity_file):
        """Knows the agent of an identity file that another dashboard wrote, which then works here."""
        kept = json.loads(identity_file.read_text())
        key = Ed25519PrivateKey.from_private_bytes(base64.b64decode(kept["private_key"]))
        self.agents[kept["agent_id"]] = key.public_key()

    def seen(self, word):
        """The bodies of the requests whose path ends so."""
        return [body for path, body, _ in list(self.requests) if path.endswith("/" + word)]

    def put_in_the_way(self, word, status, body=b"{}", headers=None):
        self.answers.setdefault(word, []).append((status, body, headers or {}))

    def sign(self, job, key=None):
        return b64((key or self.key).sign(canonical(job)))

    def queue(self, job_type, payload, **members):
        """Queues a signed job for the agent; its id. `members` replace or add members of the job."""
        job = {"job_id": str(uuid.uuid4()), "job_type": job_type, "agent_id": next(iter(self.agents), ""),
               "audience": self.audience, "payload": payload, **members}
        self.queue_envelope({"job": job, "signature": self.sign(job), "heartbeat_interval_s": 60})
        return job["job_id"]

    def queue_envelope(self, envelope):
        with self.changed:
            self.reports.setdefault(envelope["job"].get("job_id"), {"logs": [], "heartbeats": [], "ends": []})
            self.jobs.append(envelope)
            self.changed.notify_all()

    def end_of(self, job_id, seconds=30):
        """The first completion of the job."""
        return wait_until(lambda: self.reports[job_id]["ends"], seconds, f"the end of {job_id}")[0]

    def do_job(self, job_type, payload, **members):
        return self.end_of(self.queue(job_type, payload, **members))

    def storage(self, op, share="lab", **members):
        return self.do_job("agent_storage", {"op": op, "share": share, "subpath": "", **members})

    def upload(self, name, content, share="lab", **members):
        return self.storage("upload", share, name=name, content_b64=b64(content), **members)

    # What the requests do, once their signature was verified; each gives (status, body).

    def enroll(self, body):
        if body["enrollment_code"] not in self.codes:
            return 400, {"detail": "The enrolment code is unknown, expired or used"}
        self.codes.discard(body["enrollment_code"])
        agent = str(uuid.uuid4())
        self.agents[agent] = Ed25519PublicKey.from_public_bytes(base64.b64decode(body["public_key"], validate=True))
        return 200, {"agent_id": agent, "name": "lab", "site": "", "audience": self.audience,
                     "dashboard_public_key": b64(self.key.public_key().public_bytes(**RAW)), "poll_interval_s": 5,
                     "heartbeat_interval_s": 60, "max_log_lines_per_request": 500}

    def lease(self, body):
        end = time.monotonic() + (min(body.get("wait_s", 0), 25) if self.knows_wait else 0)
        with self.changed:
            while not self.jobs and time.monotonic() < end:
                self.changed.wait(end - time.monotonic())
            if self.jobs:
                return 200, self.jobs.pop(0)
        return 200, {"job": None, "poll_interval_s": 5}

    def report(self, agent, job_id, word, body):
        reports = self.reports.get(job_id)
        if reports is None:
            return 409, {"detail": "No such job of this agent"}
        if word == "logs":
            reports["logs"] += body["lines"]
            return 200, {"written": len(body["lines"])}
        if word == "heartbeat":
            reports["heartbeats"].append(body)
            return 200, {"cancel_requested": reports.get("cancel", False)}
        if word == "complete":
            reports["ends"].append(body)
            return 200, {"job_id": job_id, "status": body["status"]}
        if word == "secret":
            return self.release(agent, job_id, body)
        return 404, {"detail": "Not Found"}

    def release(self, agent, job_id, body):
        secret = self.secrets.get(body["connection_ref"])
        if secret is None:
            return 409, {"detail": "No password is set on the storage page for this dashboard_secret"}
        binding = {"agent_id": agent, "aud": self.audience, "job_id": job_id, "ref": body["connection_ref"]}
        return 200, {"sealed": seal(secret, base64.b64decode(body["reply_key"]), binding)}


class AgentRequest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):  # noqa: N802
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server, word = self.server, self.path.rsplit("/", 1)[1]
        agent = None if word == "enroll" else self.verified(body)
        server.requests.append((self.path, json.loads(body or b"{}"), dict(self.headers)))
        if word in server.cut:
            server.cut.remove(word)
            self.close_connection = True
            return None
        if server.answers.get(word):
            return self.send(*server.answers[word].pop(0))
        if word == "enroll":
            return self.answer(*server.enroll(json.loads(body)))
        if agent is None:
            return self.answer(401, {"detail": "The signature does not hold"})
        if self.path == "/api/agent/lease":
            return self.answer(*server.lease(json.loads(body or b"{}")))
        parts = self.path.split("/")
        if word == "asset":
            return self.send(200, server.assets[parts[4]], {"Content-Type": "application/octet-stream"})
        return self.answer(*server.report(agent, parts[4], word, json.loads(body or b"{}")))

    def verified(self, body):
        """The id of the agent that signed the request; None, with the reason in `bad`, when none did."""
        server = self.server
        agent, stamp, nonce = (self.headers.get(f"X-Agent-{name}") for name in ("Id", "Timestamp", "Nonce"))
        message = canonical({"aud": server.audience, "id": agent, "method": "POST", "nonce": nonce,
                             "path": self.path[self.path.index("/api/"):], "sha256": hashlib.sha256(body).hexdigest(), "ts": stamp})
        try:
            server.agents[agent].verify(base64.b64decode(self.headers["X-Agent-Signature"]), message)
        except (KeyError, InvalidSignature):
            return server.bad.append("signature")
        if abs(server.now() - int(stamp)) > WINDOW:
            return server.bad.append("stale")
        if (agent, nonce) in server.nonces:
            return server.bad.append("replayed")
        server.nonces.add((agent, nonce))
        return agent

    def answer(self, status, body):
        self.send(status, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def send(self, status, body, headers):
        try:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the agent was killed
            self.close_connection = True

    def date_time_string(self, timestamp=None):
        return super().date_time_string(self.server.now() if timestamp is None else timestamp)
