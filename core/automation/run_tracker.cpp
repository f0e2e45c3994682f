#include "core/automation/run_tracker.hpp"

#include <algorithm>

#include "core/automation/output_lines.hpp"
#include "core/base/lines.hpp"

namespace dash::automation {
namespace {

constexpr std::chrono::seconds kShowInterval{1};
constexpr std::size_t kMaxNamedHosts = 5;  // in a job's error

std::string_view sentence_of(RunEnd::How how) {
  switch (how) {
    case RunEnd::How::cancelled:
    case RunEnd::How::stopped:
      return "the run was stopped";
    case RunEnd::How::timed_out:
      return "the run was stopped at its deadline (automation_timeout_seconds)";
    case RunEnd::How::too_many_failures:
      return "the run was stopped: more hosts failed than max_failures allows";
    case RunEnd::How::exited:
      break;
  }
  return "the run did not reach it";
}

std::string_view reason_of(RunEnd::How how) {
  return how == RunEnd::How::timed_out           ? "timeout"
         : how == RunEnd::How::too_many_failures ? "max_failures"
                                                 : "automation";
}

}  // namespace

RunTracker::RunTracker(std::vector<TrackedHost> hosts, jobs::RunControl& leader, jobs::GroupRun& group,
                       const jobs::SecretMask& mask)
    : leader_(leader), group_(group), mask_(mask) {
  names_.resize(group.size() + 1);
  seen_banner_.resize(names_.size());
  shown_.resize(names_.size());
  for (auto& host : hosts) {
    names_.at(host.job).push_back(host.name);
    hosts_[host.name].job = host.job;
    order_.push_back(std::move(host.name));
  }
  for (std::size_t job = 0; job < names_.size(); ++job) {
    control_of(job).report({.items_total = names_[job].size()});
    show_hosts(job, true);
  }
}

jobs::RunControl& RunTracker::control_of(std::size_t job) {
  return job == 0 ? leader_ : group_.control(job - 1);
}

void RunTracker::log_lines(std::size_t job, const std::vector<std::string>& lines) {
  auto& control = control_of(job);
  const auto masked = mask_.mask_lines(lines, kMaxOutputLine);
  for (auto line : lines_of(masked)) control.log(std::string(line));
}

void RunTracker::on_output(std::string line) {
  std::lock_guard lock(mutex_);
  log_lines(0, {std::move(line)});
}

void RunTracker::on_shared_output(const std::string& line) {
  std::lock_guard lock(mutex_);
  for (std::size_t job = 0; job < names_.size(); ++job) log_lines(job, {line});
}

void RunTracker::on_event(RunEvent event) {
  std::lock_guard lock(mutex_);
  auto found = event.host ? hosts_.find(*event.host) : hosts_.end();
  if (event.kind == RunEvent::Kind::lines && found == hosts_.end()) {
    // The headings of a batch go into the log of each job that has something below them.
    banner_ = event.lines;
    seen_banner_[0] = ++banners_;
    return log_lines(0, event.lines);
  }
  if (found == hosts_.end()) return;
  auto& host = found->second;
  if (event.kind == RunEvent::Kind::lines) {
    if (std::exchange(seen_banner_[host.job], banners_) != banners_) log_lines(host.job, banner_);
    return log_lines(host.job, event.lines);
  }
  if (event.kind == RunEvent::Kind::outcome) {
    host.outcome = event.outcome, host.error = mask_.mask_lines({event.error}, kMaxOutputError);
    return show_hosts(host.job, false);
  }
  if (std::exchange(host.is_done, true)) return;
  const auto& names = names_[host.job];
  auto done = std::ranges::count_if(names, [&](const auto& name) { return hosts_.at(name).is_done; });
  control_of(host.job).report({.items_done = static_cast<std::uint64_t>(done), .items_total = names.size()});
  show_hosts(host.job, done == std::ssize(names));
}

OrderedJson RunTracker::hosts_json(std::size_t job) const {
  auto out = OrderedJson::array();
  for (const auto& name : names_.at(job)) {
    const auto& host = hosts_.at(name);
    out.push_back(
        {{"name", name},
         {"outcome", host.outcome == Outcome::none ? OrderedJson(nullptr) : OrderedJson(word(host.outcome))},
         {"error", host.error.empty() ? OrderedJson(nullptr) : OrderedJson(host.error)}});
  }
  return out;
}

// A list of hundreds of hosts is not written for each of their tasks.
void RunTracker::show_hosts(std::size_t job, bool is_final) {
  auto now = std::chrono::steady_clock::now();
  if (!is_final && names_[job].size() > 1 && now - shown_[job] < kShowInterval) return;
  shown_[job] = now;
  control_of(job).set_detail("hosts", hosts_json(job));
}

std::size_t RunTracker::bad_hosts() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::ranges::count_if(hosts_, [](const auto& entry) { return is_bad(entry.second.outcome); }));
}

