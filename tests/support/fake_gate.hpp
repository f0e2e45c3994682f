// A gate that decides as a test sets it, and records its calls. evaluate() may be called by many threads.
#pragma once
#include <functional>
#include <mutex>
#include <vector>

#include "core/policy/gate.hpp"

namespace dash {

class FakeGate final : public policy::Gate {
 public:
  struct Call {
    std::string action;
    Json request;
    policy::Actor actor;
    Time at;
  };

  Result<policy::Decision> evaluate(std::string_view action, const Json& request, const policy::Actor& actor,
                                    Time at, std::optional<policy::Deadline> = {}) override {
    Call now{std::string(action), request, actor, at};
    {
      std::lock_guard lock(mutex_);
      calls.push_back(now);
    }
    policy::Decision out = on_evaluate ? on_evaluate(now) : decision;
    out.action = action;
    out.policy_digest = rules;
    return out;
  }
  Result<policy::Decision> dry_run(std::string_view action, const Json& request, const policy::Actor& actor,
                                   Time at) override {
    return evaluate(action, request, actor, at);
  }
  policy::Deadline deadline() const override { return {}; }
  Result<policy::GateSettings> settings() override { return policy::GateSettings(); }
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

  policy::Decision decision;  // not gated, until a test sets it
  std::function<policy::Decision(const Call&)> on_evaluate;
  std::string rules = "v1";
  std::vector<Call> calls;

 private:
  std::mutex mutex_;  // of `calls`
};

}  // namespace dash
