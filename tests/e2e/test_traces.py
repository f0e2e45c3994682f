"""Traces: traceparent in and out, spans at a collector; and the level of the log while the server runs."""
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.wait import wait_until

TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


class Collector:
    """A collector of traces, and a store that refuses: keeps what it is sent."""

    def __init__(self):
        collector, self.requests = self, []

        class Handler(BaseHTTPRequestHandler):
            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                collector.requests.append((self.command, self.path, dict(self.headers), body))
                self.send_response(200 if self.path == "/v1/traces" else 403)
                self.send_header("Content-Length", "0")
                self.end_headers()

            do_GET = do_POST = do_HEAD = do_PUT = answer

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def spans(self):
        found = []
        for method, path, headers, body in list(self.requests):
            if path != "/v1/traces":
                continue
            assert method == "POST" and headers["Content-Type"] == "application/json"
            for resource in json.loads(body)["resourceSpans"]:
                assert {"key": "service.name", "value": {"stringValue": "dashctl"}} in resource["resource"]["attributes"]
                for scope in resource["scopeSpans"]:
                    found += scope["spans"]
        return found

    def span(self, **attributes):
        """The first span with these attributes, once it has come."""
        def find():
            for span in self.spans():
                has = {a["key"]: list(a["value"].values())[0] for a in span["attributes"]}
                if attributes.items() <= has.items():
                    return {**span, "attributes": has}
            return None
        return wait_until(find, what=f"a span with {attributes}")


@pytest.fixture
def collector():
    one = Collector()
    yield one
    one.server.shutdown()
    one.server.server_close()


def test_a_request_is_a_span_of_its_callers_trace(make_instance, collector):
    one = make_instance(start=False)
    one.start("--otlp-endpoint", collector.url)
    root = one.login("root")
    answer = root.get("/api/jobs?status=pending", headers={"traceparent": f"00-{TRACE}-{PARENT}-01", "X-Request-Id": "mine"})
    version, trace, span_id, flags = answer.headers["traceparent"].split("-")
    assert (version, trace, flags) == ("00", TRACE, "01") and span_id != PARENT
    span = collector.span(**{"dashctl.request_id": "mine"})
    assert (span["traceId"], span["spanId"], span["parentSpanId"]) == (TRACE, span_id, PARENT)
    assert span["name"] == "GET /api/jobs" and span["kind"] == 2 and span["status"] == {}
    assert int(span["endTimeUnixNano"]) >= int(span["startTimeUnixNano"]) > 10**18
    assert span["attributes"] == {"http.request.method": "GET", "http.route": "/api/jobs", "url.path": "/api/jobs", "client.address": "127.0.0.1",
                                  "http.response.status_code": "200", "dashctl.request_id": "mine"}
    line = wait_until(lambda: [e for e in one.events("request") if e["request_id"] == "mine"], what="the access line")[0]
    assert line["trace_id"] == TRACE
    # The caller decides whether its trace is kept; a trace that is named wrongly is a new one.
    root.get("/api/jobs", headers={"traceparent": f"00-{TRACE}-{PARENT}-00", "X-Request-Id": "unsampled"})
    broken = root.get("/api/jobs", headers={"traceparent": f"00-{TRACE}-{'0' * 16}-01", "X-Request-Id": "broken"})
    assert broken.headers["traceparent"].split("-")[1] != TRACE
    assert "parentSpanId" not in collector.span(**{"dashctl.request_id": "broken"})
    one.stop()
    ids = [a["value"].get("stringValue") for s in collector.spans() for a in s["attributes"] if a["key"] == "dashctl.request_id"]
    assert "mine" in ids and "unsampled" not in ids
    sent = b"".join(body for *_, body in collector.requests)
    assert root.token.encode() not in sent and b"status=pending" not in sent


def test_the_trace_is_handed_on_to_stores(make_instance, collector):
    one = make_instance()
    one.set(storage_obj_cloud1_bucket="assets", storage_obj_cloud1_endpoint=collector.url, cloud1_access_key_id="AKIA",
            cloud1_secret_access_key="secret", storage_active_backend="obj_cloud1", cloud1_region="us-east-1")
    answer = one.login("root").post("/api/storage/test", {"backend": "obj_cloud1"}, headers={"traceparent": f"00-{TRACE}-{PARENT}-01"})
    assert answer.status == 200 and answer.json["ok"] is False, answer
    span_id = answer.headers["traceparent"].split("-")[2]
    handed = [headers["traceparent"] for _, path, headers, _ in collector.requests if path != "/v1/traces"]
    assert handed and set(handed) == {f"00-{TRACE}-{span_id}-01"}
    assert collector.spans() == []  # off by default


def test_a_collector_that_is_away_is_logged_once_and_delays_nothing(make_instance):
    one = make_instance(start=False)
    one.start("--otlp-endpoint", "http://127.0.0.1:9")
    for _ in range(3):
        assert one.anonymous.get("/livez").status == 200
    wait_until(lambda: one.events("traces.not_taken"), what="the warning")
    assert one.anonymous.get("/livez").status == 200
    one.stop()
    assert len(one.events("traces.not_taken")) == 1


def test_the_level_of_the_log_changes_while_the_server_runs(make_instance, collector):
    one = make_instance()

    def change_to(level):
        one.set(log_level=level)
        wait_until(lambda: any(e["now"] == level for e in one.events("log_level")), what=f"the level {level}")

    one.set(storage_obj_cloud1_bucket="assets", storage_obj_cloud1_endpoint=collector.url, cloud1_access_key_id="AKIA",
            cloud1_secret_access_key="secret", cloud1_region="us-east-1")
    root = one.login("root")
    root.post("/api/storage/test", {"backend": "obj_cloud1"})
    assert one.events("request") and not one.events("http.call")
    change_to("debug")
    root.post("/api/storage/test", {"backend": "obj_cloud1"})
    assert one.events("http.call")[0]["origin"] == collector.url
    change_to("error")
    before = len(one.events("request"))
    assert root.get("/api/auth/me").status == 200
    assert len(one.events("request")) == before
    # A word that names no level changes nothing; info comes back.
    one.set(log_level="loud")
    change_to("info")
    assert root.get("/api/auth/me").status == 200
    wait_until(lambda: len(one.events("request")) > before, what="the access line")
