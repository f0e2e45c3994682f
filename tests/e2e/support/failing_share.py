"""A file server that fails at one request: a relay in front of a real SMB server, which counts requests and breaks the connection
at the n-th, before the server has it or before its answer is told."""
import contextlib
import socket
import threading

SHARE_FAULTS = ["no answer", "lost answer"]


def read_exactly(source, size):
    data = b""
    while len(data) < size:
        chunk = source.recv(size - len(data))
        if not chunk:
            raise ConnectionError
        data += chunk
    return data


def frame(source):
    """One message with its header (MS-SMB2 2.1: a zero, and the length in three bytes)."""
    header = read_exactly(source, 4)
    return header + read_exactly(source, int.from_bytes(header[1:], "big"))


class FailingShare:
    def __init__(self, upstream_port):
        self.upstream_port, self.lock = upstream_port, threading.Lock()
        self.calls, self.spoil_from, self.forever, self.fault = 0, None, False, None
        self.sockets = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def heal(self):
        """Counts from here and spoils nothing, and ends what is connected, so that a count begins with a new connection; the
        requests since the last count."""
        with self.lock:
            calls, self.calls, self.spoil_from = self.calls, 0, None
        self._sever()
        return calls

    def spoil(self, n, fault, forever):
        """Spoils the n-th request from here, or all from there on."""
        with self.lock:
            self.calls, self.spoil_from, self.fault, self.forever = 0, n, fault, forever

    def close(self):
        self.listener.close()
        self._sever()

    def _sever(self):
        with self.lock:
            sockets, self.sockets = self.sockets, []
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    def _next_fault(self):
        with self.lock:
            self.calls += 1
            at = self.spoil_from
            is_hit = at is not None and (self.calls >= at if self.forever else self.calls == at)
            return self.fault if is_hit else None

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self._relay, args=(client,), daemon=True).start()

    def _relay(self, client):
        with client, contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.upstream_port)) as server:
            deaf = threading.Event()  # no answer reaches the client any more, and the next one ends the connection
            with self.lock:
                self.sockets += [client, server]
            threading.Thread(target=self._answers, args=(server, client, deaf), daemon=True).start()
            while True:
                request, fault = frame(client), self._next_fault()
                if fault == "no answer":
                    return
                if fault == "lost answer":
                    deaf.set()
                server.sendall(request)

    def _answers(self, server, client, deaf):
        with contextlib.suppress(OSError):
            while True:
                answer = frame(server)
                if deaf.is_set():
                    break
                client.sendall(answer)
        for one in (client, server):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
