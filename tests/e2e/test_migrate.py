"""Configuration moves between two running instances: spec 3, option by option and row by row."""
import json
import os
import stat
from pathlib import Path

import pytest

from support.migrate import MASK, counts, fingerprint_line, keys_of, write_bundle
from support.ports import free_port
from support.program import run


# --- export ---


def test_export_writes_a_private_bundle_into_the_default_folder(filled):
    done = filled.migrate("export", "--source", filled.source.url)
    assert done.code == 0, done
    path = Path(done.out.strip())
    assert path.parent == filled.home / ".dashboard-migrate"
    assert path.name.startswith("bundle-") and path.suffix == ".json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert list(json.loads(path.read_text())) == [
        "schema", "meta", "config", "regions", "notification_endpoints", "excluded", "annotations"]


def test_two_exports_in_one_second_make_two_files(filled):
    paths = {filled.migrate("export", "--source", filled.source.url).out.strip() for _ in range(3)}
    assert len(paths) == 3


def test_the_bundle_sorts_every_key_into_its_section(filled):
    bundle = json.loads(filled.export().read_text())
    assert bundle["config"]["cloud1_access_key_id"] == "AKIAEXAMPLE"
    assert bundle["config"]["oidc_client_secret"] == "azure_kv://primary/oidc"
    assert bundle["regions"] == {"cloud1": {"us-east-1": {"vpc_id": "vpc-1"}},
                                 "cloud2": {"westus2": {"gallery_name": "gallery"}}}
    assert bundle["excluded"]["public_base_url"] == "instance_local"
    assert bundle["excluded"]["vsphere_host"] == "on_prem"
    assert bundle["excluded"]["cloud1_secret_access_key"] == "masked"
    assert bundle["annotations"]["cloud1_secret_access_key"] == {"secret": True, "vault_ref": False, "masked": True}
    assert bundle["annotations"]["oidc_client_secret"] == {"secret": True, "vault_ref": True, "masked": False}
    assert bundle["annotations"]["cloud1_access_key_id"] == {"secret": False, "vault_ref": False, "masked": False}


def test_an_http_export_holds_no_secret_and_names_what_was_masked(filled):
    out = filled.scratch / "b.json"
    done = filled.migrate("export", "--source", filled.source.url, "--out", out)
    assert "a secret of the source" not in out.read_text()
    assert MASK not in out.read_text()
    assert "cloud1_secret_access_key" in done.err and "epml_pat" in done.err


def test_an_http_export_says_which_webhooks_stayed_behind(filled):
    filled.root.post("/api/notifications/endpoints", {"name": "ops", "url": "https://hooks.example/secret-path"})
    out = filled.scratch / "b.json"
    done = filled.migrate("export", "--source", filled.source.url, "--out", out)
    assert "1 notification endpoints stayed behind" in done.err and "ops" in done.err
    assert "secret-path" not in out.read_text()


def test_include_on_prem_carries_hypervisors(filled):
    bundle = json.loads(filled.export("--include-on-prem").read_text())
    assert bundle["config"]["vsphere_host"] == "vc.example"
    assert "vsphere_host" not in bundle["excluded"]


