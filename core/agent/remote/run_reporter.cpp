#include "core/agent/remote/run_reporter.hpp"

#include <algorithm>

#include "core/automation/output_lines.hpp"
#include "core/base/lines.hpp"

namespace dash::agent {
namespace {

constexpr std::chrono::seconds kReportInterval{2};
constexpr std::string_view kLogEndsHere = "(the log ends here: a job keeps no more lines)";

}  // namespace

RunReporter::RunReporter(JobReports& reports, const LeasedJob& job, const std::vector<AutomationHost>& hosts,
                         const jobs::SecretMask& mask)
    : reports_(reports), job_(job), mask_(mask) {
  for (const auto& host : hosts) {
    order_.push_back(host.name);
    hosts_[host.name] = {host.name, ""};
  }
  thread_ = std::thread([this] { keep_reporting(); });
}

RunReporter::~RunReporter() {
  {
    std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void RunReporter::add_lines(const std::vector<std::string>& lines) {
  auto masked = mask_.mask_lines(lines, automation::kMaxOutputLine);
  std::string_view rest = masked;
  do {
    auto line = take_line(rest);
    auto kept = sent_lines_ + static_cast<std::int64_t>(lines_.size());
    if (kept < kMaxLinesPerJob) lines_.emplace_back(kept + 1 < kMaxLinesPerJob ? line : kLogEndsHere);
  } while (!rest.empty());
}

void RunReporter::on_output(const std::string& line) {
  std::lock_guard lock(mutex_);
  add_lines({line});
}

void RunReporter::on_event(const automation::RunEvent& event) {
  using Kind = automation::RunEvent::Kind;
  std::lock_guard lock(mutex_);
  if (event.kind == Kind::lines) return add_lines(event.lines);
  auto found = event.host ? hosts_.find(*event.host) : hosts_.end();
  if (found == hosts_.end()) return;
  if (event.kind == Kind::done) {
    done_[found->first] = true;
  } else {
    found->second.outcome = automation::word(event.outcome);
    found->second.error = mask_.mask_lines({event.error}, automation::kMaxOutputError);
  }
}

std::size_t RunReporter::bad_hosts() const {
  std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(std::ranges::count_if(hosts_, [](const auto& entry) {
    return entry.second.outcome == "failed" || entry.second.outcome == "unreachable";
  }));
}

std::vector<AutomationHostResult> RunReporter::hosts() const {
  std::lock_guard lock(mutex_);
  std::vector<AutomationHostResult> out;
  for (const auto& name : order_) out.push_back(hosts_.at(name));
  return out;
}

void RunReporter::keep_reporting() {
  std::unique_lock lock(mutex_);
  for (bool is_last = false; !is_last;) {
    wake_.wait_for(lock, kReportInterval, [&] { return is_closing_; });
    is_last = is_closing_;  // what comes while the rest is sent needs another turn
    flush(lock);
  }
}

void RunReporter::flush(std::unique_lock<std::mutex>& lock) {
  auto lines = std::exchange(lines_, {});
  auto first = std::exchange(sent_lines_, sent_lines_ + std::ssize(lines)) + 1;
  auto percent = hosts_.empty() ? 0 : static_cast<int>(90 * done_.size() / hosts_.size());
  bool is_last = is_closing_;
  lock.unlock();
  if (!lines.empty()) reports_.logs(job_, lines, first);
  if (!is_last && reports_.is_cancelled(job_, {percent, "running"})) is_cancelled_ = true;
  lock.lock();
}

}  // namespace dash::agent
