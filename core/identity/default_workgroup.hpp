// The workgroup of a change that names none, so that nobody leaves his own behind by leaving it out. Asked by
// every way to a deploy, and by the dry run.
#pragma once
#include <optional>
#include <string>

#include "core/base/principal.hpp"

namespace dash::identity {

// nullopt for an admin and for who is in none; else the only one. Code::validation (missing, body.workgroup)
// names them when there are several.
Result<std::optional<std::string>> default_workgroup(const Principal& principal);

}  // namespace dash::identity
