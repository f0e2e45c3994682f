"""A connection that can be broken: a proxy of toxiproxy, which scripts/test starts, in front of a port."""
import http.client
import json
import os
import urllib.parse

from support.ports import free_port


class Fault:
    def __init__(self, name, upstream_port):
        self.port = free_port()
        self.name = f"{name}-{self.port}"
        self._call("POST", "/proxies", {"name": self.name, "listen": f"127.0.0.1:{self.port}",
                                        "upstream": f"127.0.0.1:{upstream_port}"})
        self.toxics = []

    def _call(self, method, path, body=None):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(os.environ["TOXIPROXY_URL"]).netloc, timeout=30)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None)
            answer = connection.getresponse()
            assert answer.status < 300, answer.read()
            answer.read()
        finally:
            connection.close()

    def _toxic(self, kind, stream, attributes):
        self.heal()
        self._call("POST", f"/proxies/{self.name}/toxics",
                   {"name": kind, "type": kind, "stream": stream, "attributes": attributes})
        self.toxics = [kind]

    def cut_after(self, size, stream="downstream"):
        """Closes each connection once so many bytes went that way: downstream is the answer, upstream the request."""
        self._toxic("limit_data", stream, {"bytes": size})

    def reset_after(self, milliseconds):
        self._toxic("reset_peer", "downstream", {"timeout": milliseconds})

    def hold_back(self, stream="downstream"):
        """Nothing passes, and nothing is closed."""
        self._toxic("timeout", stream, {"timeout": 0})

    def slow_down(self, bytes_per_second_in_kb):
        self._toxic("bandwidth", "downstream", {"rate": bytes_per_second_in_kb})

    def heal(self):
        for toxic in self.toxics:
            self._call("DELETE", f"/proxies/{self.name}/toxics/{toxic}")
        self.toxics = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        self._call("DELETE", f"/proxies/{self.name}")
