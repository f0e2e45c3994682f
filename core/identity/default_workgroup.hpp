// The workgroup of a change that names none, so that a caller cannot leave its own workgroup by omission.
// Every way to a deploy calls it, and so does the dry run.
#pragma once
#include <optional>
#include <string>

#include "core/base/principal.hpp"

namespace dash::identity {

// Returns nullopt for an admin and for a user without a workgroup, else the only one. With several it fails
// with Code::validation (missing, body.workgroup) and their names.
Result<std::optional<std::string>> default_workgroup(const Principal& principal);

}  // namespace dash::identity
