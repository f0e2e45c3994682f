#include "core/agent/remote/agent.hpp"

#include <deque>
#include <random>

#include "core/base/log.hpp"
#include "core/base/utf8.hpp"

namespace dash::agent {
namespace {

constexpr std::size_t kMaxWaitingJobs = 100;  // of one class; the dashboard keeps the rest

double random_part() {
  thread_local std::mt19937_64 engine(std::random_device{}());
  return std::uniform_real_distribution<double>(0, 1)(engine);
}

}  // namespace

// The jobs of one type: carried out by the leasing thread itself, or by a thread that they wait for.
struct RunningAgent::Lane {
  std::unique_ptr<JobRunner> runner;
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<LeasedJob> waiting{};
  bool is_closing = false;
  std::thread thread{};  // of a long one

  bool push(const LeasedJob& job) {
    std::lock_guard lock(mutex);
    if (waiting.size() >= kMaxWaitingJobs) return false;
    waiting.push_back(job);
    changed.notify_one();
    return true;
  }

  void work(const std::function<void(const LeasedJob&)>& carry_out) {
    std::unique_lock lock(mutex);
    for (;;) {
      changed.wait(lock, [&] { return is_closing || !waiting.empty(); });
      if (waiting.empty()) return;
      auto job = waiting.front();
      waiting.pop_front();
      lock.unlock();
      carry_out(job);
      lock.lock();
    }
  }

  // Ends after the jobs that wait: their runner sees that the agent is stopping.
  void close() {
    {
      std::lock_guard lock(mutex);
      is_closing = true;
    }
    changed.notify_one();
    if (thread.joinable()) thread.join();
  }
};

RunningAgent::RunningAgent(Deps deps, const std::atomic<bool>& is_stopping)
    : deps_(deps),
      is_stopping_(is_stopping),
      reports_(deps.reports, [this] { return is_stopping_.load(); }) {}

RunningAgent::~RunningAgent() { finish(); }

void RunningAgent::finish() {
  for (auto& [type, lane] : lanes_) lane->close();
}

void RunningAgent::add(std::string type, std::unique_ptr<JobRunner> runner, bool is_long) {
  auto& lane = lanes_[std::move(type)];
  lane = std::make_unique<Lane>(std::move(runner));
  if (!is_long) return;
  auto* own = lane.get();
  own->thread =
      std::thread([this, own] { own->work([&](const LeasedJob& job) { carry_out(job, *own->runner); }); });
}

LeaseAnswer RunningAgent::lease(std::chrono::milliseconds& took) {
  LeaseRequest request;
  request.agent_version = kAgentVersion;
  request.job_types.emplace();
  for (const auto& [type, lane] : lanes_) request.job_types->push_back(type);
  request.wait_s = deps_.settings.is_once ? kOnceWaitSeconds : kMaxWaitSeconds;
  request.features = {std::string(kRangesFeature), std::string(kPagesFeature)};
  auto began = deps_.clock.steady_now();
  auto response = deps_.leases.lease(request);
  took = std::chrono::duration_cast<std::chrono::milliseconds>(deps_.clock.steady_now() - began);
  if (!response && response.error().code == Code::interrupted) return {};
  return read_lease_answer(response, deps_.leases.identity(),
                           std::chrono::ceil<std::chrono::seconds>(deps_.settings.poll), deps_.clock.now());
}

Result<void> RunningAgent::run() {
  PollTimer timer(deps_.settings.poll, random_part);
  while (!is_stopping_) {
    std::chrono::milliseconds took{0};
    auto answer = lease(took);
    if (answer.kind == LeaseAnswer::Kind::job) handle(answer.job);
    if (answer.kind == LeaseAnswer::Kind::revoked) return fail(Code::usage, "{}", answer.why);
    if (answer.kind == LeaseAnswer::Kind::failed)
      log::warning("agent.lease_failed", {{"error", escape_controls(answer.why, "")}});
    if (deps_.settings.is_once)
      return answer.kind == LeaseAnswer::Kind::failed ? fail(Code::unreachable, "{}", answer.why)
                                                      : Result<void>();
    wait(timer.next(answer, took));
  }
  return {};
}

void RunningAgent::wait(std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, time, [&] { return is_stopping_.load(); });
}

void RunningAgent::wake() {
  std::lock_guard lock(mutex_);
  wake_.notify_all();
}

// In the order in which a refusal says least: the type, the time, and then whether it was begun before.
Result<void> RunningAgent::accept(const LeasedJob& job) {
  TRY(judge_job_type(deps_.policy, job.type));
  if (!lanes_.contains(job.type))
    return fail(Code::policy_denied, "this agent cannot carry out jobs of the type '{}'",
                escape_controls(job.type, ""));
  if (job.expires_at && to_micros(deps_.clock.now()) / 1'000'000 > *job.expires_at)
    return fail(Code::conflict, "the job expired before this agent got it, so nothing was done");
  if (deps_.done.has(job.id))
    return fail(Code::conflict, "this agent has begun this job before, and does none twice");
  // Before its first step, so that a crash cannot repeat it.
  return deps_.done.add(job.id);
}

void RunningAgent::handle(const LeasedJob& job) {
  log::info("agent.leased", {{"job", job.id}, {"type", escape_controls(job.type, "")}});
  if (auto accepted = accept(job); !accepted) {
    reports_.complete(job, completion_of(Failure(accepted.error()), {}));
    return;
  }
  auto& lane = *lanes_.at(job.type);
  if (!lane.thread.joinable()) return carry_out(job, *lane.runner);
  if (lane.push(job)) return;
  reports_.complete(
      job,
      completion_of(fail(Code::busy, "{} jobs wait at this agent already; nothing was done", kMaxWaitingJobs),
                    {}));
}

void RunningAgent::carry_out(const LeasedJob& job, JobRunner& runner) {
  JobContext context;
  auto result = runner.run(job, context);
  reports_.complete(job, completion_of(result, context));
}

}  // namespace dash::agent
