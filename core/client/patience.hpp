// What a client of the lanes does about a failure that may pass: wait, twice as long each time, and ask
// again. Only for requests that are safe to repeat, which the parts of an upload and ranges of a download
// are.
#pragma once
#include <functional>

#include "core/base/error.hpp"

namespace dash::client {

// Calls `attempt` until it succeeds, fails for good, or has failed six times (about a minute of waiting).
Result<void> with_patience(const std::function<Result<void>()>& attempt);

}  // namespace dash::client
