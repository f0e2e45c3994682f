"""What a deployed dashboard's own clients send and read back; shapes as they are on the wire."""


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


def test_a_body_far_too_large_is_told_to_a_client_that_sends_it_whole(root):
    answer = root.post("/api/setup/import", "x" * (70 << 20))
    assert answer.status == 413 and "67108864" in answer.json["detail"]
