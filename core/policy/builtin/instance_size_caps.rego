# Denies a deploy of a blocked size or class (setting admission_denied_instance_types), in any spelling of its letters.
# Inert while the list is empty. Teardowns pass.
package admission.instance_size_caps

deny contains reason if {
	not teardown
	is_string(input.request.instance_type)
	asked := trim_space(input.request.instance_type)
	asked != ""
	lower(asked) in input.limits.denied_instance_types
	reason := sprintf("instance type %q is blocked by policy", [asked])
}

teardown if {
	words := split(input.action, ":")
	words[count(words) - 1] in {"destroy", "decommission", "delete", "teardown"}
}
