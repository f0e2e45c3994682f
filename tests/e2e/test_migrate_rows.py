"""What moves, what is held back and who may ask: the tables of spec 3, row by row."""
import json
import re

import pytest

from support.databases import dump, put_back
from support.http_client import Http
from support.instance import PASSWORD
from support.migrate import MASK, counts, write_bundle
from support.program import ROOT

PANELS = ["password_safe", "pra", "epml", "portainer", "ansible", "entitle", "cloud_database", "k8s_management", "cost_explorer",
          "admission_control", "resource_expiry", "notifications", "oidc", "worker", "vdesktops", "cloud_functions",
          "workload_credentials", "remote_agents", "secrets_backend"]
ON_PREM_PANELS = ["vmware", "proxmox", "vsphere", "hyperv", "nutanix", "xcpng"]
PREVIEW = ["vdesktops_enabled", "cloud_functions_enabled", "workload_credentials_enabled"]
REFERENCES = {"epml_pat": "aws_sm://dashboard/pat", "oidc_client_secret": "azure_kv://primary/oidc", "wlc_pat": "gcp_sm://pat",
              "entitle_api_key": "bt_safe://Folder/key", "pra_config_api_client_secret": "wlc://name"}
HELD = {"instance_local": ["public_base_url", "trusted_proxy_hosts", "agent_base_url", "webauthn_origin", "api_host", "database_url",
                           "jwt_secret_key", "setup_complete"],
        "runtime_handle": ["rancher_server_url", "rancher_api_token", "portainer_url", "portainer_pat", "entitle_agent_token_ref",
                           "rancher_ui_web_jump_tfstate", "resource_expiry_armed_at"],
        "local_path": ["ssh_key_file", "log_dir", "epml_rpm_path"],
        "on_prem": ["vsphere_host", "vsphere_password", "proxmox_token_secret", "vmware_enabled"]}


def keys_of_panel(panel):
    """Settings of the panel that travel, from the registry, with a value of their type."""
    values = {"bool": "1", "int": "7", "float": "1.5"}
    text = (ROOT / "core/config/keys.yaml").read_text(encoding="utf-8")
    found = re.findall(rf"^(\w+): (\w+) {panel}/\w+((?: \S+)*)$", text, re.M)
    return {key: values.get(kind, "text") for key, kind, flags in found if "held=" not in flags}


def moved(migration, config, *flags):
    """The target's settings after the whole of the source's moved through a bundle."""
    done = migration.root.post("/api/setup/import", {"config": config})
    assert done.status == 200 and not done.json["refused"], done
    bundle = migration.scratch / "whole.json"
    assert migration.source.dashctl("migrate", "export", "--out", bundle, *flags).code == 0
    done = migration.apply(bundle, *flags)
    assert done.code == 0 and "everything is SAME" in done.out, done
    shown = migration.target.dashctl("config", "list", "--output", "json")
    assert shown.code == 0, shown
    return migration.target_config(), json.loads(bundle.read_text())


def test_settings_of_every_panel_and_every_preview_flag_move(pair):
    config = dict.fromkeys(PREVIEW, "1")
    for panel in PANELS:
        keys = {k: v for k, v in keys_of_panel(panel).items() if not k.startswith("admission_")}
        config.update(dict(list(keys.items())[:3]))
    config.update({"admission_control_enabled": "0", "admission_allowed_regions": "us-east-1", "deploy_plan_approval": "changes"})
    assert all(any(key in config for key in keys_of_panel(panel)) for panel in PANELS), config
    target, _ = moved(pair, config)
    assert {key: value for key, value in target.items() if value != MASK} == {
        key: value for key, value in config.items() if target.get(key) != MASK}


def test_on_premises_panels_move_when_asked_for_only(pair):
    config = {key: value for panel in ON_PREM_PANELS for key, value in list(keys_of_panel(panel).items())[:2]}
    assert len(config) > len(ON_PREM_PANELS)
    target, bundle = moved(pair, {**config, "some_key": "1"})
    assert list(target) == ["some_key"] and all(bundle["excluded"][key] == "on_prem" for key in config)
    target, bundle = moved(pair, config, "--include-on-prem")
    assert set(target) == {*config, "some_key"} and not bundle["excluded"]


def test_credentials_of_the_four_clouds_move_whole(pair):
    secrets = {"cloud1_secret_access_key": "one", "cloud2_client_secret": "two", "cloud3_service_account_json": '{"k": "three"}',
               "cloud4_private_key": "four"}
    target, bundle = moved(pair, {**secrets, "cloud1_access_key_id": "id", "cloud4_tenancy_ocid": "t"})
    assert {key: bundle["config"][key] for key in secrets} == secrets
    assert all(target[key] == MASK for key in secrets)
    for key, value in secrets.items():
        assert pair.target.dashctl("config", "get", key, "--reveal").out.strip() == value


def test_a_vault_reference_travels_as_the_reference(pair):
    target, bundle = moved(pair, REFERENCES)
    assert {key: target[key] for key in REFERENCES} == REFERENCES
    assert all(bundle["annotations"][key]["vault_ref"] for key in REFERENCES)


