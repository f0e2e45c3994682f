#!/usr/bin/env python3
"""A test double of the identity platform's token endpoint, for a service principal of Azure Blob Storage.

Checks tenant, client id, client secret, grant and scope, and hands out tokens with the claims that Azurite's
`--oauth basic` looks at (it does not check their signature). Starts the command after `--` and ends with it.
Standard library only. Loopback only.

    azure_tokens.py --tenant T --client-id C --client-secret S --port-file FILE [--ttl 3600] -- azurite-blob …
"""

import argparse
import base64
import hashlib
import hmac
import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCOPE = "https://storage.azure.com/.default"
SIGNING_KEY = secrets.token_bytes(32)
args = None


def b64url(raw):
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def make_token():
    now = int(time.time())
    claims = {"aud": "https://storage.azure.com", "iss": "https://sts.windows.net/%s/" % args.tenant,
              "tid": args.tenant, "oid": args.client_id, "appid": args.client_id, "iat": now, "nbf": now - 60,
              "exp": now + args.ttl, "ver": "1.0"}
    text = b64url(b'{"alg":"HS256","typ":"JWT"}') + "." + b64url(json.dumps(claims).encode())
    return text + "." + b64url(hmac.new(SIGNING_KEY, text.encode(), hashlib.sha256).digest())


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, error, number):
        self.answer(status, {"error": error, "error_description": "AADSTS%d: refused by the double" % number})

    def do_POST(self):
        size = self.headers.get("content-length", "")
        if not size.isdigit() or int(size) > 65536:
            self.close_connection = True
            return self.refuse(400, "invalid_request", 900144)
        form = dict(urllib.parse.parse_qsl(self.rfile.read(int(size)).decode("latin-1")))
        if self.path != "/%s/oauth2/v2.0/token" % args.tenant:
            return self.refuse(400, "invalid_request", 90002)
        if form.get("grant_type") != "client_credentials":
            return self.refuse(400, "unsupported_grant_type", 70003)
        if form.get("client_id") != args.client_id:
            return self.refuse(400, "unauthorized_client", 700016)
        if form.get("client_secret") != args.client_secret:
            return self.refuse(401, "invalid_client", 7000215)
        if form.get("scope") != SCOPE:
            return self.refuse(400, "invalid_scope", 70011)
        self.answer(200, {"token_type": "Bearer", "expires_in": args.ttl, "ext_expires_in": args.ttl,
                          "access_token": make_token()})


def main():
    global args
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--tenant", required=True)
    p.add_argument("--client-id", required=True)
    p.add_argument("--client-secret", required=True)
    p.add_argument("--port-file", required=True)
    p.add_argument("--ttl", type=int, default=3600)
    p.add_argument("command", nargs="+")
    args = p.parse_args()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with open(args.port_file + ".new", "w") as f:
        f.write(str(server.server_port))
    os.rename(args.port_file + ".new", args.port_file)
    child = subprocess.Popen(args.command)
    signal.signal(signal.SIGTERM, lambda *_: child.terminate())
    sys.exit(abs(child.wait()))


if __name__ == "__main__":
    main()
