#include "core/jobs/requester.hpp"

namespace dash::jobs {
namespace {

constexpr std::string_view kIsLocal = "is_local";

}  // namespace

void note_requester(const Principal& principal, Json& parameters) {
  parameters[std::string(kIsLocal)] = principal.via == Via::local;
}

Result<Principal> admin_requester(identity::Directory& directory, const Job& job, const Json& parameters) {
  if (parameters.value(kIsLocal, false)) return local_operator();
  auto user = TRY(directory.find(job.created_by));
  if (!user || !user->is_active || !user->is_admin)
    return fail(
        Code::forbidden,
        "'{}', who requested this job, is no active administrator any more, so nothing was copied. An "
        "administrator can request it again.",
        job.created_by);
  Principal principal;
  principal.username = user->username;
  principal.is_admin = true;
  return principal;
}

}  // namespace dash::jobs
