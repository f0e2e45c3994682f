# Denies every gated change on frozen weekdays, UTC (setting admission_prod_window): teardowns too. Inert while the list is empty.
package admission.prod_window

deny contains reason if {
	input.now.weekday in input.limits.prod_window
	reason := sprintf("%s is frozen on %s (change-freeze window %v)", [input.action, input.now.weekday, listed])
}

# Reasons quote what was typed; request.typed is there when it differs from what is compared.
listed := object.get(input.request, ["typed", "prod_window"], input.limits.prod_window)
