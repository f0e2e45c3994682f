"""What an import and its undo count, and what the command says that an undo cannot do."""
import json
import re

from support.migrate import write_bundle


def number(pattern, text):
    found = re.search(pattern, text)
    return int(found[1]) if found else 0


def undo_words(done):
    return next(line for line in done.out.splitlines() if line.startswith("undo: ")).removeprefix("undo: dashctl migrate ").split()


def test_a_rollback_counts_as_the_import_counted(filled):
    bundle = write_bundle(filled.scratch / "b.json", config={"a": "1", "cloud1_access_key_id": "k", "epml_pat": "s"},
                          regions={"aws": {"us-east-1": {"vpc_id": "v", "vpc_cidr": "c"}}, "azure": {"westus2": {"gallery_name": "g"}}})
    before = filled.target_config()
    done = filled.apply(bundle)
    back = filled.migrate(*undo_words(done))
    assert number(r"wrote (\d+) keys", done.out) == number(r"restored (\d+) keys", back.out) == 3, (done, back)
    assert "regions: us-east-1, westus2" in done.out and "regions: us-east-1, westus2" in back.out
    assert filled.target_config() == before
    again = filled.apply(bundle, "--output", "json")
    words = again.json["undo"].removeprefix("dashctl migrate ").split()
    document = filled.migrate(*words, "--output", "json").json
    assert len(document["restored"]) == again.json["applied"]["keys_written"] == 3
    assert document["regions_restored"] == again.json["applied"]["regions_merged"]


def test_both_doors_count_alike(filled):
    bundle = write_bundle(filled.scratch / "b.json", config={"a": "1"}, regions={"aws": {"us-east-1": {"vpc_id": "v"}}})
    folder = filled.target.folder
    done = filled.migrate("import", "--bundle", bundle, "--data-dir", folder, "--apply", login=False)
    change = undo_words(done)[2]
    back = filled.migrate("rollback", "--change", change, "--data-dir", folder, "--output", "json", login=False)
    assert back.json["restored"] == ["a"] and back.json["regions_restored"] == ["us-east-1"], back


def test_only_regions_are_counted_as_regions(filled):
    bundle = write_bundle(filled.scratch / "b.json", regions={"aws": {"us-east-1": {"vpc_id": "v"}}})
    done = filled.apply(bundle)
    assert done.code == 0 and "regions: us-east-1" in done.out and " 0 keys" not in done.out + done.err, done
    back = filled.migrate(*undo_words(done))
    assert back.code == 0 and "regions: us-east-1" in back.out and " 0 keys" not in back.out + back.err, back


def test_what_changed_only_is_undone_whole_and_nothing_is_said_about_it(filled, peer):
    before = dict(peer.config)
    bundle = write_bundle(filled.scratch / "b.json", config={"cloud1_access_key_id": "new"},
                          regions={"azure": {"westus2": {"gallery_name": "h"}, "eastus": {"gallery_name": "i"}}})
    done = filled.migrate("import", "--bundle", bundle, "--target", peer.url, "--apply")
    assert done.code == 0 and "keeps no history" not in done.err and " 0 " not in done.err, done
    assert filled.migrate(*undo_words(done)).code == 0
    assert peer.config["aws_access_key_id"] == before["aws_access_key_id"]
    assert json.loads(peer.config["azure_region_configs"]) == {"westus2": {"gallery_name": "g"}}


def test_the_sentence_names_what_was_added_and_what_is_masked_and_no_more(filled, peer):
    bundle = write_bundle(filled.scratch / "b.json",
                          config={"cloud1_access_key_id": "new", "added": "1", "cloud1_secret_access_key": "s"},
                          regions={"aws": {"us-east-1": {"vpc_id": "v"}}})
    only = ["import", "--bundle", bundle, "--target", peer.url, "--apply", "--only"]
    added = filled.migrate(*only, "added")
    assert "cannot remove 1 added key\n" in added.err, added
    masked = filled.migrate(*only, "cloud1_secret")
    assert "cannot bring back the values of 1 masked key\n" in masked.err, masked
    region = filled.migrate(*only, "cloud1_region.")
    assert "cannot remove 1 added key\n" in region.err, region  # there was no set that the snapshot could put back
    assert "keeps no history" not in filled.migrate(*only, "cloud1_access").err


def test_webhooks_alone_leave_no_undo_to_speak_of(filled):
    bundle = write_bundle(filled.scratch / "b.json", notification_endpoints=[{"name": "ops", "url": "https://hooks.example/x"}])
    done = filled.apply(bundle)
    assert done.code == 0 and "notification endpoints: 1" in done.out, done
    assert "undo: " not in done.out and " 0 keys" not in done.out and "by that" not in done.err
    assert "notification endpoints are not undone" in done.err
