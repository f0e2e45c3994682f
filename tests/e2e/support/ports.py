"""Ports that nobody listens on."""
import socket


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def is_open(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0
