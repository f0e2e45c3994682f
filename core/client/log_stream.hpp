// Follows the log of a job over HTTP as server-sent events. Used by job_client.cpp.
#pragma once
#include <string>

#include "core/client/job_client.hpp"

namespace dash::client {

struct StreamLogResult {
  bool is_streamed = true;  // false: the instance does not stream, and nothing was read
  std::string status;       // of the ended job
};

// Reads the stream at `path` until its end. A connection that breaks is resumed behind the last line, until the
// instance is away for a minute; a refusal (401, 403, 404) is returned at once.
Result<StreamLogResult> stream_log(net::ApiClient& api, const std::string& path, LogReader& reader);

}  // namespace dash::client
