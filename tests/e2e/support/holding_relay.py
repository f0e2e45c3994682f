"""A TCP relay that a test stops at a point of its choice: after so many bytes of either direction, before a request is delivered, or before it is
answered. Nothing passes while it holds, so what a test does then happens at that point however fast the machine is."""
import socket
import threading

PIECE = 64 << 10


class HoldingRelay:
    """Listens on `port` and passes everything on to `upstream`, a port, until it is told to hold."""

    def __init__(self, upstream):
        self.upstream = upstream
        self._changed = threading.Condition()
        self._sockets = set()
        self._held = False
        self._after_bytes = self._after_received = None
        self.sent = self.received = 0  # bytes that went upstream, and that came back
        self._at_request = self._at_answer = None
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def hold_after(self, sent):
        """Holds once exactly `sent` more bytes went upstream."""
        self._arm(after_bytes=sent)

    def hold_after_answers(self, received):
        """Holds once exactly `received` more bytes came back."""
        self._arm(after_received=received)

    @property
    def is_held(self):
        return self._held

    def hold_request(self, mark):
        """Holds when a piece that contains the bytes `mark` is to go upstream; it does not."""
        self._arm(at_request=mark)

    def hold_answer(self, mark):
        """Lets `mark` pass and holds when something comes back on that connection; it does not."""
        self._arm(at_answer=mark)

    def wait_held(self, seconds=300):
        with self._changed:
            assert self._changed.wait_for(lambda: self._held, seconds), "the relay never came to the point where it should hold"

    def release(self):
        """Lets everything pass that was held back."""
        self._arm()

    def sever(self):
        """Closes every connection, delivers nothing of what was held back, and serves new ones."""
        with self._changed:
            for end in self._sockets:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # closed already
            self._sockets.clear()
        self._arm()

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)  # ends the waiting accept, which close() alone does not
        self._listener.close()
        self.sever()

    def _arm(self, after_bytes=None, after_received=None, at_request=None, at_answer=None):
        with self._changed:
            self._after_bytes, self._after_received = after_bytes, after_received
            self._at_request, self._at_answer = at_request, at_answer
            self._held = False
            self._changed.notify_all()

    def _hold(self):
        self._held = True
        self._changed.notify_all()

    def _accept(self):
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(near,), daemon=True).start()

    def _serve(self, near):
        with self._changed:
            self._changed.wait_for(lambda: not self._held)
        try:
            far = socket.create_connection(("127.0.0.1", self.upstream))
        except OSError:
            near.close()
            return
        for end in (near, far):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with self._changed:
            self._sockets |= {near, far}
        line = _Line()
        back = threading.Thread(target=self._pump, args=(far, near, line, self._may_come), daemon=True)
        back.start()
        self._pump(near, far, line, self._may_go)
        back.join()
        with self._changed:
            self._sockets -= {near, far}
        near.close()
        far.close()

    def _pump(self, source, target, line, admit):
        """Passes pieces on as `admit` says; the end of one side is told to the other."""
        try:
            while piece := source.recv(PIECE):
                while piece:
                    n = admit(line, piece, source)
                    target.sendall(piece[:n])
                    piece = piece[n:]
            target.shutdown(socket.SHUT_WR)
        except OSError:
            for end in (source, target):
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass  # the other thread was first

    def _wait_open(self, source):
        """Until nothing is held back; a severed connection delivers no more."""
        self._changed.wait_for(lambda: not self._held or source not in self._sockets)
        if source not in self._sockets:
            raise OSError("severed")

    def _may_go(self, line, piece, source):
        """How many of the bytes of `piece` go upstream now."""
        with self._changed:
            while True:
                self._wait_open(source)
                if line.is_met(self._at_request, piece) or self._after_bytes == 0:
                    self._hold()
                    continue
                if line.is_met(self._at_answer, piece):
                    line.is_asked = True
                n = len(piece)
                if self._after_bytes is not None:
                    n = min(n, self._after_bytes)
                    self._after_bytes -= n
                line.tail = (line.tail + piece[:n])[-PIECE:]
                self.sent += n
                return n

    def _may_come(self, line, piece, source):
        with self._changed:
            self._wait_open(source)
            if line.is_asked and self._at_answer:
                line.is_asked = False
                self._hold()
                self._wait_open(source)
            if self._after_received == 0:
                self._hold()
                self._wait_open(source)
            n = len(piece)
            if self._after_received is not None:
                n = min(n, self._after_received)
                self._after_received -= n
            self.received += n
            return n


class _Line:
    """One connection: the last bytes that went upstream, and whether its answer is the one to hold."""

    def __init__(self):
        self.tail = b""
        self.is_asked = False

    def is_met(self, mark, piece):
        """Whether `piece` brings (the end of) `mark`."""
        return bool(mark) and mark in self.tail[len(self.tail) - min(len(self.tail), len(mark) - 1):] + piece
