package admission.instance_size_caps_test

import data.admission.instance_size_caps

ask(action, request, denied) := reasons if {
	reasons := instance_size_caps.deny with input as {
		"action": action,
		"request": request,
		"limits": {"denied_instance_types": denied},
	}
}

deploy(type, denied) := ask("cloud2:vm:deploy", {"instance_type": type}, denied)

test_inert_when_the_list_is_empty if deploy("p4d.24xlarge", []) == set()

test_denies_a_blocked_size if deploy("p4d.24xlarge", ["p4d.24xlarge"]) == {`instance type "p4d.24xlarge" is blocked by policy`}

test_letters_of_any_size_are_the_same if {
	deploy(" Standard_ND96 ", ["standard_nd96"]) == {`instance type "Standard_ND96" is blocked by policy`}
}

test_admits_another_size if deploy("t3.medium", ["p4d.24xlarge", "t3"]) == set()

test_no_size_is_not_a_size if {
	deploy("", [""]) == set()
	deploy(null, ["null"]) == set()
	ask("cloud2:vm:deploy", {}, ["p4d.24xlarge"]) == set()
}

test_teardowns_pass if ask("cloud2:vm:destroy", {"instance_type": "p4d.24xlarge"}, ["p4d.24xlarge"]) == set()
