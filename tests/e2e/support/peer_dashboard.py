"""A Python dashboard, as far as a migration sees of it."""
import http.server
import json
import threading

PEER_MASKED = {"aws_secret_access_key", "azure_client_secret", "gcp_service_account_json", "wlc_pat"}


class PeerDashboard(http.server.ThreadingHTTPServer):
    """Answers as a Python dashboard does: providers' names, five masks, no denylist, no comparison."""

    def __init__(self, config):
        super().__init__(("127.0.0.1", 0), PeerRequest)
        self.config, self.imports, self.login_status, self.redirect = dict(config), [], 200, None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class PeerRequest(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def answer(self, status, body, **headers):
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/api/setup/status":
            self.answer(200, {"complete": True, "configured_keys": sorted(self.server.config)})
        elif self.server.redirect:
            self.answer(302, {}, Location=self.server.redirect)
        elif self.path == "/api/setup/config":
            masked = {k: "••••••••" if k in PEER_MASKED and v else v for k, v in self.server.config.items()}
            self.answer(200, masked)
        elif self.path == "/api/health":
            self.answer(200, {"status": "ok"})
        elif self.path == "/api/notifications/endpoints":
            self.answer(200, {"endpoints": [], "formats": [], "known_events": []})
        else:
            self.answer(404, {"detail": "Not Found"})

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path == "/api/auth/login":
            if self.server.login_status == 202:
                return self.answer(202, {"pre_auth_token": "x", "mfa_required": True})
            return self.answer(200, {"access_token": "peer.jwt.token", "token_type": "bearer"})
        if self.path != "/api/setup/import":
            return self.answer(404, {"detail": "Not Found"})
        config = json.loads(body)["config"]
        self.server.imports.append(config)
        flat, regions = 0, set()
        for key, value in config.items():
            parts = key.split(".", 2)
            if parts[0] in ("aws_region", "azure_region", "gcp_region") and len(parts) == 3:
                blob = json.loads(self.server.config.get(parts[0] + "_configs") or "{}")
                blob.setdefault(parts[1], {})[parts[2]] = value
                self.server.config[parts[0] + "_configs"] = json.dumps(blob, sort_keys=True)
                regions.add(parts[1])
            else:
                self.server.config[key] = value
                flat += 1
        return self.answer(200, {"ok": True, "keys_written": flat, "regions_merged": sorted(regions)})
