#include "core/policy/generation.hpp"

#include <algorithm>

namespace dash::policy {
namespace {

using Steady = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kStartDeadline{10'000};
constexpr std::chrono::milliseconds kStartStep{2};
constexpr std::size_t kMaxComplaint = 2'000;
constexpr std::string_view kGateFile = "..gate.rego";  // no name of the operator's begins so

// Our own package in an operator's file would change what the gate reads.
std::optional<Problem> intruder(const Json& modules) {
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

// A function has no value that the gate could read, and the engine would blame our module for it.
std::optional<Problem> function_head(const RuleSet& rules) {
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

Result<void> await(Generation& generation) {
  auto due = Steady::now() + kStartDeadline;
  for (;;) {
    auto reply = generation.socket->post("/v1/data/system/none", "{}", kStartDeadline);
    if (reply) return {};
    if (reply.error().code != Code::unreachable) return Failure(reply.error());
    if (generation.child.wait(kStartStep)) {
      auto words = generation.child.drain_stderr(kMaxComplaint);
      return fail(Code::policy_unavailable, "the policy engine ended at its start: {}",
                  words.empty() ? "it said nothing" : words);
    }
    if (Steady::now() >= due)
      return fail(Code::policy_unavailable, "the policy engine did not listen within {} s",
                  kStartDeadline.count() / 1000);
  }
}

Result<void> start_engine(Generation& generation, RunDir& run, OpaTool& tool, net::Nursery& nursery) {
  generation.folder = TRY(run.folder());
  auto files = generation.rules->live;
  files.push_back({std::string(kGateFile), aggregator_module(*generation.rules)});
  TRY(run.write(generation.folder, files));
  generation.sockets = TRY(run.folder());
  generation.socket = std::make_unique<EngineSocket>(generation.sockets + "/s");
  generation.child = TRY(tool.serve(nursery, generation.folder, generation.sockets));
  return await(generation);
}

Result<void> build(Generation& generation, RunDir& run, OpaTool& tool, net::Nursery& nursery) {
  Parse parsed;
  if (!generation.snapshot.files.empty()) {
    auto folder = TRY(run.folder());
    TRY(run.write(folder, generation.snapshot.files));
    auto result = tool.parse(run, folder, generation.snapshot.files);
    RunDir::remove(folder);
    parsed = TRY(std::move(result));
  }
  generation.fault = parsed.errors.empty() ? intruder(parsed.modules) : std::optional(parsed.errors.front());
  if (generation.fault) return {};
  generation.rules = std::make_shared<const RuleSet>(make_rule_set(generation.snapshot, parsed.modules));
  generation.fault = function_head(*generation.rules);
  if (!generation.fault) return start_engine(generation, run, tool, nursery);
  generation.rules.reset();
  return {};
}

}  // namespace

Generation::~Generation() {
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

std::shared_ptr<Generation> start_generation(Snapshot snapshot, RunDir& run, OpaTool& tool,
                                             net::Nursery& nursery) {
  auto out = std::make_shared<Generation>(std::move(snapshot));
  if (auto built = build(*out, run, tool, nursery); !built) out->failure = built.error();
  return out;
}

}  // namespace dash::policy
