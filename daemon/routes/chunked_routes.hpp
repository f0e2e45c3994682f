// The routes of chunked uploads, the same for assets and images.
#pragma once
#include <string>
#include <vector>

#include "core/storage/upload/chunked_uploads.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

struct ChunkedRoutes {
  std::string prefix;  // "/api/storage/upload": begin, part/{n}, status, commit, abort follow
  storage::ChunkedUploads& uploads;
  Auth auth;
  std::uint64_t max_commit_body = kSmallBody;  // the refs of every part
};

void add_chunked_routes(std::vector<Route>& routes, const ChunkedRoutes& chunked);

}  // namespace dash::daemon
