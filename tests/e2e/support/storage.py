"""The storage API as its users call it: accounts, uploads in one piece and in parts, lists."""
import base64
import hashlib
import urllib.parse

PART = 8 << 20


def b64(data):
    return base64.b64encode(data).decode()


class Actors:
    pass


def people(instance, settings):
    instance.set(**settings)
    instance.add_user("ann", workgroups=["web"])
    instance.add_user("bob", workgroups=["data"])
    instance.start()
    who = Actors()
    who.instance = instance
    who.root, who.ann, who.bob = instance.login("root"), instance.login("ann"), instance.login("bob")
    return who


def upload(http, name, data, path="/api/storage/upload"):
    return http.post(path, {"filename": name, "content_b64": b64(data)})


def fetch(http, name):
    return http.get("/api/storage/fetch?" + urllib.parse.urlencode({"name": name}))


def names(http):
    answer = http.get("/api/storage/list")
    assert answer.status == 200, answer
    assert answer.json["count"] == len(answer.json["items"])
    return [item["name"] for item in answer.json["items"]]


def scope(http, name, workgroup, backend=""):
    return http.put("/api/storage/scope", {"backend": backend, "name": name, "workgroup": workgroup})


def begin(http, name, size):
    answer = http.post("/api/storage/upload/begin", {"filename": name, "size": size})
    assert answer.status == 201, answer
    return answer.json


def put(http, handle, n, data, headers=None):
    return http.put(f"/api/storage/upload/part/{n}", data, headers={"X-Upload-Handle": handle, **(headers or {})})


def commit(http, handle, parts):
    return http.post("/api/storage/upload/commit", {"handle": handle, "parts": parts})


def slices(data):
    return [data[at:at + PART] for at in range(0, len(data), PART)]


def p8(data):
    return "p8:" + hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in slices(data) or [b""])).hexdigest()


def migrate(http, source, target, **more):
    return http.post("/api/storage/migrate", {"source": source, "target": target, **more})
