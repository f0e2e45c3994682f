#include <pthread.h>
#include <signal.h>

#include <ctime>
#include <thread>

#include "cmd/agent/agent_commands.hpp"
#include "cmd/cli/printer.hpp"
#include "core/agent/protocol/documents.hpp"
#include "core/agent/remote/agent.hpp"
#include "core/agent/remote/automation_jobs.hpp"
#include "core/agent/remote/configuration_check.hpp"
#include "core/agent/remote/enrolment.hpp"
#include "core/agent/remote/storage_jobs.hpp"
#include "core/base/log.hpp"
#include "core/jobs/run_folder.hpp"
#include "core/net/http/stoppable_client.hpp"

namespace dash::cmd {
namespace {

// Waits for SIGINT and SIGTERM in a thread of its own; every other thread has them blocked.
class StopSignals {
 public:
  StopSignals() {
    ::sigemptyset(&signals_);
    ::sigaddset(&signals_, SIGINT);
    ::sigaddset(&signals_, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  std::jthread watch(std::atomic<bool>& is_stopping, agent::RunningAgent& agent) {
    return std::jthread([this, &is_stopping, &agent](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        timespec moment{0, 200'000'000};
        if (::sigtimedwait(&signals_, nullptr, &moment) <= 0) continue;
        log::info("agent.stopping");
        is_stopping = true;
        agent.wake();
      }
    });
  }

 private:
  sigset_t signals_{};
};

// Runs are offered where they are possible; why they are not is in the log.
void add_automation(agent::RunningAgent& agent, const agent::Settings& settings, const agent::Policy& policy,
                    agent::DashboardClient& reports, const std::atomic<bool>& is_stopping) {
  if (!policy.has_job_type(agent::kAutomationJobType)) return;
  if (auto usable = agent::AutomationJobs::check_usable(settings.state_folder); !usable)
    return log::warning("agent.no_automation", {{"reason", usable.error().message}});
  jobs::remove_leftover_runs(settings.state_folder);
  agent.add(std::string(agent::kAutomationJobType),
            std::make_unique<agent::AutomationJobs>(
                settings, policy, reports, [&is_stopping] { return is_stopping.load(); }, "/proc/self/exe"),
            /*is_long=*/true);
}

Result<void> run_agent(const agent::GivenSettings& given) {
  StopSignals signals;
  std::atomic<bool> is_stopping = false;
  auto settings = TRY(agent::read_settings(given, agent::process_environment()));
  SystemClock clock;
  auto http = net::make_curl_client();
  auto leasing = net::make_stoppable_client([&] { return is_stopping.load(); });
  TRY(agent::probe_state_folder(settings.state_folder));
  auto lock = TRY(agent::lock_state_folder(settings.state_folder));
  auto identity = TRY(agent::identity_or_enrol(*http, settings));
  auto report = TRY(agent::check_configuration(settings, identity));
  for (const auto& warning : report.warnings) log::warning("agent.configuration", {{"warning", warning}});
  auto address = TRY(agent::address_of(identity, settings));
  agent::DashboardClient leases(*leasing, clock, identity, address), reports(*http, clock, identity, address);
  auto done = TRY(agent::DoneJobs::open(settings.state_folder));
  agent::RunningAgent agent({settings, report.policy, clock, leases, reports, done}, is_stopping);
  if (report.policy.has_job_type(agent::kStorageJobType))
    agent.add(std::string(agent::kStorageJobType),
              std::make_unique<agent::StorageJobs>(settings, report.policy, reports, clock, "/proc/self/exe"),
              /*is_long=*/false);
  add_automation(agent, settings, report.policy, reports, is_stopping);
  auto watch = signals.watch(is_stopping, agent);
  log::info("agent.started", {{"agent", identity.agent_id},
                              {"dashboard", address.url},
                              {"mode", settings.is_audit ? "audit" : "normal"},
                              {"policy_hash", report.policy.hash}});
  auto ended = agent.run();
  // A single job is waited for; a dashboard that does not know this agent any more gets no more of its runs.
  if (!ended) is_stopping = true;
  agent.finish();
  return ended;
}

Run declare_run(Flags& flags) {
  auto given = std::make_shared<agent::GivenSettings>();
  declare_state_folder(flags, *given);
  declare_agent_files(flags, *given);
  flags.text("--url", given->url, "URL", "the dashboard's address, where it differs from the enrolment's");
  flags.text("--code-file", given->code_file, "FILE", "enrol first with the code in this file");
  flags.text("--ca-bundle", given->ca_bundle, "FILE", "PEM file with more authorities to trust");
  flags.text("--mode", given->mode, "MODE", "audit changes nothing; normal by default, or AGENT_MODE")
      .one_of({"normal", "audit"});
  flags.toggle("--once", given->is_once, "wait a few seconds for one job, and end");
  return [given](Context&) { return run_agent(*given); };
}

}  // namespace

Action agent_run_action() {
  Action action{
      "run",
      "Carry out the jobs that the dashboard gives this agent",
      "Connects to the dashboard alone and listens nowhere. What the policy does not allow is refused, "
      "whatever the dashboard asks for. Logs to stderr. Exits with 2 when it is misconfigured, revoked or "
      "answered 401, so that a supervisor need not start it again, and with 0 when it is stopped.",
      declare_run,
      {{"Run with the files of this machine", "dashctl agent run"},
       {"Show what would be done, and change nothing", "dashctl agent run --mode audit --once"}}};
  action.is_daemon = true;
  return action;
}

}  // namespace dash::cmd
