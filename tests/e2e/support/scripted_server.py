"""A server that answers each path as a test says."""
import http.server
import socket
import threading


class ScriptedServer(http.server.ThreadingHTTPServer):
    """Answers paths as it is told; anything else is 404 in JSON."""

    def __init__(self, answers, host):
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        super().__init__((host, 0), ScriptedRequest)
        self.answers, self.seen, self.bodies = answers, [], []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        host, port = self.server_address[:2]
        return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class ScriptedRequest(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self):
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.split("?")[0]
        self.server.bodies.append((self.command, self.path, sent))
        self.server.seen.append((self.command, path, self.headers.get("Authorization")))
        of = self.server.answers
        status, body, *more = of.get(self.path) or of.get((self.command, path)) or of.get(path) or (404, b'{"detail": "Not Found"}')
        self.send_response(status)
        for name, value in (more[0] if more else {"Content-Type": "application/json"}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer
