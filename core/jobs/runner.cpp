#include "core/jobs/runner.hpp"

namespace dash::jobs {

OnWorkerLoss on_worker_loss(const Runners& runners, const std::string& action) {
  if (const auto* runner = runners.find(action)) return runner->on_worker_loss;
  const auto* gated = find_action(action);
  return gated ? gated->on_worker_loss : OnWorkerLoss::fail;
}

}  // namespace dash::jobs
