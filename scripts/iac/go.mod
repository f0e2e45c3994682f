// What scripts/setup builds as the infrastructure-as-code program: OpenTofu, with exactly these modules.
module dashctl/iac

go 1.24.6

require github.com/opentofu/opentofu v1.10.6

replace github.com/hashicorp/hcl/v2 v2.20.1 => github.com/opentofu/hcl/v2 v2.20.2-0.20250121132637-504036cd70e7
