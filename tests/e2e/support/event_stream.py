"""A stream of server-sent events, read as it comes."""
import http.client
import json


class EventStream:
    """One connection. Iterating gives (event, id, data) until the server ends the stream."""

    def __init__(self, client, path, last_id=None, timeout=60):
        headers = {"Authorization": f"Bearer {client.token}", "Accept": "text/event-stream"}
        if last_id is not None:
            headers["Last-Event-ID"] = str(last_id)
        self.connection = http.client.HTTPConnection(client.host, client.port, timeout=timeout)
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        self.status, self.type = self.answer.status, self.answer.getheader("Content-Type")
        self.comments = 0

    def __iter__(self):
        fields = {}
        while True:
            line = self.answer.readline()
            if not line:
                return
            line = line.decode().rstrip("\n")
            if line.startswith(":"):
                self.comments += 1
            elif line:
                name, _, value = line.partition(": ")
                fields[name] = value
            elif fields:
                yield fields.get("event", "message"), fields.get("id"), json.loads(fields["data"])
                fields = {}

    def take(self, count):
        found = []
        for event in self:
            found.append(event)
            if len(found) == count:
                return found
        return found

    def close(self):
        self.connection.close()
