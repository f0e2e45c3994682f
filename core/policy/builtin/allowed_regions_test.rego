package admission.allowed_regions_test

import data.admission.allowed_regions

ask(action, request, allowed) := reasons if {
	reasons := allowed_regions.deny with input as {
		"action": action,
		"request": request,
		"limits": {"allowed_regions": allowed},
	}
}

deploy(region, allowed) := ask("cloud1:vm:deploy", {"region": region}, allowed)

test_inert_when_the_list_is_empty if deploy("mars-1", []) == set()

test_admits_a_listed_region if deploy("us-east-1", ["eu-west-1", "us-east-1"]) == set()

test_denies_and_names_region_and_list if {
	deploy("eu-west-1", ["us-east-1", "us-west-2"]) == {`region "eu-west-1" is not in the allowed list ["us-east-1", "us-west-2"]`}
}

test_quotes_what_was_typed if {
	request := {"region": "eu-west-1", "typed": {"region": " EU-West-1", "allowed_regions": ["US-East-1"]}}
	ask("cloud1:vm:deploy", request, ["us-east-1"]) == {`region " EU-West-1" is not in the allowed list ["US-East-1"]`}
}

test_escapes_a_hostile_region if deploy("a\"b\n", ["us-east-1"]) == {`region "a\"b\n" is not in the allowed list ["us-east-1"]`}

test_no_region_is_not_a_region if {
	deploy("", ["us-east-1"]) == set()
	ask("cloud1:vm:deploy", {}, ["us-east-1"]) == set()
}

test_null_is_denied if deploy(null, ["us-east-1"]) == {`region "null" is not in the allowed list ["us-east-1"]`}

test_admits_a_zone_of_a_listed_region if {
	deploy("us-central1-a", ["us-central1"]) == set()
	deploy("us-east-1a", ["us-east-1"]) == set()
	count(deploy("us-central1-a", ["us-central2"])) == 1
}

test_admits_a_listed_zone if {
	deploy("us-central1-a", ["us-central1-a"]) == set()
	ask("cloud3:vm:deploy", {"region": "us-central1", "zone": "us-central1-a"}, ["us-central1-a"]) == set()
	count(ask("cloud3:vm:deploy", {"region": "us-central1", "zone": "us-central1-b"}, ["us-central1-a"])) == 1
}

test_a_foreign_zone_does_not_open_a_region if {
	count(ask("cloud3:vm:deploy", {"region": "mars-1", "zone": "us-central1-a"}, ["us-central1-a"])) == 1
}

test_teardowns_pass if {
	every verb in ["destroy", "decommission", "delete", "teardown"] {
		ask(concat(":", ["cloud1:vm", verb]), {"region": "mars-1"}, ["us-east-1"]) == set()
	}
	ask("destroy", {"region": "mars-1"}, ["us-east-1"]) == set()
}

test_only_the_verb_exempts if {
	every action in ["x:Destroy", "x:destroyed", "x:destroy:bulk", "destroy:x", ""] {
		count(ask(action, {"region": "mars-1"}, ["us-east-1"])) == 1
	}
}
