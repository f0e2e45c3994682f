#include "core/policy/opa/loaded_policy.hpp"

#include <algorithm>

namespace dash::policy {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{2};
constexpr std::size_t kMaxStderr = 2'000;
constexpr std::string_view kGateFile = "..gate.rego";  // no name of an operator's file begins so

// An operator's file in our own package would change what the gate reads.
std::optional<Problem> find_reserved_package(const Json& modules) {
  for (const auto& parsed : modules) {
    const auto& path = parsed.at("module").at("package").at("path");
    if (path.size() > 1 && path.at(1).value("value", Json()) == kGatePackage)
      return Problem{parsed.at("file").get<std::string>(),
                     1,
                     1,
                     "reserved",
                     fmt::format("package {} is the gate's own", kGatePackage),
                     "name the package differently",
                     true};
  }
  return std::nullopt;
}

// A function has no value that the gate could read, and the engine would report the fault in our module.
std::optional<Problem> find_function_head(const RuleSet& rules) {
  for (const auto& file : rules.rules) {
    if (!file.evaluates || !file.module.contains("rules")) continue;
    for (const auto& rule : file.module.at("rules")) {
      auto name = rule.at("head").value("name", "");
      if ((name == "deny" || name == "needs_approval") && rule.at("head").contains("args"))
        return Problem{file.file,
                       file.line,
                       1,
                       "shape",
                       fmt::format("{} is a function, not a set of strings", name),
                       fmt::format("write {} contains \"reason\" if {{ … }}", name),
                       true};
    }
  }
  return std::nullopt;
}

// One build: what all of its steps need.
struct Build {
  RunDir& run;
  OpaTool& tool;
  net::ChildSpawner& spawner;
  Deadline due;
  const std::atomic<bool>& cancelled;
  ToolOptions limits() const {
    return {due, [this] { return cancelled.load(); }};
  }
};

Result<void> wait_until_listening(LoadedPolicy& policy, const Build& build) {
  for (;;) {
    auto reply = policy.socket->post("/v1/data/system/none", "{}", build.due, build.cancelled);
    if (reply) return {};
    if (reply.error().code != Code::unreachable) return Failure(reply.error());
    if (policy.child.wait(kPollInterval)) {
      auto words = policy.child.drain_stderr(kMaxStderr);
      return fail(Code::policy_unavailable, "the policy engine ended at its start: {}",
                  words.empty() ? "it printed nothing" : words);
    }
    if (Steady::now() >= build.due || build.cancelled)
      return fail(Code::policy_unavailable, "the policy engine did not listen in time");
  }
}

Result<void> start_engine(LoadedPolicy& policy, const Build& build) {
  policy.folder = TRY(build.run.folder());
  auto files = policy.rules->live;
  files.push_back({std::string(kGateFile), aggregator_module(*policy.rules)});
  TRY(build.run.write(policy.folder, files));
  policy.sockets = TRY(build.run.folder());
  policy.socket = std::make_unique<EngineSocket>(policy.sockets + "/s");
  policy.child = TRY(build.tool.serve(build.spawner, policy.folder, policy.sockets));
  return wait_until_listening(policy, build);
}

Result<void> load(LoadedPolicy& policy, const Build& build) {
  ParseResult parsed;
  if (!policy.snapshot.files.empty()) {
    auto folder = TRY(build.run.folder());
    TRY(build.run.write(folder, policy.snapshot.files));
    auto result = build.tool.parse(build.run, folder, policy.snapshot.files, build.limits());
    RunDir::remove(folder);
    parsed = TRY(std::move(result));
  }
  policy.fault =
      parsed.errors.empty() ? find_reserved_package(parsed.modules) : std::optional(parsed.errors.front());
  if (policy.fault) return {};
  policy.rules = std::make_shared<const RuleSet>(make_rule_set(policy.snapshot, parsed.modules));
  policy.fault = find_function_head(*policy.rules);
  if (!policy.fault) return start_engine(policy, build);
  policy.rules.reset();
  return {};
}

// The reason of a cancelled build explains more than the step at which it ended.
Error cause_of(const Error& error, const BuildLimits& limits, const Build& build) {
  if (limits.cancelled)
    return make_error(Code::policy_unavailable,
                      "the start of the policy engine was cancelled: the server stops");
  if (Steady::now() < build.due) return error;
  return make_error(Code::policy_unavailable, "the policy engine was not ready within {} s",
                    std::chrono::duration<double>(limits.timeout).count());
}

}  // namespace

LoadedPolicy::~LoadedPolicy() {
  child.kill();
  socket.reset();
  for (const auto& path : {folder, sockets})
    if (!path.empty()) RunDir::remove(path);
}

std::string describe(const Problem& problem) {
  if (problem.file.empty()) return problem.message;
  if (problem.row == 0) return fmt::format("{}: {}", problem.file, problem.message);
  return fmt::format("{}:{}: {}", problem.file, problem.row, problem.message);
}

std::shared_ptr<LoadedPolicy> load_policy(Snapshot snapshot, RunDir& run, OpaTool& tool,
                                          net::ChildSpawner& spawner, const BuildLimits& limits) {
  auto out = std::make_shared<LoadedPolicy>(std::move(snapshot));
  Build build{run, tool, spawner, Steady::now() + limits.timeout, limits.cancelled};
  auto done = load(*out, build);
  if (done) return out;
  out->child.kill();
  out->rules.reset();
  out->failure = cause_of(done.error(), limits, build);
  out->retry_at = Steady::now() + kFailureRetryDelay;
  return out;
}

}  // namespace dash::policy
