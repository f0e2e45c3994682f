// A gate that says what a test tells it to, and remembers what it was calls.
// judge() may be called by many threads.
#pragma once
#include <functional>
#include <mutex>
#include <vector>

#include "core/jobs/judge.hpp"

namespace dash {

class FakeJudge final : public jobs::Judge {
 public:
  struct Call {
    std::string action;
    Json request;
    policy::Actor actor;
    Time at;
  };

  Result<policy::Decision> judge(std::string_view action, const Json& request, const policy::Actor& actor,
                                 Time at, std::optional<policy::Deadline>) override {
    Call now{std::string(action), request, actor, at};
    {
      std::lock_guard lock(mutex_);
      calls.push_back(now);
    }
    policy::Decision out = decide ? decide(now) : decision;
    out.action = action;
    out.policy_digest = rules;
    return out;
  }
  policy::Deadline deadline() const override { return {}; }
  void deny(std::string reason) { decision = of(policy::Verdict::deny, {std::move(reason)}, {}); }
  void hold(std::string reason, bool enforce = true) {
    decision = of(policy::Verdict::needs_approval, {}, {std::move(reason)});
    decision.enforce_needs_approval = enforce;
  }
  void allow() { decision = of(policy::Verdict::allow, {}, {}); }
  void engine_fails() {
    deny("Action blocked: policy engine unavailable (fail-closed).");
    decision.cause = "no such binary";
  }
  static policy::Decision of(policy::Verdict verdict, std::vector<std::string> reasons,
                             std::vector<std::string> approval) {
    policy::Decision out;
    out.gated = true;
    out.verdict = verdict;
    out.reasons = std::move(reasons);
    out.approval_reasons = std::move(approval);
    return out;
  }

  policy::Decision decision;  // not gated, until a test says otherwise
  std::function<policy::Decision(const Call&)> decide;
  std::string rules = "v1";
  std::vector<Call> calls;

 private:
  std::mutex mutex_;  // of `calls`
};

}  // namespace dash
