#include "core/policy/opa/engine_builder.hpp"

#include "core/base/log.hpp"
#include "core/base/worker_pool.hpp"

namespace dash::policy {
namespace {

using Steady = std::chrono::steady_clock;
using Millis = std::chrono::milliseconds;

// A living engine answers an empty question within this, also one that works for others and on a busy
// machine; one that has just left a caller without an answer has used most of it up already.
constexpr std::chrono::milliseconds kPulse{2'000};
constexpr std::chrono::milliseconds kSuspectPulse{500};

Result<Current> usable(const Current& generation) {
  if (generation->failure) return Failure(*generation->failure);
  if (generation->fault) return fail(Code::policy_unavailable, "{}", describe(*generation->fault));
  return generation;
}

Failure stopping() {
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

// Under mutex_.
void EngineBuilder::request_round() {
  wanted_ = begun_ + 1;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  requested_.notify_all();
}

void EngineBuilder::look() {
  std::lock_guard lock(mutex_);
  if (!pulse_) pulse_ = kPulse;
  if (begun_ == finished_) request_round();
}

void EngineBuilder::report_silent(const Current& generation) {
  std::lock_guard lock(mutex_);
  if (current_ != generation) return;
  pulse_ = kSuspectPulse;
  if (begun_ == finished_) request_round();
}

void EngineBuilder::report_lost(Generation& generation) {
  if (generation.is_lost.exchange(true)) return;
  log::warning("policy.engine_lost", {{"action", "restart"}});
}

bool EngineBuilder::is_as_seen(const Generation& known) const {
  auto sight = known.sight();
  return sight->settled && still_is(options_.directory, sight->stamps);
}

// The answer that needs no round, when the folder is as it was.
std::optional<Result<Current>> EngineBuilder::known_answer(const Current& known) const {
  if (!known || known->is_lost) return std::nullopt;
  if (known->failure && Steady::now() >= known->retry_at) return std::nullopt;
  if (!is_as_seen(*known)) return std::nullopt;
  return usable(known);
}

Result<Current> EngineBuilder::current(Deadline deadline) {
  Lock lock(mutex_);
  auto known = current_;
  lock.unlock();
  if (auto answer = known_answer(known)) return *std::move(answer);
  WorkerPool::Blocked blocked;
  lock.lock();
  // A round that begins from now on reads the folder as it is now. One under way may have read an older one:
  // its outcome serves when the folder is still the same.
  const auto arrival = begun_;
  for (;;) {
    auto made = TRY(wait_for_round(lock, deadline));
    if (finished_ > arrival) return made ? usable(*made) : Result<Current>(Failure(outcome_->error()));
    if (!made) continue;
    lock.unlock();
    if (auto answer = known_answer(*made)) return *std::move(answer);
    lock.lock();
  }
}

// What the round under way, else the next one, has made; nullopt when it failed before it made anything.
Result<std::optional<Current>> EngineBuilder::wait_for_round(Lock& lock, Deadline deadline) {
  if (begun_ == finished_) request_round();
  auto awaited = begun_ == finished_ ? begun_ + 1 : begun_;
  if (!ended_.wait_until(lock, deadline, [&] { return finished_ >= awaited; }))
    return fail(Code::policy_unavailable, "the policy engine was not ready in time");
  return *outcome_ ? std::optional(**outcome_) : std::optional<Current>();
}

void EngineBuilder::run() {
  Lock lock(mutex_);
  for (;;) {
    requested_.wait(lock, [this] { return closing_ || wanted_ > begun_; });
    if (closing_) return;
    ++begun_;
    auto pulse = std::exchange(pulse_, std::nullopt);
    lock.unlock();
    auto outcome = round(pulse);
    report(outcome);
    lock.lock();
    outcome_ = std::move(outcome);
    finished_ = begun_;
    if (pulse_) request_round();
    ended_.notify_all();
  }
}

Result<Current> EngineBuilder::round(std::optional<Millis> pulse) {
  Lock lock(mutex_);
  auto known = current_;
  lock.unlock();
  if (known) check_life(*known, pulse);
  if (known_answer(known)) return known;
  auto snapshot = TRY(read_snapshot(options_.directory));
  // A folder's stamp moves for files that are none of ours, and fresh stamps are settled by the bytes.
  bool is_due = !known || known->is_lost || (known->failure && Steady::now() >= known->retry_at);
  if (!is_due && known->snapshot.files == snapshot.files) {
    known->see(snapshot);
    return known;
  }
  if (auto program = net::find_program(options_.binary); !program)
    return fail(Code::policy_unavailable, "{}; install Open Policy Agent, or name it in POLICY_BINARY",
                program.error().message);
  return build(std::move(snapshot));
}

Result<Current> EngineBuilder::build(Snapshot snapshot) {
  if (cancelled_) return stopping();
  if (!run_dir_) run_dir_.emplace(TRY(RunDir::make()));
  {
    std::lock_guard lock(mutex_);
    building_since_ = Steady::now();
  }
  auto next =
      start_generation(std::move(snapshot), *run_dir_, tool_, nursery_, {options_.build_timeout, cancelled_});
  Current old = next;
  std::lock_guard lock(mutex_);
  building_since_.reset();
  current_.swap(old);
  return next;
}  // the old one ends here, or with its last question

// The engine's process may have ended, or be stuck; a stuck one is ended.
void EngineBuilder::check_life(Generation& generation, std::optional<Millis> pulse) {
  if (generation.failure || generation.fault || generation.is_lost) return;
  generation.child.discard_output();
  if (generation.child.running()) {
    if (!pulse) return;
    auto alive = generation.socket->post("/v1/data/system/none", "{}", Steady::now() + *pulse, cancelled_);
    if (alive || cancelled_) return;
    generation.child.kill();
  }
  report_lost(generation);
}

// Each cause once, not once a second.
void EngineBuilder::report(const Result<Current>& outcome) {
  auto answer = outcome ? usable(*outcome) : outcome;
  auto cause = answer ? fmt::format("loaded {}", (*answer)->rules->digest) : answer.error().message;
  if (cancelled_ || reported_ == cause) return;
  reported_ = cause;
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
    auto answer = *outcome_ ? usable(**outcome_) : *outcome_;
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
