"""Two replicas of one instance, each with two workers, on one PostgreSQL behind one nginx."""
import shutil
import subprocess

from support.databases import new_database
from support.http_client import Http
from support.instance import Instance
from support.jobs import executor
from support.ports import free_port
from support.wait import wait_until

NGINX = """daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  upstream replicas {{ {servers} }}
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 128m;
    location / {{
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Connection "";
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      proxy_request_buffering off;
      proxy_next_upstream off;
    }}
  }}
}}
"""


# A run holds a lock of its job: a second one at the same time says "twice".
RUN = """
id=$(sed 's/.*"job_id":"\\([^"]*\\)".*/\\1/')
exec 9> {marks}/$id.lock
flock -n 9 || echo twice >> {marks}/$id
echo begin >> {marks}/$id
echo end >> {marks}/$id
"""


class Replicas:
    def __init__(self, folder, settings, count=2):
        self.folder = folder
        self.marks = folder / "marks"
        self.marks.mkdir()
        first = Instance(folder / "replica0", new_database("postgres"))
        first.add_user("root", admin=True)
        key = str(first.folder / "signing.key")
        self.all = [first] + [Instance(folder / f"replica{n}", {**first.env, "DASHCTL_SIGNING_KEY_FILE": key})
                              for n in range(1, count)]
        first.set(change_approval_required="true", job_lease_seconds="2", admission_gated_actions="cloud1:vm:deploy", **settings)
        for one in self.all:
            one.folder.mkdir(exist_ok=True)
            executor(one, "cloud1-vm-deploy", RUN.format(marks=self.marks))
            self.start(one)
        self._start_nginx()

    def marks_of(self, job_id):
        """What the runs of a job wrote: begin and end of each."""
        path = self.marks / job_id
        return path.read_text().split() if path.exists() else []

    def start(self, one):
        one.start("--workers", 2, "--trusted-proxy", "127.0.0.1")

    def _start_nginx(self):
        self.port = free_port()
        config = self.folder / "nginx.conf"
        servers = " ".join(f"server 127.0.0.1:{one.port};" for one in self.all)
        config.write_text(NGINX.format(folder=self.folder, port=self.port, servers=servers))
        self.nginx = subprocess.Popen([shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin"), "-p", self.folder, "-c", config],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self._answers, what="nginx")

    def _answers(self):
        try:
            return Http(self.port).get("/livez").status == 200
        except OSError:
            return False

    def login(self, name, password="correct horse battery"):
        """A client of the proxy that is signed in."""
        answer = Http(self.port).post("/api/auth/login", form={"username": name, "password": password})
        assert answer.status == 200, answer
        return Http(self.port, answer.json["access_token"])

    def each(self, token):
        """A client of each replica, past the proxy."""
        return [Http(one.port, token) for one in self.all]

    def stop(self):
        self.nginx.terminate()
        self.nginx.wait()
        for one in self.all:
            one.stop()
