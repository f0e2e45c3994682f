#include "core/client/patience.hpp"

#include <thread>

namespace dash::client {
namespace {

constexpr int kAttempts = 6;
constexpr std::chrono::seconds kLongestWait{30};

bool may_pass(Code code) {
  return code == Code::unreachable || code == Code::timeout || code == Code::busy || code == Code::throttled;
}

}  // namespace

Result<void> with_patience(const std::function<Result<void>()>& attempt) {
  std::chrono::seconds wait{1};
  for (int i = 1;; ++i) {
    auto result = attempt();
    if (result || !may_pass(result.error().code) || i == kAttempts) return result;
    std::this_thread::sleep_for(
        std::min(std::max(wait, result.error().retry_after.value_or(wait)), kLongestWait));
    wait *= 2;
  }
}

}  // namespace dash::client
