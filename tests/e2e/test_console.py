"""The console's script, run by node over documents of the API. Its page is served in test_serve_process.py."""
import json
import shutil
import subprocess

import pytest

from support.program import ROOT

PAGE = """
const shown = {};
globalThis.document = { getElementById: (id) => (shown[id] ??= { addEventListener: (_, work) => (shown.submit = work) }) };
globalThis.FormData = class { constructor() { return []; } };
globalThis.setTimeout = () => (shown.is_refreshed = true);
const answers = JSON.parse(require("fs").readFileSync(0));
globalThis.fetch = async (path) => ({ ok: true, json: async () => answers[path] });
require(process.argv[1]);
shown.submit({ preventDefault() {}, target: {} }).then(() => console.log(JSON.stringify({ jobs: shown.jobs.textContent,
  is_refreshed: shown.is_refreshed ?? false })));
"""


def jobs_view(*jobs):
    answers = {"/api/auth/login": {"username": "root", "access_token": "t"}, "/api/jobs": {"jobs": jobs},
               "/api/storage/backends": {"backends": []}, "/api/audit/verify": {"count": 1, "ok": True}}
    done = subprocess.run(["node", "-e", PAGE, ROOT / "daemon/console/console.js"], input=json.dumps(answers), text=True,
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def job(status="running", **progress):
    measured = {"bytes_done": 0, "bytes_total": 0, "items_done": 0, "items_total": 0, "bytes_per_second": 0, "eta_seconds": None}
    return {"id": "j1", "status": status, "job_type": "storage:migrate", "progress": measured | progress}


@pytest.mark.skipif(not shutil.which("node"), reason="no node to run the page's script")
def test_a_running_migration_is_drawn_and_followed():
    running = jobs_view(job(bytes_done=2 << 20, bytes_total=8 << 20, items_done=1, items_total=4, bytes_per_second=1 << 20,
                            eta_seconds=6))
    assert running == {"jobs": "j1  running  storage:migrate  [#####               ] 25 %  1 of 4 items  "
                               "2.0 MiB of 8.0 MiB  1.0 MiB/s  6 s left", "is_refreshed": True}
    begun = jobs_view(job())
    assert begun["jobs"] == f"j1  running  storage:migrate  [{' ' * 20}] 0 %  0 of 0 items"
    ended = jobs_view(job("completed", bytes_done=9, bytes_total=9), job() | {"status": "failed", "progress": None})
    assert ended == {"jobs": "j1  completed  storage:migrate\nj1  failed  storage:migrate", "is_refreshed": False}
    assert "undefined" not in jobs_view({"id": "j2", "status": "running", "job_type": "cloud1:vm:deploy", "progress": None})["jobs"]
