// The seam between jobs and the policy gate, so that the states can be tested without an engine. GateJudge is
// the real one.
#pragma once
#include "core/policy/gate.hpp"

namespace dash::jobs {

class Judge {
 public:
  virtual ~Judge() = default;
  // As policy::Gate.
  virtual Result<policy::Decision> judge(std::string_view action, const Json& request,
                                         const policy::Actor& actor, Time at,
                                         std::optional<policy::Deadline> deadline = {}) = 0;
  virtual policy::Deadline deadline() const = 0;
};

class GateJudge final : public Judge {
 public:
  explicit GateJudge(policy::Gate& gate) : gate_(gate) {}
  Result<policy::Decision> judge(std::string_view action, const Json& request, const policy::Actor& actor,
                                 Time at, std::optional<policy::Deadline> deadline = {}) override {
    return gate_.evaluate(action, request, actor, at, deadline);
  }
  policy::Deadline deadline() const override { return gate_.deadline(); }

 private:
  policy::Gate& gate_;
};

}  // namespace dash::jobs
