"""A client of one instance's HTTP API."""
import http.client
import json
import urllib.parse


class HttpResponse:
    """An HTTP answer."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def text(self):
        return self.body.decode()

    def __repr__(self):
        return f"{self.status} {self.body[:2000]!r}"


class Http:
    """A client of one instance, signed in or not."""

    def __init__(self, port, token=None, host="127.0.0.1"):
        self.port, self.token, self.host = port, token, host

    def request(self, method, path, body=None, headers=None, form=None, timeout=60):
        headers = dict(headers or {})
        if form is not None:
            body = urllib.parse.urlencode(form)
            headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        elif isinstance(body, (dict, list)):
            body = json.dumps(body)
            headers.setdefault("Content-Type", "application/json")
        if self.token and "Authorization" not in headers:
            headers["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            return HttpResponse(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            connection.close()

    def get(self, path, **kw):
        return self.request("GET", path, **kw)

    def post(self, path, body=None, **kw):
        return self.request("POST", path, body=body, **kw)

    def put(self, path, body=None, **kw):
        return self.request("PUT", path, body=body, **kw)

    def patch(self, path, body=None, **kw):
        return self.request("PATCH", path, body=body, **kw)

    def delete(self, path, **kw):
        return self.request("DELETE", path, **kw)
