#include "daemon/server/readiness.hpp"

#include <algorithm>
#include <optional>

#include "core/base/log.hpp"

namespace dash::daemon {
namespace {

using Steady = std::chrono::steady_clock;

Result<void> no_answer() {
  return fail(Code::timeout, "no answer within {} s", kCheckTimeout.count() / 1000);
}

struct CheckResult {
  const ReadyCheck* check;
  Result<void> outcome;
};

}  // namespace

// Checks that one thread makes one after the other, every kCheckInterval and on request.
class Readiness::Round {
 public:
  explicit Round(std::vector<ReadyCheck> checks) : thread_([this] { run(); }) {
    std::lock_guard lock(mutex_);
    for (auto& check : checks) slots_.push_back({std::move(check), {}, 0});
    has_checks_ = true;
    woken_.notify_all();
  }
  ~Round() {
    {
      std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    woken_.notify_all();
    thread_.join();
  }

  // Returns the results of a round that begins from now on. A check that has not ended by then has no result.
  std::vector<CheckResult> run_and_wait() {
    std::unique_lock lock(mutex_);
    auto wanted_round = begun_ + 1;
    wanted_ = std::max(wanted_, wanted_round);
    woken_.notify_all();
    ended_.wait_for(lock, kCheckTimeout, [&] { return finished_ >= wanted_round; });
    std::vector<CheckResult> out;
    for (const auto& slot : slots_)
      out.push_back({&slot.check, slot.round >= wanted_round ? *slot.outcome : no_answer()});
    return out;
  }

  // Returns the last results. A check that has never ended counts as good for as long as it may take.
  std::vector<CheckResult> latest() const {
    std::lock_guard lock(mutex_);
    std::vector<CheckResult> out;
    bool hangs = begun_ > finished_ && Steady::now() - check_began_ > kCheckTimeout;
    for (std::size_t i = 0; i < slots_.size(); ++i) {
      auto outcome = slots_[i].outcome.value_or(Result<void>());
      out.push_back({&slots_[i].check, hangs && i == at_ ? no_answer() : std::move(outcome)});
    }
    return out;
  }

 private:
  struct Slot {
    ReadyCheck check;
    std::optional<Result<void>> outcome;
    std::uint64_t round;  // the round in which it was made
  };

  void run() {
    std::unique_lock lock(mutex_);
    woken_.wait(lock, [this] { return has_checks_ || is_closing_; });
    while (!is_closing_) {
      ++begun_;
      for (at_ = 0; at_ < slots_.size() && !is_closing_; ++at_) run_check(lock, slots_[at_]);
      finished_ = begun_;
      ended_.notify_all();
      woken_.wait_for(lock, kCheckInterval, [this] { return is_closing_ || wanted_ > begun_; });
    }
  }

  void run_check(std::unique_lock<std::mutex>& lock, Slot& slot) {
    check_began_ = Steady::now();
    lock.unlock();
    auto outcome = slot.check.check();
    lock.lock();
    if (!outcome && !outcome.error().detail.empty())
      log::warning("readiness.check_failed",
                   {{"check", slot.check.name}, {"detail", outcome.error().detail}});
    slot.outcome = std::move(outcome);
    slot.round = begun_;
  }

  mutable std::mutex mutex_;
  std::condition_variable woken_, ended_;
  std::vector<Slot> slots_;
  bool has_checks_ = false, is_closing_ = false;
  std::uint64_t wanted_ = 0, begun_ = 0, finished_ = 0;
  std::size_t at_ = 0;
  Steady::time_point check_began_{};
  std::thread thread_;
};

Readiness::Readiness(std::vector<ReadyCheck> checks) {
  auto first_of_background = std::ranges::stable_partition(
      checks, [](const ReadyCheck& c) { return c.kind != CheckKind::degrades; });
  std::vector<ReadyCheck> background(std::make_move_iterator(first_of_background.begin()),
                                     std::make_move_iterator(first_of_background.end()));
  checks.erase(first_of_background.begin(), checks.end());
  foreground_ = std::make_unique<Round>(std::move(checks));
  background_ = std::make_unique<Round>(std::move(background));
}

Readiness::~Readiness() = default;

Response Readiness::response() {
  bool is_ready = true;
  auto checks = OrderedJson::object(), degraded = OrderedJson::array();
  for (const auto& [check, outcome] : foreground_->run_and_wait()) {
    checks[check->name] = outcome ? "ok" : outcome.error().message;
    if (!outcome && check->kind == CheckKind::required) is_ready = false;
  }
  for (const auto& [check, outcome] : background_->latest())
    if (!outcome) degraded.push_back(fmt::format("{}: {}", check->name, outcome.error().message));
  return json_response(is_ready ? 200 : 503,
                       OrderedJson{{"ready", is_ready}, {"checks", checks}, {"degraded", degraded}});
}

void Readiness::add_samples(metrics::Samples& out) const {
  auto results = foreground_->latest();
  std::ranges::move(background_->latest(), std::back_inserter(results));
  int degraded = 0;
  for (const auto& [check, outcome] : results) {
    out.push_back({&metrics::kCheckOk, {check->name}, outcome ? 1.0 : 0.0});
    if (!outcome && check->kind == CheckKind::degrades) ++degraded;
  }
  out.push_back({&metrics::kDegraded, {}, static_cast<double>(degraded)});
}

}  // namespace dash::daemon
