"""What a deployed dashboard's own clients send and read back; shapes as they are on the wire."""
import re
import socket


def test_public_pages_tell_features_and_health(instance, root):
    assert instance.anonymous.get("/api/health").json["status"] == "ok"
    assert instance.anonymous.get("/api/features").json["admission"] is False
    root.patch("/api/setup/feature/admission_control", {"enabled": True})
    features = instance.anonymous.get("/api/features").json
    assert features["admission"] is True and features["proxmox"] is False
    assert all(isinstance(value, bool) for value in features.values())


def test_an_unknown_panel_is_named(root):
    answer = root.get("/api/setup/feature/nope")
    assert answer.status == 404 and answer.json == {"detail": "Unknown feature: nope"}


def test_notification_endpoints_answer_as_their_clients_expect(root):
    blank = root.post("/api/notifications/endpoints", {"name": "x", "fmt": "custom"})
    assert blank.status == 400 and blank.json == {"detail": "A webhook URL is required."}
    for wrong in ("https://hooks.example/a\r\nX: y", "https://hooks.example/\u0000", "https://ann:pw@hooks.example/a"):
        refused = root.post("/api/notifications/endpoints", {"name": "ops", "url": wrong})
        assert refused.status == 422 and refused.json["detail"][0]["loc"] == ["body", "url"], refused
        assert "pw" not in refused.body.decode()
    made = root.post("/api/notifications/endpoints", {"name": "ops", "url": "https://hooks.example/a"}).json
    gone = root.delete(f"/api/notifications/endpoints/{made['id']}")
    assert gone.status == 200 and gone.json == {"deleted": made["id"]}


def test_a_wrong_number_in_a_query_is_a_validation_error(root):
    answer = root.get("/api/setup/config/history?limit=many")
    assert answer.status == 422
    assert answer.json["detail"] == [{"type": "int_parsing", "loc": ["query", "limit"],
                                      "msg": "Input should be a valid integer", "input": "many"}]


def test_a_login_form_is_known_by_its_type_in_any_case(instance):
    form = "username=root&password=correct+horse%20battery"
    for kind, status in [("Application/X-WWW-Form-URLEncoded; charset=UTF-8", 200), ("application/json", 422)]:
        answer = instance.anonymous.post("/api/auth/login", form, headers={"Content-Type": kind})
        assert answer.status == status, answer


def test_a_member_of_the_wrong_type_is_told_in_the_shape_of_the_peers(root):
    def told(path, body):
        answer = root.post(path, body)
        assert answer.status == 422, answer
        return [(entry["type"], entry["loc"], entry["msg"]) for entry in answer.json["detail"]]

    wrong_config = [("dict_type", ["body", "config"], "Input should be a valid dictionary")]
    assert told("/api/setup/import", {"config": ["a"]}) == told("/api/setup/import", {"config": "a=b"}) == wrong_config
    wrong_name = [("string_type", ["body", "name"], "Input should be a valid string")]
    assert told("/api/notifications/endpoints", {"name": 5}) == wrong_name


def answers(instance, *requests):
    """The status lines of what is sent over one connection, the last request of which ends it."""
    with socket.create_connection(("127.0.0.1", instance.port), timeout=30) as connection:
        connection.sendall("".join(requests).encode())
        read = b"".join(iter(lambda: connection.recv(65536), b""))
    return re.findall(r"HTTP/1\.1 (\d+) ", read.decode())


def get_me(root, target="/api/auth/me", scheme="Bearer ", more="Connection: close\r\n"):
    return f"GET {target} HTTP/1.1\r\nHost: x\r\nAuthorization: {scheme}{root.token}\r\n{more}\r\n"


def test_one_empty_line_before_a_request_is_ignored(instance, root):
    post = "POST /api/nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}\r\n"
    assert answers(instance, "\r\n", get_me(root)) == ["200"]
    assert answers(instance, post, get_me(root)) == ["404", "200"]
    assert answers(instance, post, post, get_me(root)) == ["404", "404", "200"]
    for flood in ("\r\n" * 2, "\r\n" * 5000, "\n", "\r"):
        assert answers(instance, flood, get_me(root)) == ["400"]


def test_a_token_may_stand_behind_more_than_one_blank(instance, root):
    for path in ("/api/auth/me", "/api/setup/config"):
        for scheme, status in [("Bearer  ", "200"), ("bEARER    ", "200"), ("Bearer", "401"), ("Bearer x ", "401")]:
            assert answers(instance, get_me(root, path, scheme)) == [status], (path, scheme)


def test_an_escaped_letter_is_the_letter_to_the_routes_and_to_their_guards(instance, root):
    for target in ("/api/%61uth/me", "HTTP://x/api/auth/m%65", "/%61pi/%73etup/config"):
        assert answers(instance, get_me(root, target)) == ["200"], target
        assert answers(instance, get_me(root, target, "Basic ")) == ["401"], target
    for target in ("/api/%2561uth/me", "/api%2Fauth/me", "/api/auth%2fme"):
        assert answers(instance, get_me(root, target)) == ["404"], target
    for target in ("/api/x/%2e%2e/auth/me", "/api/%2E/auth/me"):
        assert answers(instance, get_me(root, target)) == ["400"], target


def test_a_body_far_too_large_is_told_to_a_client_that_sends_it_whole(root):
    answer = root.post("/api/setup/import", "x" * (70 << 20))
    assert answer.status == 413 and "67108864" in answer.json["detail"]