def test_a_link_in_the_place_of_the_bundle_is_replaced_not_followed(filled):
    victim = filled.scratch / "victim"
    victim.write_text("precious")
    (filled.scratch / "bundle.json").symlink_to(victim)
    out = filled.export()
    assert victim.read_text() == "precious"
    assert not out.is_symlink() and stat.S_IMODE(out.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_the_default_folder_is_refused(filled):
    elsewhere = filled.scratch / "elsewhere"
    elsewhere.mkdir()
    (filled.home / ".dashboard-migrate").symlink_to(elsewhere)
    done = filled.migrate("export", "--source", filled.source.url)
    assert done.code == 9, done
    assert list(elsewhere.iterdir()) == []


def test_a_folder_that_others_can_read_is_closed(filled):
    folder = filled.home / ".dashboard-migrate"
    folder.mkdir(mode=0o755)
    assert filled.migrate("export", "--source", filled.source.url).code == 0
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_export_to_a_folder_is_refused_before_the_source_is_asked(filled):
    done = filled.migrate("export", "--source", f"http://127.0.0.1:{free_port()}", "--out", filled.scratch)
    assert done.code == 1 and "is a folder" in done.err


def test_export_of_a_data_directory_carries_secrets_and_webhooks(filled):
    filled.root.post("/api/notifications/endpoints",
                     {"name": "ops", "url": "https://hooks.example/path", "secret": "sign", "fmt": "slack"})
    done = run("migrate", "export", "--data-dir", filled.source.folder, "--out", "-")
    assert done.code == 0, done
    bundle = done.json
    assert bundle["config"]["cloud1_secret_access_key"] == "a secret of the source"
    assert bundle["meta"]["export_method"] == "local"
    assert bundle["notification_endpoints"] == [{"name": "ops", "url": "https://hooks.example/path", "fmt": "slack",
                                                 "secret": "sign", "event_types": None, "enabled": True}]


def test_a_store_under_another_key_exports_as_an_error_that_lists_keys(filled):
    filled.source.stop()
    (filled.source.folder / "signing.key").write_bytes(b"another key that is long enough 123")
    done = run("migrate", "export", "--data-dir", filled.source.folder, "--out", "-")
    assert done.code == 9, done
    assert "cloud1_access_key_id" in done.err and done.out == ""


# --- diff ---


def test_diff_tells_each_category_with_lengths_and_fingerprints_and_no_value(filled):
    filled.target.set(cloud2_tenant_id="tenant", cloud1_access_key_id="another")
    bundle = filled.export()
    done = filled.diff(bundle)
    assert done.code == 0, done
    assert keys_of(done, "CHANGE") == ["cloud1_access_key_id"]
    assert "cloud1_region.us-east-1.vpc_id" in keys_of(done, "ADD")
    assert counts(done)["SAME"] == 1
    lengths = {f[0]: f[1] for f in map(fingerprint_line, done.out.splitlines()) if f}
    assert lengths["some_new_setting"] == 7
    for value in ("AKIAEXAMPLE", "another", "vpc-1", "héllo"):
        assert value not in done.out + done.err


def test_fingerprints_are_keyed_by_the_bundle(filled):
    first, second = filled.export(), filled.scratch / "second.json"
    filled.migrate("export", "--source", filled.source.url, "--out", second)
    lines = [sorted(filter(None, map(fingerprint_line, filled.diff(b).out.splitlines()))) for b in (first, first, second)]
    assert lines[0] == lines[1]
    assert lines[0] != lines[2]


def test_diff_writes_nothing(filled):
    filled.diff(filled.export())
    assert filled.target_config() == {}


def test_exit_code_six_tells_differences(filled):
    bundle = filled.export()
    assert filled.diff(bundle, "--exit-code").code == 6
    assert filled.diff(bundle).code == 0
    assert filled.apply(bundle).code == 0
    assert filled.diff(bundle, "--exit-code").code == 0


def test_region_fields_are_compared_with_the_targets_sets(filled):
    bundle = filled.export()
    target = filled.target.login("root")
    target.post("/api/setup/import", {"config": {"cloud1_region.US-EAST-1.vpc_id": "vpc-1",
                                                 "cloud2_region.westus2.gallery_name": "other"}})
    done = filled.diff(bundle, "--show-same")
    assert "cloud1_region.us-east-1.vpc_id" in keys_of(done, "SAME")
    assert "cloud2_region.westus2.gallery_name" in keys_of(done, "CHANGE")


def test_a_masked_secret_is_compared_blindly(filled):
    write_bundle(filled.scratch / "b.json", config={"epml_pat": "mine", "oidc_client_secret": "same"})
    filled.target.set(epml_pat="theirs", oidc_client_secret="same")
    done = filled.diff(filled.scratch / "b.json", "--show-same")
    assert keys_of(done, "CHANGE") == ["epml_pat"] and keys_of(done, "SAME") == ["oidc_client_secret"]
    assert counts(filled.diff(filled.scratch / "b.json", "--no-compare"))["UNKNOWN"] == 2


def test_json_output_is_one_versioned_document(filled):
    done = filled.diff(filled.export(), "--output", "json")
    assert done.json["schema"] == 1
    assert done.json["counts"] == {"ADD": len(done.json["entries"]), "CHANGE": 0, "UNKNOWN": 0, "SAME": 0}
    assert set(done.json["entries"][0]) == {"key", "category", "chars", "fingerprint"}


# --- import ---


def test_import_writes_only_with_apply_and_a_second_pass_is_all_same(filled):
    bundle = filled.export()
    dry = filled.migrate("import", "--bundle", bundle, "--target", filled.target.url)
    assert dry.code == 0 and "nothing was written" in dry.err
    assert filled.target_config() == {}
    done = filled.apply(bundle)
    assert done.code == 0, done
    assert "read back: everything is SAME" in done.out
    target = filled.target_config()
    assert target["cloud1_access_key_id"] == "AKIAEXAMPLE"
    assert json.loads(target["cloud2_region_configs"]) == {"westus2": {"gallery_name": "gallery"}}
    before = filled.target.login("root").get("/api/setup/config/history").json
    again = filled.apply(bundle)
    assert again.code == 0 and "already matches, nothing written" in again.out
    assert counts(again)["SAME"] > 0 and sum(counts(again).values()) == counts(again)["SAME"]
    assert filled.target.login("root").get("/api/setup/config/history").json == before


def test_secrets_regions_and_webhooks_are_idempotent_too(filled):
    filled.root.post("/api/notifications/endpoints", {"name": "ops", "url": "https://hooks.example/p", "secret": "s"})
    bundle = filled.scratch / "full.json"
    assert run("migrate", "export", "--data-dir", filled.source.folder, "--out", bundle).code == 0
    done = filled.apply(bundle)
    assert done.code == 0, done
    rows = filled.target.login("root").get("/api/notifications/endpoints").json["endpoints"]
    assert [(r["name"], r["has_secret"], r["url_hint"]) for r in rows] == [("ops", True, "https://hooks.example/…")]
    again = filled.apply(bundle)
    assert "already matches, nothing written" in again.out, again
    assert filled.target_config()["cloud1_secret_access_key"] == MASK
    clear = filled.target.dashctl("config", "get", "cloud1_secret_access_key", "--reveal")
    assert clear.out.strip() == "a secret of the source"


def test_a_denied_key_in_a_hand_edited_bundle_is_refused_by_name(filled):
    bundle = write_bundle(filled.scratch / "b.json",
                          config={"jwt_secret_key": "mine", "setup_complete": "0", "k8s_kubeconfig_7": "x", "ok": "1"})
    done = filled.apply(bundle)
    assert done.code == 0, done
    for key in ("jwt_secret_key", "setup_complete", "k8s_kubeconfig_7"):
        assert key in done.err
    assert filled.target_config() == {"ok": "1"}


def test_the_target_refuses_denied_keys_on_its_own(filled):
    target = filled.target.login("root")
    answer = target.post("/api/setup/import", {"config": {"jwt_secret_key": "x", "ok": "1"}})
    assert answer.json["refused"] == {"jwt_secret_key": "instance_local"}
    assert target.post("/api/setup/import", {"config": {"jwt_secret_key": "x"}}).status == 400


def test_on_prem_keys_of_a_bundle_need_the_opt_in_again(filled):
    bundle = filled.export("--include-on-prem")
    assert "vsphere_host" not in keys_of(filled.diff(bundle), "ADD")
    assert "vsphere_host" in keys_of(filled.diff(bundle, "--include-on-prem"), "ADD")
    filled.apply(bundle, "--include-on-prem")
    assert filled.target_config()["vsphere_host"] == "vc.example"


def test_only_takes_final_key_names_in_either_spelling(filled):
    bundle = filled.export()
    assert keys_of(filled.diff(bundle, "--only", "cloud1_region."), "ADD") == ["cloud1_region.us-east-1.vpc_id"]
    assert keys_of(filled.diff(bundle, "--only", "aws_"), "ADD") == keys_of(filled.diff(bundle, "--only", "cloud1_"), "ADD")
    both = keys_of(filled.diff(bundle, "--only", "azure_", "--only", "admission_"), "ADD")
    assert both == ["admission_control_enabled", "cloud2_region.westus2.gallery_name", "cloud2_tenant_id"]
    nothing = filled.diff(bundle, "--only", "nope_")
    assert nothing.code == 1 and "nope_" in nothing.err


def test_only_leaves_webhooks_out_unless_they_are_named(filled):
    bundle = write_bundle(filled.scratch / "b.json", config={"a": "1"},
                          notification_endpoints=[{"name": "ops", "url": "https://hooks.example/x"}])
    done = filled.diff(bundle, "--only", "a")
    assert keys_of(done, "ADD") == ["a"] and "--only notification_endpoints" in done.err
    assert keys_of(filled.diff(bundle, "--only", "notification_endpoints"), "ADD") == ["notification_endpoints.ops"]


def test_regions_merge_by_default_and_replace_on_demand(filled):
    target = filled.target.login("root")
    target.post("/api/setup/import", {"config": {"cloud1_region.eu-west-1.vpc_id": "old"}})
    bundle = filled.export()
    filled.apply(bundle)
    merged = json.loads(filled.target_config()["cloud1_region_configs"])
    assert merged == {"eu-west-1": {"vpc_id": "old"}, "us-east-1": {"vpc_id": "vpc-1"}}
    done = filled.apply(bundle, "--regions", "replace")
    assert done.code == 0, done
    assert keys_of(done, "CHANGE") == ["cloud1_region_configs"]
    assert json.loads(filled.target_config()["cloud1_region_configs"]) == {"us-east-1": {"vpc_id": "vpc-1"}}
    assert "already matches" in filled.apply(bundle, "--regions", "replace").out


def test_a_region_name_with_dots_survives(filled):
    bundle = write_bundle(filled.scratch / "b.json", regions={"aws": {"us.east.1": {"vpc_id": "v"}}})
    assert filled.apply(bundle).code == 0
    assert json.loads(filled.target_config()["cloud1_region_configs"]) == {"us.east.1": {"vpc_id": "v"}}
    assert "already matches" in filled.apply(bundle).out


def test_an_empty_value_blanks_nothing_without_the_flag(filled):
    filled.target.set(cloud2_tenant_id="kept")
    bundle = write_bundle(filled.scratch / "b.json", config={"cloud2_tenant_id": "", "other": "1"})
    done = filled.apply(bundle)
    assert done.code == 0 and "cloud2_tenant_id" in done.err
    assert filled.target_config()["cloud2_tenant_id"] == "kept"
    assert filled.apply(bundle, "--allow-empty-values").code == 0
    assert filled.target_config()["cloud2_tenant_id"] == ""


def test_a_masked_value_is_never_sent(filled):
    filled.target.set(epml_pat="real")
    bundle = write_bundle(filled.scratch / "b.json", config={"epml_pat": MASK, "other": "1"})
    done = filled.apply(bundle)
    assert done.code == 0 and "epml_pat" in done.err
    assert filled.target.dashctl("config", "get", "epml_pat", "--reveal").out.strip() == "real"


def test_an_import_prints_how_to_undo_it_and_rollback_does(filled):
    filled.target.set(cloud1_access_key_id="before")
    before = filled.target_config()
    done = filled.apply(filled.export())
    undo = next(line for line in done.out.splitlines() if line.startswith("undo: dashctl "))
    words = undo.removeprefix("undo: dashctl migrate ").split()
    back = filled.migrate(words[0], *words[1:])
    assert back.code == 0, back
    assert filled.target_config() == before


# --- bundles as people handle them ---


def test_the_specs_four_sections_alone_are_enough(filled):
    bundle = write_bundle(filled.scratch / "b.json", config={"azure_tenant_id": "t"},
                          regions={"azure": {"West US 2": {"gallery_name": "g"}}}, excluded={}, annotations={})
    assert filled.apply(bundle).code == 0
    assert filled.target_config()["cloud2_tenant_id"] == "t"


def test_an_edit_is_accepted_with_a_note(filled):
    path = filled.export()
    bundle = json.loads(path.read_text())
    bundle["config"]["cloud1_access_key_id"] = "EDITED"
    path.write_text(json.dumps(bundle))
    done = filled.apply(path)
    assert done.code == 0 and "edited since it was exported" in done.err
    assert filled.target_config()["cloud1_access_key_id"] == "EDITED"


def test_laying_a_bundle_out_anew_is_no_edit(filled):
    path = filled.export()
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert "edited" not in filled.diff(path).err


def test_a_bundle_that_others_can_read_is_used_with_a_loud_warning(filled):
    path = filled.export()
    path.chmod(0o644)
    done = filled.diff(path, "--quiet")
    assert done.code == 0 and "OTHER USERS CAN READ" in done.err


@pytest.mark.parametrize("text, reason", [
    ('{"config": {"a": "1"', "cut or damaged"),
    ("", "cut or damaged"),
    ("[1]", "not a JSON object"),
    ('{"schema": 2, "config": {"a": "1"}}', "newer"),
    ('{"config": {}}', "nothing to write"),
    ('{"config": ["a"]}', "'config' is not an object"),
    ('{"config": {"aws_x": "1", "cloud1_x": "2"}}', "both spellings"),
    ('{"config": {"jwt_secret_key": "1"}}', "held back"),
])
def test_a_bundle_that_cannot_be_used_is_refused_with_name_and_reason(filled, text, reason):
    path = filled.scratch / "broken.json"
    path.touch(mode=0o600)
    path.write_text(text)
    done = filled.apply(path)
    assert done.code == 9, done
    assert "broken.json" in done.err and reason in done.err
    assert filled.target_config() == {}


def test_a_missing_bundle_is_named(filled):
    done = filled.diff(filled.scratch / "nope.json")
    assert done.code == 9 and "nope.json" in done.err


def test_shred_removes_bundles_and_refuses_links(filled):
    path = filled.export()
    link = filled.scratch / "link"
    link.symlink_to(path)
    assert run("migrate", "shred", link).code == 1 and path.exists()
    done = run("migrate", "shred", path)
    assert done.code == 0 and not path.exists()


def test_bundles_older_than_a_day_are_warned_about(filled):
    old = Path(filled.migrate("export", "--source", filled.source.url).out.strip())
    os.utime(old, (1, 1))
    assert f"shred {old}" in filled.migrate("export", "--source", filled.source.url).err


# --- spelling ---


def test_an_instance_that_speaks_the_providers_names_is_source_and_target(filled):
    filled.source.set(cloud_names="provider")
    filled.target.set(cloud_names="provider")
    assert "aws_access_key_id" in filled.root.get("/api/setup/config").json
    bundle = filled.export()
    assert "cloud1_access_key_id" in json.loads(bundle.read_text())["config"]
    done = filled.apply(bundle)
    assert done.code == 0, done
    assert filled.target_config()["aws_access_key_id"] == "AKIAEXAMPLE"
    assert filled.target_config()["storage_active_backend"] == "s3"
    assert "already matches" in filled.apply(bundle).out


# --- first run ---


def test_a_fresh_target_is_claimed_with_its_setup_code(filled, make_instance):
    fresh = make_instance("fresh", admin=False)
    code = filled.scratch / "code"
    code.write_text((fresh.folder / "setup-code").read_text())
    admin = filled.scratch / "admin-password"
    admin.write_text("a long new password\n")
    bundle = filled.export()
    flags = ["--bundle", bundle, "--target", fresh.url]
    refused = filled.migrate("import", *flags, "--apply", login=False)
    assert refused.code == 2 and "--bootstrap-admin" in refused.err
    wrong = filled.scratch / "wrong"
    wrong.write_text("0000-0000")
    done = filled.migrate("import", *flags, "--apply", "--setup-code-file", wrong, "--bootstrap-admin", "boss",
                          "--bootstrap-password-file", admin, login=False)
    assert done.code == 8, done
    done = filled.migrate("import", *flags, "--apply", "--setup-code-file", code, "--bootstrap-admin", "boss",
                          "--bootstrap-password-file", admin, login=False)
    assert done.code == 0, done
    assert "read back: everything is SAME" in done.out
    boss = fresh.login("boss", "a long new password")
    assert boss.get("/api/setup/config").json["cloud1_access_key_id"] == "AKIAEXAMPLE"


# --- errors and authentication ---


def test_a_target_that_is_not_there_is_named(filled):
    url = f"http://127.0.0.1:{free_port()}"
    done = filled.migrate("diff", "--bundle", filled.export(), "--target", url)
    assert done.code == 7 and f"Cannot reach {url}" in done.err


def test_something_else_that_answers_is_no_dashboard(filled):
    done = filled.migrate("diff", "--bundle", filled.export(), "--target", filled.target.url + "/nope")
    assert done.code == 7 and "Cannot reach" in done.err


def test_a_personal_access_token_is_recognised_before_any_call(filled):
    token = filled.source.token("root")
    done = run("migrate", "export", "--source", f"http://127.0.0.1:{free_port()}", "--token", token, "--out",
               filled.scratch / "x")
    assert done.code == 8 and "personal access token" in done.err
    assert token not in done.err


def test_a_jwt_works_as_token_and_as_token_file(filled):
    jwt = filled.root.token
    assert run("migrate", "export", "--source", filled.source.url, "--token", jwt, "--out", filled.scratch / "x").code == 0
    done = run("migrate", "export", "--source", filled.source.url, "--token-file", "-", "--out", filled.scratch / "y",
               stdin=jwt + "\n")
    assert done.code == 0, done


def test_a_wrong_password_and_a_stranger_are_told(filled):
    wrong = filled.scratch / "wrong"
    wrong.write_text("wrong")
    done = run("migrate", "export", "--source", filled.source.url, "--admin-user", "root", "--password-file", wrong)
    assert done.code == 8 and "login" in done.err
    filled.source.add_user("mallory")
    done = run("migrate", "export", "--source", filled.source.url, "--admin-user", "mallory", "--password-file",
               filled.password_file, "--out", filled.scratch / "x")
    assert done.code == 8 and "Admin access required" in done.err


def test_a_missing_password_without_a_terminal_names_the_flag(filled):
    done = run("migrate", "export", "--source", filled.source.url, "--admin-user", "root", "--no-input")
    assert done.code == 2 and "--password-file" in done.err


def test_throttled_logins_tell_how_long(filled):
    wrong = filled.scratch / "wrong"
    wrong.write_text("wrong")
    args = ["migrate", "export", "--source", filled.source.url, "--admin-user", "root", "--password-file", wrong]
    done = next(d for d in (run(*args) for _ in range(15)) if "answered 429" in d.err)
    assert done.code == 8 and "try again in" in done.err


def test_an_unregistered_vault_is_warned_about_until_it_is_registered(filled):
    bundle = filled.export()
    done = filled.diff(bundle)
    assert "vault 'primary'" in done.err and "not registered" in done.err
    answer = filled.target.login("root").post("/api/secrets/vaults", {"id": "primary", "backend": "azure_kv"})
    assert answer.status == 201, answer
    assert "vault" not in filled.diff(bundle).err


def test_insecure_is_warned_about_every_time(filled):
    done = run("migrate", "export", "--source", f"https://127.0.0.1:{free_port()}", "--insecure", "--token", "x.y.z")
    assert "not verified" in done.err


def test_usage_errors_exit_two(filled):
    for args in (["diff"], ["diff", "--bundle"], ["import", "--nope"], ["export", "--via", "pigeon"], ["nope"], [],
                 ["export", "--source", "ftp://x"], ["export", "--source", "http://u:p@h"]):
        done = run("migrate", *args)
        assert done.code == 2, (args, done)


def test_an_error_in_json_mode_is_one_document(filled):
    done = filled.diff(filled.scratch / "nope.json", "--output", "json")
    assert done.json["schema"] == 1 and done.json["error"]["code"] == "integrity"
    assert "nope.json" in done.err
