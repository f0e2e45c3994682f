#include "core/identity/default_workgroup.hpp"

#include "core/base/shape.hpp"

namespace dash::identity {

Result<std::optional<std::string>> default_workgroup(const Principal& principal) {
  if (principal.is_admin || principal.workgroups.empty()) return std::nullopt;
  if (principal.workgroups.size() == 1) return *principal.workgroups.begin();
  return missing_member("workgroup",
                        fmt::format("Field required: you are in several workgroups ({}); name the "
                                    "one whose change this is",
                                    fmt::join(principal.workgroups, ", ")));
}

}  // namespace dash::identity
