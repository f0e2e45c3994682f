#include "core/identity/default_workgroup.hpp"

#include "core/base/shape.hpp"

namespace dash::identity {

Result<std::optional<std::string>> default_workgroup(const Principal& who) {
  if (who.is_admin || who.workgroups.empty()) return std::nullopt;
  if (who.workgroups.size() == 1) return *who.workgroups.begin();
  return missing_member("workgroup",
                        fmt::format("Field required: you are in several workgroups ({}); name the "
                                    "one whose change this is",
                                    fmt::join(who.workgroups, ", ")));
}

}  // namespace dash::identity
