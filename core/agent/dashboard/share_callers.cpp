#include "core/agent/dashboard/share_callers.hpp"

namespace dash::agent {
namespace {

constexpr std::chrono::seconds kRetryAfter{5};  // an answer comes within seconds, or not for long

}  // namespace

Result<void> ShareCallers::enter() {
  std::lock_guard lock(mutex_);
  if (waiting_ >= max_)
    return Failure(busy(kRetryAfter, "{} callers wait for remote agents already; try again in {} seconds",
                        waiting_, kRetryAfter.count()));
  ++waiting_;
  return {};
}

ShareCallers::Caller::~Caller() {
  std::lock_guard lock(callers_.mutex_);
  --callers_.waiting_;
}

}  // namespace dash::agent
