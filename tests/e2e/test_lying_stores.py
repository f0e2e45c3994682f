"""Something else than a store answers at its address: a proxy's page, another protocol, lists without an end. Every call says so,
and none reports a success."""
import base64
import socketserver
import threading

import pytest

from support.storage import upload

NAME = "site.yml"
PAGE = b"<html><body>Please sign in</body></html>"
LIST = {"s3": b"<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken></ListBucketResult>",
        "azure": b"<EnumerationResults><Blobs></Blobs><NextMarker>same</NextMarker></EnumerationResults>"}
TIMELESS = b"<ListBucketResult><Contents><Key>config-mgmt/site.yml</Key><Size>1</Size></Contents></ListBucketResult>"


def answer(body, status="200 OK", headers=""):
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n{headers}\r\n".encode() + body


class Liar(socketserver.ThreadingTCPServer):
    """Answers every request with the same bytes."""
    daemon_threads = True
    says = answer(b"", "404 Not Found")

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(socketserver.StreamRequestHandler):
    def handle(self):
        sizes = [int(line.split(b":")[1]) for line in iter(self.rfile.readline, b"\r\n") if line.lower().startswith(b"content-length:")]
        self.rfile.read(sum(sizes))
        self.wfile.write(self.server.says)


@pytest.fixture
def liar():
    server = Liar()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["s3", "azure"])
def kind(request, instance, liar):
    """The kind of store that the instance takes the liar for."""
    url = f"http://127.0.0.1:{liar.server_address[1]}"
    instance.set(**{
        "s3": {"storage_obj_cloud1_bucket": "b", "storage_obj_cloud1_endpoint": url, "storage_obj_cloud1_path_style": "true",
               "cloud1_access_key_id": "ak", "cloud1_secret_access_key": "sk", "storage_active_backend": "obj_cloud1"},
        "azure": {"storage_obj_cloud2_account": "a", "storage_obj_cloud2_endpoint": url, "storage_obj_cloud2_path_style": "true",
                  "storage_obj_cloud2_account_key": base64.b64encode(b"k" * 32).decode(), "storage_active_backend": "obj_cloud2"},
    }[request.param])
    return request.param


def test_a_list_that_names_its_own_page_again_ends(root, liar, kind):
    liar.says = answer(LIST[kind])
    listed = root.get("/api/storage/list", timeout=20)
    assert listed.status == 502 and "same page" in listed.text, listed
    assert root.post("/api/storage/test", {"backend": "obj_cloud1" if kind == "s3" else "obj_cloud2"}).json["ok"] is False


def test_an_upload_that_nothing_confirms_is_no_success(root, liar, kind):
    liar.says = answer(PAGE)
    assert upload(root, NAME, b"---\n").status == 502


def test_another_protocol_is_named_and_is_no_mistake_of_the_caller(root, liar, kind):
    liar.says = b"SSH-2.0-OpenSSH_9.2\r\n"
    listed = root.get("/api/storage/list")
    assert listed.status == 502 and "does not speak HTTP" in listed.text, listed


def test_what_is_absent_for_a_list_or_a_new_object_is_the_store(root, liar, kind):
    liar.says = answer(b"", "404 Not Found")
    begun = root.post("/api/storage/upload/begin", {"filename": NAME, "size": 1})
    assert upload(root, NAME, b"---\n").status == 502
    assert begun.status == (502 if kind == "s3" else 201), begun  # Azure's begin sends nothing
    if kind == "s3":
        assert root.get("/api/storage/list").status == 502


def test_a_range_that_begins_elsewhere_is_not_passed_on(root, liar, kind):
    liar.says = answer(b"abc", "206 Partial Content", 'Content-Range: bytes 5-7/100\r\nETag: "e"\r\n')
    fetched = root.get(f"/api/storage/fetch?name={NAME}&raw=1")
    assert fetched.status == 502 and "another range" in fetched.text, fetched


@pytest.mark.parametrize("kind", ["s3"], indirect=True)
def test_a_list_without_times_is_the_stores_fault(root, liar, kind):
    liar.says = answer(TIMELESS)
    listed = root.get("/api/storage/list")
    assert listed.status == 502 and "LastModified" in listed.text, listed
