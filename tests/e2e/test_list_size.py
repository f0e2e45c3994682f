"""`storage list`, by the command and by the routes, and what walks through all assets: all of it, in order, and in the same memory for
any number of assets."""
import http.client
import json
import subprocess
from pathlib import Path

import pytest

from support.cloud_stores import share
from support.doubles import double
from support.memory import peak_kib
from support.program import BINARY, clean_environment, run
from support.storage import scope

SLACK_KIB = 6 << 10


def listed_by(process):
    """(lines, peak KiB) of a command that prints more than a pipe holds."""
    lines, peak = [], 0
    for line in process.stdout:
        lines.append(line.rstrip("\n"))
        if len(lines) % 500 == 0:
            peak = max(peak, peak_kib(process.pid))
    assert process.wait() == 0
    return lines, peak


def command(*words, env=None):
    return subprocess.Popen([BINARY, "storage", "list", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                            env=clean_environment(env))


def token_file(scratch, token):
    path = scratch / "token"
    path.write_text(token)
    path.chmod(0o600)
    return path


def document_of(instance, root):
    """(names, the server's peak KiB) of the one document, which is read as it arrives."""
    connection = http.client.HTTPConnection("127.0.0.1", instance.port, timeout=600)
    connection.request("GET", "/api/storage/list", headers={"Authorization": f"Bearer {root.token}"})
    answer = connection.getresponse()
    assert answer.status == 200
    document = json.loads(answer.read())
    connection.close()
    names = [item["name"] for item in document["items"]]
    assert document["count"] == len(names)
    return names, peak_kib(instance.process.pid)


class Shelf:
    """An instance on a folder of many empty assets."""

    def __init__(self, make_instance, scratch):
        self.one, self.folder, self.count = make_instance(start=False), scratch / "assets", 0
        self.folder.mkdir()
        self.one.set(storage_local_path=str(self.folder), storage_active_backend="local")
        self.one.add_user("bob", workgroups=["data"])
        self.one.add_user("ann", workgroups=["web"])

    def fill(self, count):
        """Not in the order of the names; every tenth one in a folder of its own kind."""
        (self.folder / "inner").mkdir(exist_ok=True)
        for number in range(self.count, count):
            (self.folder / self.name(number)).touch()
        self.count = count

    @staticmethod
    def name(number):
        shuffled = number * 7919 % 10_000_019
        return f"inner/{shuffled:08}.yml" if number % 10 == 0 else f"{shuffled:08}.yml"

    def names(self):
        return sorted(map(self.name, range(self.count)))


def check_memory(make_instance, scratch, capsys, counts):
    shelf, peaks = Shelf(make_instance, scratch), {}
    for count in counts:
        shelf.fill(count)
        lines, by_folder = listed_by(command("--data-dir", shelf.one.folder, env=shelf.one.env))
        assert [line.split()[-1] for line in lines] == shelf.names()
        shelf.one.start()
        root = shelf.one.login("root")
        token = token_file(scratch, shelf.one.token("root", f"of-{count}"))
        # As many pages for either count: what a thread has used stays with it, and each has its turn.
        for _ in range(max(counts) // count):
            lines, by_pages = listed_by(command("--target", shelf.one.url, "--token-file", token))
            assert len(lines) == count
            names, server = document_of(shelf.one, root)
            assert names == shelf.names()
        shelf.one.stop()
        peaks[count] = {"command on the folder": by_folder, "command over the API": by_pages, "server": server}
    with capsys.disabled():
        for count, found in peaks.items():
            print(f"\n  {count:,} assets: " + ", ".join(f"{what} {kib / 1024:.1f} MiB" for what, kib in found.items()), end="")
    fewer, more = (peaks[count] for count in counts)
    assert all(more[what] <= fewer[what] + SLACK_KIB for what in fewer), peaks


def test_three_times_the_assets_take_the_same_memory(make_instance, scratch, capsys):
    check_memory(make_instance, scratch, capsys, (20_000, 60_000))


@pytest.mark.long
def test_a_million_assets_take_the_memory_of_a_tenth(make_instance, scratch, capsys):
    check_memory(make_instance, scratch, capsys, (100_000, 1_000_000))


def answers_of_walks(root):
    """{what: (request, names in its answer)} of what the server does with every asset; the other backend is empty."""
    pair = {"source": "local", "target": "obj_cloud1"}
    return {"list-all": (lambda: root.get("/api/storage/list-all"), lambda answer: [item["name"] for item in answer["items"]]),
            "assets for runs": (lambda: root.get("/api/config-mgmt/assets"), lambda answer: [item["name"] for item in answer]),
            "verify": (lambda: root.post("/api/storage/verify", pair), lambda answer: answer["only_source"]),
            "verify the other way": (lambda: root.post("/api/storage/verify", {"source": "obj_cloud1", "target": "local"}),
                                     lambda answer: answer["only_target"]),
            "dry run of a migration": (lambda: root.post("/api/storage/migrate", {**pair, "dry_run": True}), lambda answer: answer["copied"])}


def test_walks_through_all_assets_take_the_same_memory(make_instance, scratch, bucket, capsys):
    shelf, peaks, counts = Shelf(make_instance, scratch), {}, (20_000, 60_000)
    shelf.one.set(**{**bucket.settings, "storage_active_backend": "local"})
    for count in counts:
        shelf.fill(count)
        shelf.one.start()
        root, peaks[count] = shelf.one.login("root"), {}
        for what, (request, names_in) in answers_of_walks(root).items():
            for _ in range(max(counts) // count):
                answer = request()
                assert answer.status == 200, (what, answer)
                assert names_in(answer.json) == shelf.names(), what
            peaks[count][what] = peak_kib(shelf.one.process.pid)
            Path(f"/proc/{shelf.one.process.pid}/clear_refs").write_text("5", encoding="ascii")
        shelf.one.stop()
    with capsys.disabled():
        for count, found in peaks.items():
            print(f"\n  {count:,} assets, server: " + ", ".join(f"{what} {kib / 1024:.1f} MiB" for what, kib in found.items()), end="")
    fewer, more = (peaks[count] for count in counts)
    assert all(more[what] <= fewer[what] + SLACK_KIB for what in fewer), peaks


def test_a_share_with_three_times_the_files_takes_the_same_memory(make_instance, scratch, capsys):
    with double("smb", "SMB_HOST") as env:
        shelf, counts = Shelf(make_instance, scratch), (10_000, 30_000)
        settings = share(env)
        shelf.one.set(**settings)
        shelf.folder = Path(env["SMB_FOLDER"]) / settings["storage_local_path"].rsplit("\\", 1)[1]
        peaks = {}
        for count in counts:
            shelf.fill(count)
            shelf.one.start()
            for _ in range(max(counts) // count):
                names, peaks[count] = document_of(shelf.one, shelf.one.login("root"))
                assert names == shelf.names()
            shelf.one.stop()
    with capsys.disabled():
        print("\n  a share, server: " + ", ".join(f"{kib / 1024:.1f} MiB for {count:,} files" for count, kib in peaks.items()), end="")
    fewer, more = peaks.values()
    assert more <= fewer + SLACK_KIB, peaks


@pytest.fixture
def shelf(make_instance, scratch):
    made = Shelf(make_instance, scratch)
    made.fill(12_000)
    made.one.start()
    return made


def pages(http, path="/api/storage/list"):
    """The names on each page, by the cursors."""
    out, cursor = [], ""
    while cursor is not None:
        page = http.get(f"{path}?cursor={cursor}").json
        assert page["backend"] == "local" and page["count"] == len(page["items"])
        out.append([item["name"] for item in page["items"]])
        cursor = page["next"]
    return out


def test_pages_join_without_a_gap_and_hide_another_workgroups_assets(shelf):
    root, ann, bob = (shelf.one.login(name) for name in ("root", "ann", "bob"))
    hidden = shelf.names()[6_000]
    assert scope(root, hidden, "web").status == 200
    found = pages(root, "/api/storage/list/local")
    assert len(found) > 1 and sum(found, []) == shelf.names() == sum(pages(ann), [])
    assert sum(pages(bob), []) == [name for name in shelf.names() if name != hidden]
    whole = bob.get("/api/storage/list").json
    assert whole["count"] == 11_999 and hidden not in {item["name"] for item in whole["items"]} and "next" not in whole
    shown = next(item for item in ann.get("/api/storage/list").json["items"] if item["name"] == hidden)
    assert shown["workgroup"] == "web"


def test_a_cursor_that_is_not_of_this_listing_is_refused(shelf, scratch):
    root = shelf.one.login("root")
    good = root.get("/api/storage/list?cursor=").json["next"]
    assert root.get(f"/api/storage/list?cursor={good}").status == 200
    forged = good[:-4] + ("AAAA" if good[-4:] != "AAAA" else "BBBB")
    for cursor in (forged, "x", "00000001.yml", "%0A", "A" * 4000):
        refused = root.get(f"/api/storage/list?cursor={cursor}")
        assert refused.status == 400 and "cursor" in refused.json["detail"], refused
    assert shelf.one.login("bob").get(f"/api/storage/list/local?cursor={good}").status == 403
    (scratch / "other").mkdir()
    shelf.one.set(storage_local_path=str(scratch / "other"))
    assert root.get(f"/api/storage/list?cursor={good}").status == 400


def test_the_command_prints_one_document_whichever_way_it_asks(shelf, scratch):
    ways = (["--data-dir", shelf.one.folder], ["--target", shelf.one.url, "--token-file", token_file(scratch, shelf.one.token("root"))])
    texts = ["\n".join(listed_by(command(*way, "--output", "json", env=shelf.one.env))[0]) for way in ways]
    assert texts[0] == texts[1]
    document = json.loads(texts[0])
    assert list(document) == ["schema", "backend", "items", "count"] and document["count"] == 12_000
    assert [item["name"] for item in document["items"]] == shelf.names()


def test_a_list_that_fails_after_its_first_page_is_one_document_that_says_so(scratch, answering):
    items = [{"name": f"{n}.yml", "type": "playbook", "size": 1, "backend": "local", "workgroup": None, "digest": None} for n in range(2)]
    first = json.dumps({"backend": "local", "items": items, "count": 2, "next": "more"}).encode()
    for second, sentence in ((b'{"detail": "the store is gone"}', "the store is gone"), (first, "the same page")):
        status = 200 if second == first else 502
        server = answering({"/api/storage/list?cursor=": (200, first), "/api/storage/list?cursor=more": (status, second)})
        done = run("storage", "list", "--target", server.url, "--token-file", token_file(scratch, "dash_" + "a" * 40), "--output", "json")
        assert done.code == 1 and sentence in done.json["error"]["message"] and sentence in done.err, done
        assert done.json["items"][:2] == items and "count" not in done.json
