"""A relay in front of a port that does something once so many bytes have passed: a kill point that no clock decides."""
import functools
import socket
import threading


def pump(source, sink, deliver):
    """Hands what comes from source to deliver() until either side ends, and then ends both."""
    try:
        while chunk := source.recv(65536):
            deliver(chunk)
    except OSError:
        pass
    for end in (source, sink):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


class Relay:
    def __init__(self, upstream_port):
        self.upstream_port = upstream_port
        self.passed, self.limit, self.act = 0, None, None
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def count(self):
        """Counts from here, and stops at nothing. The bytes that passed since the last count."""
        with self.lock:
            passed, self.passed, self.limit = self.passed, 0, None
        return passed

    def at(self, limit, act):
        """Calls act() once `limit` bytes have passed from here, both ways taken together, and before another one does.
        At 0 it is the connection that does it."""
        with self.lock:
            self.passed, self.limit, self.act = 0, limit, act

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self.upstream_port))
            except OSError:
                client.close()
                continue
            self._pass(b"", client)
            for source, sink in ((client, server), (server, client)):
                deliver = functools.partial(self._pass, sink=sink)
                threading.Thread(target=pump, args=(source, sink, deliver), daemon=True).start()

    def _pass(self, chunk, sink):
        with self.lock:
            if self.limit is not None and self.passed + len(chunk) >= self.limit:
                before = self.limit - self.passed
                sink.sendall(chunk[:before])
                chunk, self.passed, self.limit = chunk[before:], self.limit, None
                self.act()
            sink.sendall(chunk)
            self.passed += len(chunk)
