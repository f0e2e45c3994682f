// The resident engine: Open Policy Agent as a child on a private Unix socket (REST API:
// openpolicyagent.org/docs/rest-api).
#include <algorithm>
#include <charconv>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <utility>

#include "core/base/environment.hpp"
#include "core/base/thread_pool.hpp"
#include "core/net/process/child.hpp"
#include "core/net/process/find_program.hpp"
#include "core/policy/opa/engine_builder.hpp"

namespace dash::policy {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::string_view kEvaluatePath = "/v1/data/dashctl_gate/answer?strict-builtin-errors=true";
constexpr std::string_view kEvaluateAllPath = "/v1/data/dashctl_gate/batch?strict-builtin-errors=true";
constexpr std::string_view kCompilePath = "/v1/compile";
constexpr std::chrono::milliseconds kQueryTimeout{2'000};  // of a decision, once the engine runs
constexpr std::chrono::milliseconds kBatchTimeout{30'000};
// Above this number a caller is refused at once, because every waiting caller holds a thread.
constexpr std::size_t kMaxCallers = ThreadPool::kMaxExtraThreads;
constexpr std::size_t kMaxQueries = 16;  // sent to the engine at the same time; it has few processors

// A counting semaphore: callers above the limit wait, each until its own deadline.
class Slots {
 public:
  class Slot {
   public:
    explicit Slot(Slots* slots) : slots_(slots) {}
    Slot(Slot&& other) noexcept : slots_(std::exchange(other.slots_, nullptr)) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot() {
      if (slots_) slots_->release();
    }

   private:
    Slots* slots_;
  };

  Result<Slot> acquire(Deadline deadline) {
    std::unique_lock lock(mutex_);
    if (in_use_ >= kMaxQueries) {
      ThreadPool::BlockingScope blocked;
      if (!freed_.wait_until(lock, deadline, [this] { return in_use_ < kMaxQueries; }))
        return fail(Code::policy_unavailable, "the policy engine is busy with other questions");
    }
    ++in_use_;
    return Slot(this);
  }

 private:
  void release() {
    {
      std::lock_guard lock(mutex_);
      --in_use_;
    }
    freed_.notify_one();
  }
  std::mutex mutex_;
  std::condition_variable freed_;
  std::size_t in_use_ = 0;
};

// Returns an engine's error document as one line: "a.rego:3: to_number: …".
std::string error_text(const Reply& reply) {
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

class OpaEngine final : public Engine {
 public:
  explicit OpaEngine(EngineOptions options) : options_(std::move(options)), builder_(options_) {}

  Deadline deadline() const override {
    return Steady::now() + options_.decision_timeout + (is_server_ ? Millis{0} : options_.build_timeout);
  }
  void use_server_deadlines() override { is_server_ = true; }

  Result<EvalResult> evaluate(std::string_view document, Deadline deadline) override {
    auto body = fmt::format("{{\"input\":{}}}", document);
    auto [result, rules] = TRY(send_query(kEvaluatePath, body, deadline, kQueryTimeout));
    return EvalResult{TRY(parse_outcomes(result, *rules)), rules};
  }

  Result<std::vector<EvalResult>> evaluate_all(std::span<const std::string> documents) override {
    auto body = fmt::format("{{\"input\":{{\"batch\":[{}]}}}}", fmt::join(documents, ","));
    auto [result, rules] =
        TRY(send_query(kEvaluateAllPath, body, Steady::now() + kBatchTimeout, kBatchTimeout));
    if (!result.is_array() || result.size() != documents.size())
      return fail(Code::policy_unavailable, "the policy engine left questions of a batch unanswered");
    std::vector<EvalResult> out;
    for (const auto& answer : result) out.push_back({TRY(parse_outcomes(answer, *rules)), rules});
    return out;
  }

  bool is_present() override { return net::find_program(options_.binary).has_value(); }

  EngineStatus status() override {
    auto out = builder_.status();
    out.directory = options_.directory;
    return out;
  }

  EngineStatus refresh(Deadline deadline) override {
    std::ignore = builder_.current(deadline);
    auto out = status();
    out.sandboxed = builder_.tool().sandboxed();
    if (auto stamps = fingerprint(options_.directory))
      for (const auto& stamp : stamps->files)
        if (is_rego(stamp.path)) out.files.push_back(stamp.path);
    return out;
  }

  void request_check() override { builder_.request_check(); }
  void cancel() override { builder_.cancel(); }

  Result<std::vector<FiredRule>> fired_heads(std::string_view document) override {
    auto policy = TRY(builder_.current(deadline()));
    auto rows = TRY(builder_.tool().fired_rows(policy->folder, document));
    std::vector<FiredRule> out;
    for (const auto& rule : policy->rules->rules) {
      if (!rule.evaluates) continue;
      for (int line : rule.heads)
        if (rows.contains({rule.loaded_as(), line})) out.push_back({*rule.rule, rule.file, line});
    }
    return out;
  }

  Result<bool> is_satisfiable(std::string_view query, const Json& input,
                              const std::vector<std::string>& unknowns) override {
    Json body{{"query", query}, {"input", input}, {"unknowns", unknowns}};
    auto [result, rules] =
        TRY(send_query(kCompilePath, dump_json(body), Steady::now() + kBatchTimeout, kBatchTimeout));
    return result.is_object() && result.contains("queries");
  }

 private:
  using Millis = std::chrono::milliseconds;
  struct QueryResult {
    Json result;
    std::shared_ptr<const RuleSet> rules;
  };

  struct Caller {
    explicit Caller(std::atomic<std::size_t>& n) : n_(n), number(++n) {}
    ~Caller() { --n_; }
    std::atomic<std::size_t>& n_;
    const std::size_t number;
  };

  struct Question {
    std::string_view target;
    const std::string& body;
    Deadline deadline;
    Millis timeout;  // of the engine's answer
  };

  // `counts` as in EngineSocket::post().
  Result<Reply> ask(LoadedPolicy& policy, const Question& q, const std::function<bool()>& counts = {}) {
    auto slot = TRY(slots_.acquire(q.deadline));
    if (Steady::now() >= q.deadline)
      return fail(Code::policy_unavailable, "the policy engine did not answer in time");
    // A stopping server finishes its decisions. A query that may take longer than a drain is ended.
    static const std::atomic<bool> kNever = false;
    const auto& cancelled = q.timeout > kQueryTimeout ? builder_.cancelled() : kNever;
    auto due = std::min(q.deadline, Steady::now() + q.timeout);
    return policy.socket->post(q.target, q.body, due, cancelled, counts);
  }

  // Sends one query to the current policy. The folder is compared while the engine works; after a change the question
  // is put again. A lost connection means a dead engine: one restart, one retry.
  Result<QueryResult> send_query(std::string_view target, const std::string& body, Deadline deadline,
                                 Millis timeout) {
    Caller caller(callers_);
    if (caller.number > kMaxCallers)
      return fail(Code::policy_unavailable, "{} callers already wait for the policy engine", kMaxCallers);
    const Question question{target, body, deadline, timeout};
    auto policy = builder_.last_usable();
    Result<Reply> reply = fail(Code::conflict, "not asked");
    if (policy) reply = ask(*policy, question, [&] { return builder_.is_current(*policy); });
    if (!reply && reply.error().code == Code::conflict) {
      policy = TRY(builder_.current(deadline));
      reply = ask(*policy, question);
    }
    if (!reply && reply.error().code == Code::unreachable) {
      EngineBuilder::report_lost(*policy);
      policy = TRY(builder_.current(deadline));
      reply = ask(*policy, question);
    }
    if (!reply) {
      if (reply.error().code == Code::timeout) builder_.report_unresponsive(policy);
      return fail(Code::policy_unavailable, "{}", reply.error().message);
    }
    if (reply->status != 200) return fail(Code::policy_unavailable, "{}", error_text(*reply));
    auto json = parse_json(reply->body);
    if (!json || !json->is_object() || !json->contains("result"))
      return fail(Code::policy_unavailable, "the policy engine gave no result");
    return QueryResult{std::move((*json)["result"]), policy->rules};
  }

  const EngineOptions options_;
  EngineBuilder builder_;
  Slots slots_;
  std::atomic<std::size_t> callers_ = 0;
  std::atomic<bool> is_server_ = false;
};

}  // namespace

std::unique_ptr<Engine> make_opa(EngineOptions options) {
  return std::make_unique<OpaEngine>(std::move(options));
}

std::string_view word(EngineState state) {
  switch (state) {
    case EngineState::idle:
      return "idle";
    case EngineState::building:
      return "building";
    case EngineState::ready:
      return "ready";
    case EngineState::broken:
      return "broken";
    case EngineState::unavailable:
      break;
  }
  return "unavailable";
}

Result<std::chrono::milliseconds> engine_build_timeout() {
  const auto text = environment_variable("DASHCTL_POLICY_BUILD_SECONDS");
  if (text.empty()) return std::chrono::milliseconds(kBuildTimeout);
  double seconds = 0;
  auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  std::chrono::duration<double> timeout(seconds);
  if (error != std::errc() || stop != text.data() + text.size() || !(seconds > 0) ||
      timeout > kMaxBuildTimeout)
    return fail(Code::usage, "DASHCTL_POLICY_BUILD_SECONDS is '{}'; write a number of seconds, at most {}",
                text, kMaxBuildTimeout.count());
  return std::chrono::ceil<std::chrono::milliseconds>(timeout);
}

std::string engine_binary() {
  auto named = environment_variable("POLICY_BINARY");
  return named.empty() ? "opa" : named;
}

}  // namespace dash::policy
