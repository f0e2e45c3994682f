package admission.prod_window_test

import data.admission.prod_window

ask(action, day, frozen) := reasons if {
	reasons := prod_window.deny with input as {
		"action": action,
		"request": {},
		"limits": {"prod_window": frozen},
		"now": {"weekday": day},
	}
}

test_inert_when_the_list_is_empty if ask("cloud1:vm:deploy", "sat", []) == set()

test_denies_on_a_frozen_day if {
	ask("cloud1:vm:deploy", "sat", ["sat", "sun"]) == {`cloud1:vm:deploy is frozen on sat (change-freeze window ["sat", "sun"])`}
}

test_admits_on_another_day if ask("cloud1:vm:deploy", "fri", ["sat", "sun"]) == set()

test_freezes_teardowns_too if count(ask("cloud1:vm:destroy", "sun", ["sun"])) == 1