@pytest.mark.parametrize("reason", HELD)
def test_a_held_back_group_is_excluded_with_its_reason_and_refused_by_both_sides(pair, reason):
    config = dict.fromkeys(HELD[reason], "x")
    assert pair.root.put("/api/setup/config", {**config, "some_key": "1"}).status == 200
    bundle = json.loads(pair.export().read_text())
    assert bundle["config"] == {"some_key": "1"}
    assert {key: bundle["excluded"][key] for key in config} == dict.fromkeys(config, reason)
    edited = write_bundle(pair.scratch / "edited.json", config={**config, "some_key": "1"})
    done = pair.apply(edited)
    assert done.code == 0 and all(f"refused: {key} ({reason})" in done.err for key in config), done
    assert pair.target_config() == {"some_key": "1"}
    answer = pair.target.login("root").post("/api/setup/import", {"config": {**config, "other": "1"}, "include_on_prem": False})
    assert answer.json["refused"] == dict.fromkeys(config, reason)


def test_a_copied_database_reads_as_empty_under_another_key_with_one_line_a_key(pair, make_instance):
    pair.root.post("/api/setup/import", {"config": {"cloud1_secret_access_key": "plain text", "some_key": "1"}})
    pair.source.stop()
    copied = dump(pair.source)
    assert b"plain text" not in copied
    copy = make_instance("copy", start=False)
    put_back(copy, copied)
    root = copy.start().login("root")
    for _ in range(3):
        assert root.get("/api/setup/config").json in ({}, {"cloud1_secret_access_key": "", "some_key": ""})
    lines = [line for line in copy.log if '"level":"error"' in line]
    assert sorted(key for line in lines for key in ("cloud1_secret_access_key", "some_key") if key in line) == [
        "cloud1_secret_access_key", "some_key"], lines
    pair.source.start()


def test_who_may_ask_the_setup_endpoints(pair):
    pair.source.add_user("mallory")
    port = pair.source.port
    callers = {"nobody": Http(port), "token": Http(port, pair.source.token("root")), "garbage": Http(port, "a.b.c"),
               "user": pair.source.login("mallory"), "admin": pair.root}
    assert {name: caller.get("/api/setup/status").status for name, caller in callers.items()} == dict.fromkeys(callers, 200)
    wanted = {"nobody": 401, "token": 401, "garbage": 401, "user": 403, "admin": 200}
    assert {name: caller.get("/api/setup/config").status for name, caller in callers.items()} == wanted
    imports = {name: caller.post("/api/setup/import", {"config": {"who": name}}).status for name, caller in callers.items()}
    assert imports == wanted
    assert pair.root.get("/api/setup/config").json == {"who": "admin"}


def test_a_snapshot_of_the_target_can_be_imported_again(filled):
    filled.target.set(cloud1_access_key_id="before", cloud1_region="us-east-2")
    snapshot = filled.scratch / "before.json"
    assert filled.migrate("export", "--source", filled.target.url, "--out", snapshot).code == 0
    assert filled.apply(filled.export()).code == 0
    assert filled.apply(snapshot).code == 0
    assert filled.target_config()["cloud1_access_key_id"] == "before"


def test_a_login_with_a_token_of_each_kind(filled):
    expired = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJyb290IiwiZXhwIjoxfQ.c2ln"
    done = filled.migrate("export", "--source", filled.source.url, "--token", expired, login=False)
    assert done.code == 8 and "Invalid or expired token" in done.err, done
    done = filled.migrate("export", "--source", filled.source.url, "--token", filled.root.token, "--out", "-", login=False)
    assert done.code == 0 and done.json["config"], done
    pat = filled.scratch / "pat"
    pat.write_text(filled.source.token("root"))
    done = filled.migrate("export", "--source", filled.source.url, "--admin-user", "root", "--password-file", pat, login=False)
    assert done.code == 8 and "personal access token" in done.err and PASSWORD not in done.err, done


def test_webhooks_that_share_a_name_stay_the_rows_they_are(filled):
    def rows(instance):
        out = filled.scratch / f"{instance.folder.name}.json"
        assert instance.dashctl("migrate", "export", "--out", out).code == 0
        return sorted(json.loads(out.read_text())["notification_endpoints"], key=lambda row: row["url"])

    route = "/api/notifications/endpoints"
    for n, more in enumerate([{"secret": "s"}, {"fmt": "slack"}, {}, {}]):
        assert filled.root.post(route, {"name": "ops", "url": f"https://hooks.example/{n}", **more}).status == 200
    bundle = filled.scratch / "whole.json"
    assert filled.source.dashctl("migrate", "export", "--out", bundle).code == 0
    assert filled.apply(bundle).code == 0
    assert rows(filled.target) == rows(filled.source)
    again = filled.apply(bundle)
    assert again.code == 0 and "already matches, nothing written" in again.out, again

    target = filled.target.login("root")
    changed = target.get(route).json["endpoints"][0]["id"]
    assert target.patch(f"{route}/{changed}", {"url": "https://elsewhere.example/"}).status == 200
    done = filled.diff(bundle)
    assert counts(done)["CHANGE"] == 1 and counts(done)["ADD"] == 0, done
    assert filled.apply(bundle).code == 0
    assert rows(filled.target) == rows(filled.source)
