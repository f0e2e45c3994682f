// When and how long to wait before a retry. Two questions have two places: is the failure transient
// (is_transient, here), and is a second attempt safe (decided by the caller, per operation). Waits double
// from `initial_delay` to `max_delay`. Each is a random part between half and whole, so that many clients do
// not return at once. A longer Retry-After of the server is honoured; one beyond `max_retry_after` ends the
// retries. So does `max_elapsed`: five attempts at a server that hangs would block their caller for minutes.
#pragma once
#include <chrono>
#include <functional>

#include "core/base/error.hpp"

namespace dash::net {

struct RetryPolicy {
  int attempts = 5;
  std::chrono::milliseconds initial_delay{200};
  std::chrono::milliseconds max_delay{5'000};
  std::chrono::milliseconds max_retry_after{30'000};  // longest Retry-After worth waiting for
  std::chrono::milliseconds max_elapsed{45'000};      // since the first attempt began
};

// Returns true for unreachable, timeout, busy, throttled.
bool is_transient(const Error& error);

class Retry {
 public:
  using Sleep = std::function<void(std::chrono::milliseconds)>;
  using Random = std::function<double()>;  // [0, 1)
  using Steady = std::chrono::steady_clock;
  using Now = std::function<Steady::time_point()>;

  // Uses real sleep and a real random source.
  explicit Retry(RetryPolicy policy = {});
  Retry(RetryPolicy policy, Sleep sleep, Random random, Now now = Steady::now)
      : policy_(policy), sleep_(std::move(sleep)), random_(std::move(random)), now_(std::move(now)) {}

  // Returns the result of `operation(attempt)`. It is repeated while the failure is transient; attempts count
  // from 0.
  template <class Operation>
  auto run(Operation&& operation) const -> decltype(operation(0)) {
    auto began = now_();
    for (int attempt = 0;; ++attempt) {
      auto result = operation(attempt);
      if (result || !should_retry(attempt, result.error()) || now_() - began > policy_.max_elapsed)
        return result;
      sleep_(delay(attempt, result.error()));
    }
  }

 private:
  bool should_retry(int attempt, const Error& error) const;
  std::chrono::milliseconds delay(int attempt, const Error& error) const;
  RetryPolicy policy_;
  Sleep sleep_;
  Random random_;
  Now now_;
};

}  // namespace dash::net
