// The log of a job as server-sent events (HTML Living Standard, section 9.2) while it is written:
//   id: 7
//   data: {"n": 7, "at": "…", "line": "…"}
// then event `gap` {from, to} for lines that are not kept, and event `end` {status}. A stream that ends without
// `end` (drain, a right that was taken away) is resumed with Last-Event-ID.
#pragma once
#include <memory>

#include "core/app/application.hpp"
#include "core/jobs/log_watcher.hpp"
#include "daemon/http/route.hpp"

namespace dash::daemon {

// Returns the stream of the log of `id` behind line `after`. Fails like Jobs::logs for a caller who may not read
// it. `authenticate` finds the caller again later, by the header section of the request.
Result<Response> stream_log(app::Application& app, const std::shared_ptr<jobs::LogWatcher>& watcher,
                            Authenticate authenticate, const Request& request, std::int64_t after);

}  // namespace dash::daemon
