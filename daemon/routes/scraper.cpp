#include "daemon/routes/scraper.hpp"

#include "daemon/http/direct.hpp"

namespace dash::daemon {

Authenticate admit_scrapers(Authenticate authenticate, std::function<std::string()> public_host) {
  return [authenticate = std::move(authenticate), public_host = std::move(public_host)](
             Auth auth, const Request& request) -> Result<std::optional<Principal>> {
    if (request.path == kMetricsPath && is_direct(request, public_host ? public_host() : ""))
      return std::optional<Principal>();
    if (!authenticate) return fail(Code::unauthenticated, "Not authenticated");
    return authenticate(auth, request);
  };
}

}  // namespace dash::daemon