// What is open when the program has ended: hosts that it left out, and those in the middle of their work.
void RunTracker::settle(const RunEnd& end) {
  for (auto& [name, host] : hosts_) {
    if (host.is_done || is_bad(host.outcome)) continue;
    bool is_good = end.how == RunEnd::How::exited && end.exit_status == 0;
    if (host.outcome == Outcome::none) {
      host.outcome = Outcome::skipped;
      host.error = is_good ? "no play of the playbook names it" : sentence_of(end.how);
    } else if (end.how != RunEnd::How::exited) {
      host.outcome = Outcome::failed;
      host.error = sentence_of(end.how);
    }
  }
}

jobs::RunResult RunTracker::result_of(std::size_t job, const RunEnd& end) const {
  std::vector<std::string> bad;
  const auto& names = names_.at(job);
  for (const auto& name : names)
    if (const auto& host = hosts_.at(name); is_bad(host.outcome) && bad.size() < kMaxNamedHosts) {
      std::string_view error = host.error;
      auto first = take_line(error);
      bad.push_back(
          fmt::format("{}: {}{}{}", name, word(host.outcome), host.error.empty() ? "" : ": ", first));
    }
  jobs::RunResult out;
  out.exit_status = end.exit_status, out.signal = end.signal;
  out.reason = reason_of(end.how);
  bool is_done = std::ranges::all_of(names, [&](const auto& name) { return hosts_.at(name).is_done; });
  // In a batch one host's failure is not another's.
  bool is_good = bad.empty() && (end.exit_status == 0 || (names_.size() > 1 && is_done));
  out.status = is_good ? jobs::RunStatus::done : jobs::RunStatus::failed;
  if (is_good) return out;
  out.error = !bad.empty()                      ? fmt::format("{}", fmt::join(bad, "; "))
              : end.how != RunEnd::How::exited  ? std::string(sentence_of(end.how))
              : end.error.empty() && end.signal ? fmt::format("ansible was killed by signal {}", *end.signal)
              : end.error.empty()
                  ? fmt::format("ansible ended with exit status {}", end.exit_status.value_or(-1))
                  : mask_.mask_lines({end.error}, kMaxOutputLine);
  return out;
}

jobs::RunResult RunTracker::finish(const RunEnd& end) {
  std::lock_guard lock(mutex_);
  settle(end);
  bool is_stopped = end.how == RunEnd::How::cancelled || end.how == RunEnd::How::stopped;
  for (std::size_t job = 0; job < names_.size(); ++job) {
    show_hosts(job, true);
    if (job == 0) continue;
    auto result = result_of(job, end);
    bool is_own = group_.is_cancelled(group_.job(job - 1).id);
    if (result.status != jobs::RunStatus::done && is_stopped) {
      result.reason = is_own ? "user" : end.how == RunEnd::How::stopped ? "worker_lost" : "batch_stopped";
      result.error = end.how == RunEnd::How::stopped
                         ? "its worker was shut down; look at the host before you run it again"
                         : "a run of its batch was cancelled, and one process runs them all";
      if (is_own) result.status = jobs::RunStatus::stopped;
    }
    std::ignore = group_.finish(job - 1, result);
  }
  auto result = result_of(0, end);
  if (is_stopped && result.status != jobs::RunStatus::done) result.status = jobs::RunStatus::stopped;
  return result;
}

}  // namespace dash::automation
