#include "core/policy/opa/engine_builder.hpp"

#include "core/base/log.hpp"
#include "core/base/metrics.hpp"
#include "core/base/thread_pool.hpp"
#include "core/net/process/find_program.hpp"

namespace dash::policy {
namespace {

using Steady = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

// A living engine answers an empty query within this time, also while it works for others and on a busy
// machine. An engine that has just exceeded a caller's deadline has used most of it already.
constexpr std::chrono::milliseconds kHealthTimeout{2'000};
constexpr std::chrono::milliseconds kSuspectHealthTimeout{500};

Result<PolicyPtr> usable_or_error(const PolicyPtr& policy) {
  if (policy->failure) return Failure(*policy->failure);
  if (policy->fault) return fail(Code::policy_unavailable, "{}", describe(*policy->fault));
  return policy;
}

Failure stopping_error() {
  return fail(Code::policy_unavailable, "the policy engine is not started: the server stops");
}

Problem engine_problem(const Error& error) {
  return {"", 0, 0, "engine", error.message, "see the policy directory and POLICY_BINARY", true};
}

}  // namespace

EngineBuilder::EngineBuilder(const EngineOptions& options)
    : options_(options), tool_(options.binary, options.launcher) {}

EngineBuilder::~EngineBuilder() {
  cancelled_ = true;
  {
    std::lock_guard lock(mutex_);
    closing_ = true;
  }
  requested_.notify_all();
  if (thread_.joinable()) thread_.join();
}

// Called under mutex_.
void EngineBuilder::request_round() {
  wanted_ = begun_ + 1;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  requested_.notify_all();
}

void EngineBuilder::request_check() {
  std::lock_guard lock(mutex_);
  if (!health_timeout_) health_timeout_ = kHealthTimeout;
  if (begun_ == finished_) request_round();
}

void EngineBuilder::report_unresponsive(const PolicyPtr& policy) {
  std::lock_guard lock(mutex_);
  if (current_ != policy) return;
  health_timeout_ = kSuspectHealthTimeout;
  if (begun_ == finished_) request_round();
}

void EngineBuilder::report_lost(LoadedPolicy& policy) {
  if (policy.is_lost.exchange(true)) return;
  metrics::add(metrics::kEngineRestarts);
  log::warning("policy.engine_lost", {{"action", "restart"}});
}

bool EngineBuilder::is_current(const LoadedPolicy& known) const {
  auto file_stamps = known.file_stamps();
  return file_stamps->settled && is_unchanged(options_.directory, file_stamps->stamps);
}

PolicyPtr EngineBuilder::last_usable() const {
  Lock lock(mutex_);
  auto known = current_;
  lock.unlock();
  bool is_usable =
      known && !known->is_lost && !known->failure && !known->fault && known->file_stamps()->settled;
  return is_usable ? known : nullptr;
}

// Returns the result that needs no build, when the folder is unchanged.
std::optional<Result<PolicyPtr>> EngineBuilder::cached_result(const PolicyPtr& known) const {
  if (!known || known->is_lost) return std::nullopt;
  if (known->failure && Steady::now() >= known->retry_at) return std::nullopt;
  if (!is_current(*known)) return std::nullopt;
  return usable_or_error(known);
}

Result<PolicyPtr> EngineBuilder::current(Deadline deadline) {
  Lock lock(mutex_);
  auto known = current_;
  lock.unlock();
  if (auto answer = cached_result(known)) return *std::move(answer);
  ThreadPool::BlockingScope blocked;
  lock.lock();
  // A round that begins from now on reads the folder as it is now. One under way may have read an older
  // state; its outcome counts when the folder is still the same.
  const auto arrival = begun_;
  for (;;) {
    auto made = TRY(wait_for_round(lock, deadline));
    if (finished_ > arrival)
      return made ? usable_or_error(*made) : Result<PolicyPtr>(Failure(outcome_->error()));
    if (!made) continue;
    lock.unlock();
    if (auto answer = cached_result(*made)) return *std::move(answer);
    lock.lock();
  }
}

// Returns the result of the round under way, else of the next one; nullopt when it failed before it had a
// result.
Result<std::optional<PolicyPtr>> EngineBuilder::wait_for_round(Lock& lock, Deadline deadline) {
  if (begun_ == finished_) request_round();
  auto awaited = begun_ == finished_ ? begun_ + 1 : begun_;
  if (!ended_.wait_until(lock, deadline, [&] { return finished_ >= awaited; }))
    return fail(Code::policy_unavailable, "the policy engine was not ready in time");
  return *outcome_ ? std::optional(**outcome_) : std::optional<PolicyPtr>();
}

void EngineBuilder::run() {
  Lock lock(mutex_);
  for (;;) {
    requested_.wait(lock, [this] { return closing_ || wanted_ > begun_; });
    if (closing_) return;
    ++begun_;
    auto health_timeout = std::exchange(health_timeout_, std::nullopt);
    lock.unlock();
    auto outcome = round(health_timeout);
    report(outcome);
    lock.lock();
    outcome_ = std::move(outcome);
    finished_ = begun_;
    if (health_timeout_) request_round();
    ended_.notify_all();
  }
}

Result<PolicyPtr> EngineBuilder::round(std::optional<Millis> health_timeout) {
  Lock lock(mutex_);
  auto known = current_;
  lock.unlock();
  if (known) health_check(*known, health_timeout);
  if (cached_result(known)) return known;
  auto snapshot = TRY(read_snapshot(options_.directory));
  // A folder's stamp also changes for foreign files. Files with fresh stamps are compared by their bytes.
  bool is_due = !known || known->is_lost || (known->failure && Steady::now() >= known->retry_at);
  if (!is_due && known->snapshot.files == snapshot.files) {
    known->set_file_stamps(snapshot);
    return known;
  }
  if (auto program = net::find_program(options_.binary); !program)
    return fail(Code::policy_unavailable, "{}; install Open Policy Agent, or name it in POLICY_BINARY",
                program.error().message);
  return build(std::move(snapshot));
}

Result<PolicyPtr> EngineBuilder::build(Snapshot snapshot) {
  if (cancelled_) return stopping_error();
  if (!run_dir_) run_dir_.emplace(TRY(RunDir::make()));
  {
    std::lock_guard lock(mutex_);
    building_since_ = Steady::now();
  }
  auto next =
      load_policy(std::move(snapshot), *run_dir_, tool_, spawner_, {options_.build_timeout, cancelled_});
  metrics::add(metrics::kEngineBuilds, {next->failure ? "failed" : next->fault ? "broken" : "ok"});
  PolicyPtr old = next;
  std::lock_guard lock(mutex_);
  building_since_.reset();
  current_.swap(old);
  return next;
}  // the old one ends here, or with its last request

// Checks whether the engine's process has ended or hangs, and kills one that hangs.
void EngineBuilder::health_check(LoadedPolicy& policy, std::optional<Millis> health_timeout) {
  if (policy.failure || policy.fault || policy.is_lost) return;
  policy.child.discard_output();
  if (policy.child.running()) {
    if (!health_timeout) return;
    auto alive =
        policy.socket->post("/v1/data/system/none", "{}", Steady::now() + *health_timeout, cancelled_);
    if (alive || cancelled_) return;
    policy.child.kill();
  }
  report_lost(policy);
}

// Logs each cause once, not once a second.
void EngineBuilder::report(const Result<PolicyPtr>& outcome) {
  auto answer = outcome ? usable_or_error(*outcome) : outcome;
  auto cause = answer ? fmt::format("loaded {}", (*answer)->rules->digest) : answer.error().message;
  if (cancelled_ || last_logged_ == cause) return;
  last_logged_ = cause;
  if (answer)
    log::info("policy.rules_loaded",
              {{"digest", (*answer)->rules->digest}, {"rules", (*answer)->rules->rules.size()}});
  else
    log::error(outcome && (*outcome)->fault ? "policy.rules_broken" : "policy.engine_failed",
               {{"cause", cause}, {"directory", options_.directory}});
}

EngineStatus EngineBuilder::status() const {
  EngineStatus out;
  std::lock_guard lock(mutex_);
  out.building_since = building_since_;
  if (outcome_) {
    auto answer = *outcome_ ? usable_or_error(**outcome_) : *outcome_;
    out.state = EngineState::ready;
    if (answer)
      out.rules = (*answer)->rules;
    else if (*outcome_ && (**outcome_)->fault)
      out.state = EngineState::broken, out.fault = (**outcome_)->fault;
    else
      out.state = EngineState::unavailable, out.fault = engine_problem(answer.error());
  }
  if (building_since_) out.state = EngineState::building;
  return out;
}

}  // namespace dash::policy
