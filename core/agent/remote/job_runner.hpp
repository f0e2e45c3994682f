// What carries out the jobs of one type, and what it gets for one of them.
#pragma once
#include <string>
#include <vector>

#include "core/agent/remote/lease_answer.hpp"

namespace dash::agent {

// Of one job. One thread at a time.
struct JobContext {
  std::vector<std::string> secrets{};  // those that the job used: nothing that leaves may show them
};

class JobRunner {
 public:
  virtual ~JobRunner() = default;
  // Returns the job's result. Code::policy_denied for what the agent's policy refuses.
  virtual Result<Json> run(const LeasedJob& job, JobContext& context) = 0;
};

}  // namespace dash::agent
