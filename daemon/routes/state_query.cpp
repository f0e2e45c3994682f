#include "daemon/routes/state_query.hpp"

#include "daemon/routes/params.hpp"

namespace dash::daemon {

Result<setup::StateOptions> state_query(const Request& request) {
  setup::StateOptions options;
  for (auto name : {"migrate_iac_state", "migrate_terraform_state"})
    options.migrate |= TRY(flag_query(request, name));
  options.abandon = TRY(flag_query(request, "abandon_iac_state"));
  for (const auto& [name, value] : request.query)
    if (name == "overwrite_iac_state" && !value.empty()) options.overwrite.push_back(value);
  return options;
}

}  // namespace dash::daemon
