"""A bundle is canonical; `export --names provider` writes one for the own tool of a dashboard with the providers' names."""
import json
import re
import urllib.request

import pytest

from support.migrate import counts, write_bundle
from support.program import run

MODEL = {"aws": {"vpc_id", "default_subnet_id"}, "azure": {"gallery_name", "resource_group"}, "gcp": {"zone"}}


def import_as_their_own_tool(path, url):
    """What the Python dashboard's tool does with a bundle: strict about schema and meta, blind to other names than its own."""
    bundle = json.loads(path.read_text(encoding="utf-8"))
    assert isinstance(bundle, dict) and bundle["schema"] == 1
    meta = bundle["meta"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", meta["exported_at"])
    assert meta["export_method"] in ("http", "docker") and isinstance(meta["source_url"], str) and meta["git_commit"] == ""
    assert set(meta["counts"]) == {"portable", "excluded", "masked", "vault_ref", "regions", "endpoints"}
    payload, dropped = dict(bundle["config"]), []
    for cloud, regions in bundle["regions"].items():
        for region, fields in regions.items():
            for field, value in fields.items():
                if field in MODEL.get(cloud, ()):
                    payload[f"{cloud}_region.{region}.{field}"] = value
                else:
                    dropped.append(f"{cloud}.{region}.{field}")
    assert not any(str(value).startswith("••") for value in payload.values())
    request = urllib.request.Request(url + "/api/setup/import", json.dumps({"config": payload}).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer)["ok"]
    return dropped


def export_for_them(migration, *flags):
    out = migration.scratch / "theirs.json"
    done = run("migrate", "export", "--data-dir", migration.source.folder, "--names", "provider", "--out", out, *flags)
    assert done.code == 0, done
    return out


def test_a_bundle_is_canonical_unless_asked_for_the_providers_names(filled):
    ours = json.loads(filled.export().read_text())
    assert ours["config"]["storage_active_backend"] == "obj_cloud1" and "cloud2" in ours["regions"]
    theirs = json.loads(export_for_them(filled).read_text())
    assert theirs["config"]["storage_active_backend"] == "s3" and "azure" in theirs["regions"]
    assert not [key for section in ("config", "regions", "excluded", "annotations") for key in theirs[section] if "cloud1" in key]


def test_the_other_dashboards_own_tool_takes_it_and_nothing_is_left_to_do(filled, peer):
    bundle = export_for_them(filled)
    assert import_as_their_own_tool(bundle, peer.url) == []
    assert peer.config["aws_secret_access_key"] == "a secret of the source"
    assert json.loads(peer.config["azure_region_configs"])["westus2"]["gallery_name"] == "gallery"
    ours = filled.migrate("diff", "--bundle", filled.export(), "--target", peer.url)
    assert counts(ours)["ADD"] == counts(ours)["CHANGE"] == 0, ours


def test_dashctl_reads_it_too_and_finds_no_edit(filled):
    bundle = export_for_them(filled)
    done = filled.apply(bundle)
    assert done.code == 0 and "edited" not in done.err, done
    assert filled.target_config()["storage_active_backend"] == "obj_cloud1"
    assert "already matches" in filled.apply(filled.export()).out


def test_the_providers_names_work_over_http_and_on_stdout(filled):
    done = filled.migrate("export", "--source", filled.source.url, "--names", "provider", "--out", "-")
    assert done.code == 0 and done.json["config"]["aws_access_key_id"] == "AKIAEXAMPLE", done
    assert done.json["excluded"]["aws_secret_access_key"] == "masked"


@pytest.mark.parametrize("flags", [["--names", "pigeon"], ["--names="], ["--names", "provider", "--encrypt"]])
def test_other_names_and_a_seal_that_only_dashctl_opens_are_usage_errors(filled, flags):
    done = run("migrate", "export", "--data-dir", filled.source.folder, "--out", filled.scratch / "x.json", *flags)
    assert done.code == 2 and not (filled.scratch / "x.json").exists(), done


@pytest.mark.parametrize("regions", [{"aws": {"r": {"vpc_id": "1"}}, "cloud1": {"r": {"vpc_id": "2"}}},
                                     {"azure": {"West US 2": {"gallery_name": "1"}, "westus2": {"gallery_name": "2"}}}])
@pytest.mark.parametrize("how", ["merge", "replace"])
def test_a_region_that_a_bundle_gives_twice_in_either_spelling_must_agree(filled, regions, how):
    bundle = write_bundle(filled.scratch / "b.json", regions=regions)
    done = filled.apply(bundle, "--regions", how)
    assert done.code == 9 and "twice, with different values" in done.err, done
    assert "cloud1_region_configs" not in filled.target_config() and "cloud2_region_configs" not in filled.target_config()
    agreeing = json.loads(json.dumps(regions).replace('"2"', '"1"'))
    assert filled.apply(write_bundle(bundle, regions=agreeing), "--regions", how).code == 0
