// The resident engine: Open Policy Agent as a child on a private Unix socket (REST API:
// openpolicyagent.org/docs/rest-api).
#include <algorithm>
#include <cstdlib>
#include <mutex>

#include "core/base/log.hpp"
#include "core/net/child.hpp"
#include "core/policy/generation.hpp"

namespace dash::policy {
namespace {

constexpr std::string_view kAnswer = "/v1/data/dashctl_gate/answer?strict-builtin-errors=true";
constexpr std::string_view kJudgePath = "/v1/data/dashctl_gate/batch?strict-builtin-errors=true";
constexpr std::string_view kCompilePath = "/v1/compile";
constexpr std::chrono::milliseconds kBatchDeadline{30'000};
constexpr std::chrono::milliseconds kPulse{250};  // a living engine answers an empty question within this

using Current = std::shared_ptr<Generation>;

// An engine's error document as one line: "a.rego:3: to_number: …".
std::string complaint(const Reply& reply) {
  auto json = parse_json(reply.body);
  if (!json || !json->is_object()) return fmt::format("the policy engine answered {}", reply.status);
  auto first = json->value(Json::json_pointer("/errors/0"), Json());
  if (!first.is_object())
    return json->value("message", fmt::format("the policy engine answered {}", reply.status));
  Problem p;
  p.file = first.value(Json::json_pointer("/location/file"), "");
  p.row = first.value(Json::json_pointer("/location/row"), 0);
  p.message = first.value("message", "evaluation failed");
  return describe(p);
}

class Opa final : public Engine {
 public:
  explicit Opa(EngineOptions options)
      : options_(std::move(options)), tool_(options_.binary, options_.launcher) {}

  Result<Judgement> judge(std::string_view document) override {
    auto [result, rules] = TRY(ask(kAnswer, fmt::format("{{\"input\":{}}}", document), options_.deadline));
    return Judgement{TRY(read_answer(result, *rules)), rules};
  }

  Result<std::vector<Judgement>> judge_all(std::span<const std::string> documents) override {
    auto body = fmt::format("{{\"input\":{{\"batch\":[{}]}}}}", fmt::join(documents, ","));
    auto [result, rules] = TRY(ask(kJudgePath, body, kBatchDeadline));
    if (!result.is_array() || result.size() != documents.size())
      return fail(Code::policy_unavailable, "the policy engine left questions of a batch unanswered");
    std::vector<Judgement> out;
    for (const auto& answer : result) out.push_back({TRY(read_answer(answer, *rules)), rules});
    return out;
  }

  bool is_present() override { return net::find_program(options_.binary).has_value(); }

  EngineStatus status() override {
    EngineStatus out;
    out.directory = options_.directory;
    out.sandboxed = tool_.sandboxed();
    auto generation = current();
    if (auto stamps = fingerprint(options_.directory))
      for (const auto& stamp : stamps->files)
        if (is_rego(stamp.path)) out.files.push_back(stamp.path);
    if (generation) {
      out.rules = (*generation)->rules;
      return out;
    }
    out.fault = Problem{
        "", 0, 0, "engine", generation.error().message, "see the policy directory and POLICY_BINARY", true};
    auto known = peek();
    if (known && known->fault && describe(*known->fault) == generation.error().message)
      out.fault = known->fault;
    return out;
  }

  Result<std::vector<FiredRule>> heads_that_fire(std::string_view document) override {
    auto generation = TRY(current());
    auto rows = TRY(tool_.fired(generation->folder, document));
    std::vector<FiredRule> out;
    for (const auto& rule : generation->rules->rules) {
      if (!rule.evaluates) continue;
      for (int line : rule.heads)
        if (rows.contains({rule.loaded_as(), line})) out.push_back({*rule.rule, rule.file, line});
    }
    return out;
  }

  Result<bool> satisfiable(std::string_view query, const Json& input,
                           const std::vector<std::string>& unknowns) override {
    Json body{{"query", query}, {"input", input}, {"unknowns", unknowns}};
    auto [result, rules] = TRY(ask(kCompilePath, dump_json(body), kBatchDeadline));
    return result.is_object() && result.contains("queries");
  }

 private:
  struct Told {
    Json result;
    std::shared_ptr<const RuleSet> rules;
  };

  // One question to the current generation. A lost connection means a dead engine: one restart, one retry.
  Result<Told> ask(std::string_view target, const std::string& body, std::chrono::milliseconds deadline) {
    auto generation = TRY(current());
    auto reply = generation->socket->post(target, body, deadline);
    if (!reply && reply.error().code == Code::unreachable) {
      generation = TRY(restarted(generation));
      reply = generation->socket->post(target, body, deadline);
    }
    if (!reply) {
      if (reply.error().code == Code::timeout) check_pulse(generation);
      return fail(Code::policy_unavailable, "{}", reply.error().message);
    }
    if (reply->status != 200) return fail(Code::policy_unavailable, "{}", complaint(*reply));
    auto json = parse_json(reply->body);
    if (!json || !json->is_object() || !json->contains("result"))
      return fail(Code::policy_unavailable, "the policy engine gave no result");
    return Told{std::move((*json)["result"]), generation->rules};
  }

  // The generation of the directory as it is now; its engine runs.
  Result<Current> current() {
    auto known = peek();
    if (!known || known->failure || !is_as_seen(*known)) known = TRY(refreshed());
    if (known->failure) return Failure(*known->failure);
    if (known->fault) return fail(Code::policy_unavailable, "{}", describe(*known->fault));
    return known;
  }

  bool is_as_seen(const Generation& known) {
    auto sight = known.sight();
    return sight->settled && still_is(options_.directory, sight->stamps);
  }

  Current peek() {
    std::lock_guard lock(mutex_);
    return current_;
  }

  void swap_in(Current next) {
    std::lock_guard lock(mutex_);
    current_.swap(next);
  }  // the old one ends here, or with its last question

  Result<Current> refreshed() {
    std::lock_guard building(build_mutex_);
    auto snapshot = TRY(read_snapshot(options_.directory));
    auto known = peek();
    // Another request may have built it while we waited; a folder's stamp moves for files that are none of
    // ours, and fresh stamps are settled by the bytes.
    if (known && !known->failure && known->snapshot.files == snapshot.files) {
      known->see(snapshot);
      return known;
    }
    return built(std::move(snapshot));
  }

  Result<Current> restarted(const Current& dead) {
    std::lock_guard building(build_mutex_);
    if (auto known = peek(); known != dead) return usable(known);
    log::warning("policy.engine_lost", {{"action", "restart"}});
    return usable(TRY(built(dead->snapshot)));
  }

  Result<Current> usable(const Current& generation) {
    if (generation->failure) return Failure(*generation->failure);
    if (!generation->rules) return fail(Code::policy_unavailable, "{}", describe(*generation->fault));
    return generation;
  }

  // Under build_mutex_.
  Result<Current> built(Snapshot snapshot) {
    if (!run_) run_.emplace(TRY(RunDir::make()));
    auto next = start_generation(std::move(snapshot), *run_, tool_, nursery_);
    report(*next);
    swap_in(next);
    return next;
  }

  void report(const Generation& g) {
    if (g.failure)
      log::error("policy.engine_failed", {{"cause", g.failure->message}, {"directory", options_.directory}});
    else if (g.fault)
      log::error("policy.rules_broken", {{"cause", describe(*g.fault)}, {"directory", options_.directory}});
    else
      log::info("policy.rules_loaded", {{"digest", g.rules->digest}, {"rules", g.rules->rules.size()}});
  }

  // A rule may be slow, or the engine stuck: the latter is ended, so that the next question starts another.
  void check_pulse(const Current& generation) {
    if (generation->socket->post("/v1/data/system/none", "{}", kPulse)) return;
    std::lock_guard building(build_mutex_);
    if (peek() == generation) generation->child.kill();
  }

  const EngineOptions options_;
  OpaTool tool_;
  net::Nursery nursery_;
  std::mutex build_mutex_;  // one generation is built at a time
  std::optional<RunDir> run_;
  std::mutex mutex_;
  Current current_;
};

}  // namespace

std::unique_ptr<Engine> make_opa(EngineOptions options) { return std::make_unique<Opa>(std::move(options)); }

std::string engine_binary() {
  const char* named = std::getenv("POLICY_BINARY");
  return named != nullptr && *named != '\0' ? named : "opa";
}

}  // namespace dash::policy
