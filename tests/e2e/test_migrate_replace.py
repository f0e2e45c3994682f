"""--regions replace wipes nothing without a word, whatever dashboard is on the other side."""
import json

from support.migrate import counts, keys_of, write_bundle

WORKING = {"us-east-1": {"vpc_id": "vpc-1"}, "eu-west-1": {"vpc_id": "vpc-2"}}


def under(done, heading):
    """The lines that stand under a heading of the comparison."""
    lines = done.out.splitlines()
    start = lines.index(f"  {heading}") + 1
    return [line.strip() for line in lines[start:] if line.startswith("      ")]


def replace(migration, bundle, url, *flags, action="import"):
    return migration.migrate(action, "--bundle", bundle, "--target", url, "--regions", "replace", *flags)


def test_sets_that_the_other_kind_cannot_keep_are_not_replaced(filled, peer):
    peer.config["aws_region_configs"] = json.dumps(WORKING)
    bundle = write_bundle(filled.scratch / "b.json", config={"cloud1_access_key_id": "new"},
                          regions={"cloud1": {"us-east-1": {"of_dashctl_alone": "x"}}, "cloud4": {"eu": {"compartment": "c"}}})
    seen = replace(filled, bundle, peer.url)
    assert seen.code == 0 and not peer.imports, seen
    assert "would drop: cloud1_region.us-east-1.of_dashctl_alone" in seen.err
    assert "not replaced: cloud1" in seen.err and "not replaced: cloud4" in seen.err
    assert "would vanish" not in seen.out and keys_of(seen, "CHANGE") == ["cloud1_access_key_id"]
    done = replace(filled, bundle, peer.url, "--apply")
    assert done.code == 5 and "cloud1, cloud4 were not replaced" in done.err, done
    assert "everything is SAME" not in done.out
    assert peer.imports == [{"aws_access_key_id": "new"}]
    assert json.loads(peer.config["aws_region_configs"]) == WORKING
    again = replace(filled, bundle, peer.url, "--apply", "--output", "json")
    assert again.code == 5 and again.json["not_replaced"] == ["cloud1", "cloud4"], again
    assert again.json["error"]["code"] == "partial" and len(peer.imports) == 1


def test_what_the_other_kind_can_keep_replaces_its_sets_without_the_rest(filled, peer):
    peer.config["aws_region_configs"] = json.dumps(WORKING)
    bundle = write_bundle(filled.scratch / "b.json",
                          regions={"aws": {"us-east-1": {"vpc_id": "vpc-9", "of_dashctl_alone": "x"}}})
    seen = replace(filled, bundle, peer.url, action="diff")
    assert "would drop: cloud1_region.us-east-1.of_dashctl_alone" in seen.err
    assert under(seen, "would vanish:") == ["cloud1_region.eu-west-1"]
    done = replace(filled, bundle, peer.url, "--apply")
    assert done.code == 0 and "everything is SAME" in done.out, done
    assert json.loads(peer.config["aws_region_configs"]) == {"us-east-1": {"vpc_id": "vpc-9"}}


def test_regions_that_would_vanish_stand_below_the_categories_before_anything_is_written(filled):
    target = filled.target.login("root")
    sets = {"US-EAST-1": {"vpc_id": "old", "vpc_cidr": "10.0.0.0/8"}, "eu-west-1": {"vpc_id": "v"}}
    target.post("/api/setup/import", {"config": {"cloud1_region_configs": json.dumps(sets)}, "regions": "replace"})
    before = filled.target_config()
    bundle = write_bundle(filled.scratch / "b.json", regions={"cloud1": {"us-east-1": {"vpc_id": "new"}}})
    seen = replace(filled, bundle, filled.target.url)
    assert under(seen, "would vanish:") == ["cloud1_region.eu-west-1"]
    assert seen.out.index("SAME: ") < seen.out.index("would vanish:")
    assert "would lose: cloud1_region.us-east-1.vpc_cidr" in seen.err
    document = replace(filled, bundle, filled.target.url, "--output", "json", action="diff").json
    assert document["would_vanish"] == ["cloud1_region.eu-west-1"]
    assert document["would_lose"] == ["cloud1_region.us-east-1.vpc_cidr"]
    assert filled.target_config() == before
    assert "would vanish" not in filled.diff(bundle).out
    assert replace(filled, bundle, filled.target.url, "--apply").code == 0
    assert json.loads(filled.target_config()["cloud1_region_configs"]) == {"us-east-1": {"vpc_id": "new"}}


def test_a_cloud_without_a_field_in_the_bundle_is_not_replaced_on_any_target(filled):
    target = filled.target.login("root")
    target.post("/api/setup/import", {"config": {"cloud1_region.eu-west-1.vpc_id": "v"}})
    bundle = write_bundle(filled.scratch / "b.json", config={"some_key": "1"}, regions={"aws": {"eu-west-1": {"vpc_id": " "}}})
    done = replace(filled, bundle, filled.target.url, "--apply")
    assert done.code == 5 and "cloud1 were not replaced" in done.err, done
    assert json.loads(filled.target_config()["cloud1_region_configs"]) == {"eu-west-1": {"vpc_id": "v"}}
    assert replace(filled, bundle, filled.target.url, "--apply", "--only", "some_").code == 0


def test_merging_into_the_other_kind_is_as_it_was(filled, peer):
    peer.config["aws_region_configs"] = json.dumps(WORKING)
    bundle = write_bundle(filled.scratch / "b.json", regions={"aws": {"us-east-1": {"vpc_cidr": "c", "of_dashctl_alone": "x"}}})
    done = filled.migrate("import", "--bundle", bundle, "--target", peer.url, "--apply")
    assert done.code == 0 and "would drop" in done.err and "would vanish" not in done.out, done
    assert counts(done) == {"ADD": 1, "CHANGE": 0, "UNKNOWN": 0, "SAME": 0}
    assert json.loads(peer.config["aws_region_configs"])["us-east-1"] == {"vpc_id": "vpc-1", "vpc_cidr": "c"}
