"""The real proxies, each with its snippet of launchers/ in front of a Unix socket. Only what an operator puts in is replaced:
the name and port, the certificate and the socket."""
import os
import shutil
import socket
import subprocess

from support.certificates import make_certificate
from support.ports import free_port
from support.program import ROOT
from support.wait import wait_until

PROXIES = ["nginx", "caddy"]


def replaced(text, changes):
    for old, new in changes.items():
        assert old in text, f"the snippet has no {old!r} any more"
        text = text.replace(old, str(new))
    return text


class Proxy:
    """A running proxy on 127.0.0.1:port. `changes` alters the snippet: what a test shows to matter, it takes away."""

    def __init__(self, kind, folder, upstream, changes=None):
        self.kind, self.folder, self.port, self.log = kind, folder, free_port(), folder / "proxy.log"
        folder.mkdir()
        self.chain, self.key = make_certificate(folder)
        words = {"nginx": self._nginx, "caddy": self._caddy}[kind](upstream, changes or {})
        environment = {**os.environ, "HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.log.open("a"),
                                        env=environment)
        wait_until(self._answers, what=f"{kind} to listen")

    def _answers(self):
        assert self.process.poll() is None, self.log.read_text()
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
        except OSError:
            return False
        return True

    def _nginx(self, upstream, changes):
        snippet = replaced((ROOT / "launchers/nginx.conf").read_text(), {
            "listen 443 ssl": f"listen 127.0.0.1:{self.port} ssl", "    listen [::]:443 ssl http2;\n": "",
            "dashboard.example.com": "localhost", "/etc/ssl/dashctl/chain.pem": self.chain,
            "/etc/ssl/dashctl/key.pem": self.key, "/run/dashctl.sock": upstream, **changes})
        (self.folder / "dashctl.conf").write_text(snippet)
        kept = "".join(f"{kind}_temp_path {self.folder}/{kind};\n" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        main = self.folder / "nginx.conf"
        # `warn` says of every body that is written to a file.
        main.write_text(f"daemon off;\npid {self.folder}/pid;\nerror_log {self.log} warn;\nworker_processes 2;\n"
                        + ("user root;\n" if os.geteuid() == 0 else "")
                        + f"events {{}}\nhttp {{\naccess_log off;\n{kept}include {self.folder}/dashctl.conf;\n}}\n")
        return [shutil.which("nginx", path="/usr/sbin:/usr/bin"), "-e", str(self.log), "-c", str(main)]

    def _caddy(self, upstream, changes):
        snippet = replaced((ROOT / "launchers/Caddyfile").read_text(), {
            "dashboard.example.com {": f"https://localhost:{self.port}, https://127.0.0.1:{self.port} {{",
            "/etc/ssl/dashctl/chain.pem": self.chain, "/etc/ssl/dashctl/key.pem": self.key, "/run/dashctl.sock": upstream, **changes})
        main = self.folder / "Caddyfile"
        main.write_text("{\n\tadmin off\n\tauto_https disable_redirects\n}\n" + snippet)
        return ["caddy", "run", "--adapter", "caddyfile", "--config", str(main)]

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def curl(self, path, *args):
        """(HTTP version, status, body) as curl sees them."""
        done = subprocess.run(["curl", "-sS", "--http2", "--cacert", str(self.chain), "--path-as-is", "-w", "\n%{http_version} %{http_code}",
                               *args, self.url + path], capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, (done.stderr, self.log.read_text())
        body, _, last = done.stdout.rpartition("\n")
        version, status = last.split()
        return version, int(status), body

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        finally:
            self.process.kill()
