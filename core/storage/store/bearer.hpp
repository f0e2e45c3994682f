// Access tokens of an authorization server (RFC 6749 §5.1): parsed from its response and cached until shortly
// before they expire. For the stores that need one. Thread-safe.
#pragma once
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>

#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::storage {

struct BearerToken {
  Secret token;
  std::chrono::seconds lifetime{0};
};
// Code::upstream for a response without a bearer token.
Result<BearerToken> parse_bearer(std::string_view json);

class BearerCache {
 public:
  using Fetch = std::function<Result<BearerToken>()>;
  BearerCache(const Clock& clock, Fetch fetch) : clock_(clock), fetch_(std::move(fetch)) {}

  // Returns a token with some life left. The first caller that finds none requests one; the others wait for
  // it.
  Result<Secret> get();
  // Drops a token that the store refused before its time: the next get() requests another.
  void drop(const Secret& refused);

 private:
  const Clock& clock_;
  Fetch fetch_;
  std::mutex mutex_;
  std::optional<Secret> token_;
  SteadyTime expires_at_;
};

}  // namespace dash::storage
