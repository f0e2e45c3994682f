// Access tokens that an authorization server hands out for a while (RFC 6749 §5.1): read from its answer,
// kept until shortly before they end. Used by the stores that are asked with one. Thread-safe.
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
// Code::upstream for an answer that has no bearer token in it.
Result<BearerToken> parse_bearer(std::string_view json);

class BearerCache {
 public:
  using Fetch = std::function<Result<BearerToken>()>;
  BearerCache(const Clock& clock, Fetch fetch) : clock_(clock), fetch_(std::move(fetch)) {}

  // A token with some life left; the first caller that finds none asks, the others wait for its answer.
  Result<Secret> get();
  // The store refused it before its time: the next get() asks anew.
  void drop(const Secret& refused);

 private:
  const Clock& clock_;
  Fetch fetch_;
  std::mutex mutex_;
  std::optional<Secret> token_;
  SteadyTime expires_at_;
};

}  // namespace dash::storage
