// How a transfer repeats its requests. Only for requests that are safe to repeat: parts of an upload, ranges
// of a download, a commit.
#pragma once
#include "core/net/http/retry.hpp"

namespace dash::client {

// Makes six attempts, with half a minute of waiting in all unless the instance sends a longer Retry-After. An
// attempt may take as long as its request's deadline, because the bytes of a part need their time.
inline net::Retry transfer_retry() {
  return net::Retry({.attempts = 6,
                     .initial_delay = std::chrono::seconds(1),
                     .max_delay = std::chrono::seconds(30),
                     .max_retry_after = std::chrono::minutes(1),
                     .max_elapsed = std::chrono::hours(24)});
}

}  // namespace dash::client
