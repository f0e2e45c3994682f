"""A store that fails at one call: an HTTP relay in front of a real one, which counts requests and spoils the n-th."""
import http.client
import http.server
import threading
import urllib.parse

# What may happen to a call. The first three never reach the store; of the others it has done what was asked.
FAULTS = ["403", "500", "no answer", "lost answer", "half an answer", "500 afterwards"]
XML = b'<?xml version="1.0"?><Error><Code>%s</Code><Message>spoiled by the test</Message></Error>'
HOP = {"connection", "transfer-encoding", "keep-alive"}


class FailingStore(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, upstream):
        self.upstream = urllib.parse.urlsplit(upstream)
        self.lock = threading.Lock()
        self.calls, self.spoil_from, self.spoil_to, self.fault = 0, None, None, None
        super().__init__(("127.0.0.1", 0), Relay)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}{self.upstream.path}"

    def close(self):
        self.shutdown()
        self.server_close()

    def heal(self):
        """Counts from here and spoils nothing; the calls since the last count."""
        with self.lock:
            calls, self.calls, self.spoil_from = self.calls, 0, None
        return calls

    def spoil(self, n, fault, forever):
        """Spoils the n-th call from here, or all from there on."""
        with self.lock:
            self.calls, self.spoil_from, self.fault = 0, n, fault
            self.spoil_to = None if forever else n

    def next_fault(self):
        with self.lock:
            self.calls += 1
            at = self.spoil_from
            hit = at is not None and self.calls >= at and (self.spoil_to is None or self.calls <= self.spoil_to)
            return self.fault if hit else None


class Relay(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self):
        if "chunked" not in self.headers.get("Transfer-Encoding", ""):
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        out = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            out += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return out

    def answer(self, status, headers, body):
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def refuse(self, status):
        text = b"" if self.command == "HEAD" else XML % (b"AccessDenied" if status == 403 else b"InternalError")
        self.answer(status, [("Content-Type", "application/xml"), ("Content-Length", str(len(text)))], text)

    def relay(self):
        if self.headers.get("Expect"):
            self.send_response_only(100)
            self.end_headers()
        body, fault = self.body(), self.server.next_fault()
        if fault in ("403", "500"):
            return self.refuse(int(fault))
        if fault == "no answer":
            self.close_connection = True
            return None
        connection = http.client.HTTPConnection(self.server.upstream.netloc, timeout=60)
        connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        for name, value in self.headers.items():
            if name.lower() not in HOP | {"expect", "content-length"}:
                connection.putheader(name, value)
        connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        got = connection.getresponse()
        content = got.read()
        connection.close()
        if fault == "lost answer":
            self.close_connection = True
            return None
        if fault == "500 afterwards":
            return self.refuse(500)
        headers = [(name, value) for name, value in got.getheaders() if name.lower() not in HOP]
        if self.command != "HEAD" and got.status not in (204, 304) and not any(name.lower() == "content-length" for name, _ in headers):
            headers.append(("Content-Length", str(len(content))))
        if fault == "half an answer":
            self.close_connection = True
            content = content[:len(content) // 2]
        return self.answer(got.status, headers, content)

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = do_PATCH = relay
