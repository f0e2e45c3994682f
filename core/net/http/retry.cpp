#include "core/net/http/retry.hpp"

#include <algorithm>
#include <random>
#include <thread>

#include "core/base/metrics.hpp"

namespace dash::net {
namespace {

double random_fraction() {
  thread_local std::minstd_rand engine(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

}  // namespace

bool is_transient(const Error& error) {
  switch (error.code) {
    case Code::unreachable:
    case Code::timeout:
    case Code::busy:
    case Code::throttled:
      return true;
    default:
      return false;
  }
}

Retry::Retry(RetryPolicy policy)
    : Retry(
          policy, [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); },
          random_fraction) {}

bool Retry::should_retry(int attempt, const Error& error) const {
  bool is_due = is_transient(error) && attempt + 1 < policy_.attempts &&
                (!error.retry_after || *error.retry_after <= policy_.max_retry_after);
  if (is_due) metrics::add(metrics::kRetries, {std::string(info(error.code).word)});
  return is_due;
}

std::chrono::milliseconds Retry::delay(int attempt, const Error& error) const {
  auto ceiling = std::min<std::chrono::milliseconds>(policy_.max_delay,
                                                     policy_.initial_delay * (1LL << std::min(attempt, 20)));
  auto jittered = std::chrono::milliseconds(
      static_cast<long long>(static_cast<double>(ceiling.count()) * (0.5 + random_() / 2)));
  return std::max(jittered, std::chrono::milliseconds(error.retry_after.value_or(std::chrono::seconds(0))));
}

}  // namespace dash::net
