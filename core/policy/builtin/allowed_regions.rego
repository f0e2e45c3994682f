# Denies a deploy outside of the allowed regions (setting admission_allowed_regions). Inert while the list is empty.
# Teardowns pass: a cap on what may be built must not strand what was built before.
package admission.allowed_regions

deny contains reason if {
	not teardown
	count(input.limits.allowed_regions) > 0
	input.request.region != ""
	not admitted
	reason := sprintf("region %q is not in the allowed list %v", [shown(asked), listed])
}

teardown if {
	words := split(input.action, ":")
	words[count(words) - 1] in {"destroy", "decommission", "delete", "teardown"}
}

admitted if input.request.region in input.limits.allowed_regions

admitted if region_of(input.request.region) in input.limits.allowed_regions

# A zone of the requested region may be listed by itself.
admitted if {
	is_string(input.request.zone)
	zone := lower(trim_space(input.request.zone))
	region_of(zone) == input.request.region
	zone in input.limits.allowed_regions
}

# us-central1-a is a zone of us-central1, and us-east-1a one of us-east-1.
region_of(zone) := concat("", [parts[0][1], parts[0][2]]) if {
	is_string(zone)
	parts := regex.find_all_string_submatch_n(`^(.*\d)-[a-z]$|^(.*-\d+)[a-z]$`, zone, 1)
	count(parts) == 1
}

# Reasons quote what was typed; request.typed is there when it differs from what is compared.
asked := object.get(input.request, ["typed", "region"], input.request.region)

listed := object.get(input.request, ["typed", "allowed_regions"], input.limits.allowed_regions)

shown(region) := region if is_string(region)

shown(region) := json.marshal(region) if not is_string(region)
