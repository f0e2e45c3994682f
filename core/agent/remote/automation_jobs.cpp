#include "core/agent/remote/automation_jobs.hpp"

#include <fcntl.h>
#include <unistd.h>

#include "core/agent/remote/run_reporter.hpp"
#include "core/automation/ansible_command.hpp"
#include "core/automation/host_rules.hpp"
#include "core/automation/output_lines.hpp"
#include "core/automation/playbook_become.hpp"
#include "core/automation/run_request.hpp"
#include "core/base/fd.hpp"
#include "core/base/file.hpp"
#include "core/base/utf8.hpp"
#include "core/net/process/confinement.hpp"
#include "core/storage/store/digest.hpp"

namespace dash::agent {
namespace {

constexpr std::uint64_t kMemoryBytes = 1024ull << 20;  // of each process of a run, as a dashboard's default
constexpr std::chrono::seconds kStopGrace{20};

// Writes the asset to its file while its digest is made. More bytes than the job names end it.
class AssetFile final : public Sink {
 public:
  AssetFile(const std::string& path, std::uint64_t size)
      : file_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)), left_(size) {}

  Result<void> write(std::string_view bytes) override {
    if (bytes.size() > left_) return fail(Code::integrity, "the asset has more bytes than the job names");
    left_ -= bytes.size();
    for (auto rest = bytes; !rest.empty();) {
      auto n = ::write(file_.get(), rest.data(), rest.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail(Code::internal, "the asset cannot be written: {}", ::strerrordesc_np(errno));
      rest.remove_prefix(static_cast<std::size_t>(n));
    }
    while (!bytes.empty()) {
      auto piece = bytes.substr(0, kPartBytes - part_bytes_);
      part_.update(piece);
      part_bytes_ += piece.size();
      bytes.remove_prefix(piece.size());
      if (part_bytes_ == kPartBytes) finish_part();
    }
    return {};
  }

  Result<void> check(const std::string& digest) {
    if (part_bytes_ > 0 || parts_ == 0) finish_part();
    if (left_ == 0 && whole_.finish() == digest) return {};
    return fail(Code::integrity, "the asset is not the one that the job names: its digest differs");
  }

 private:
  void finish_part() {
    whole_.add(part_.finish());
    part_ = crypto::Sha256();
    part_bytes_ = 0, ++parts_;
  }
  Fd file_;
  std::uint64_t left_, part_bytes_ = 0, parts_ = 0;
  crypto::Sha256 part_;
  storage::PartDigests whole_;
};

Result<automation::Host> host_of(const AutomationHost& given, std::string address) {
  automation::Host host;
  host.name = given.name;
  host.written_address = given.address;
  host.address = std::move(address);
  host.port = given.port;
  host.user = given.user;
  host.connection = automation::connection_of(given.connection);
  host.host_key = given.host_key;
  if (!automation::parse_ip(host.name)) TRY(automation::check_host_name(host.name));
  TRY(automation::check_variables("variables", given.variables));
  for (const auto& group : given.groups) TRY(automation::check_group_name(group));
  host.variables = given.variables;
  host.groups = given.groups;
  if (host.connection == automation::Connection::ssh && host.host_key.empty())
    return fail(Code::invalid, "the host '{}' has no pinned key, so nothing is sent to it", host.name);
  return host;
}

// One automation job, from its judgement to its result.
class RemoteRun {
 public:
  RemoteRun(const LeasedJob& leased, AutomationJob job, JobContext& context, DashboardClient& dashboard,
            const std::function<bool()>& is_stopping)
      : leased_(leased),
        job_(std::move(job)),
        context_(context),
        dashboard_(dashboard),
        is_stopping_(is_stopping),
        reports_(dashboard, is_stopping) {}

  // The policy decides before anything is fetched.
  Result<void> judge(const Policy& policy) {
    TRY(judge_host_count(policy, job_.hosts.size()));
    for (const auto& host : job_.hosts)
      request_.hosts.push_back(TRY(host_of(host, TRY(judge_host(policy, host)))));
    request_.forks = std::min(job_.forks, policy.max_concurrency.value_or(job_.forks));
    request_.is_check = job_.is_check;
    TRY(automation::check_variables("extra_vars", job_.extra_vars));
    request_.extra_vars = job_.extra_vars;
    return {};
  }

  Result<Json> run(const std::string& state_folder, const std::string& launcher) {
    auto folder = TRY(jobs::RunFolder::make(state_folder, leased_.id));
    auto wrapped = job_.project ? automation::wrap_compose(job_.asset, TRY(project()))
                                : automation::wrap(job_.type, job_.asset);
    AssetFile asset(folder.work() + "/" + wrapped.asset_file, job_.asset_bytes);
    TRY(dashboard_.asset(leased_.id, asset));
    TRY(asset.check(job_.asset_digest));
    TRY(fetch_secrets());
    TRY(judge_rights(folder.work() + "/" + wrapped.asset_file, wrapped));
    TRY(automation::write_run_files(folder, request_, wrapped));
    auto secrets = TRY(folder.secrets());
    auto program = TRY(automation::probe_ansible(TRY(automation::find_ansible())));
    auto command = automation::ansible_command(program, folder.work(), secrets, request_, wrapped);
    net::Confinement confinement;
    confinement.read = program.folders;
    confinement.read.push_back(program.path);
    confinement.read.push_back(secrets);
    confinement.work = {folder.work()};
    confinement.memory_bytes = kMemoryBytes;
    confinement.stop_grace = kStopGrace;
    return execute(net::confined(command, confinement, launcher));
  }

 private:
  // As the dashboard judges runs on its own machine: nobody else's rights are taken on this one.
  Result<void> judge_rights(const std::string& asset_path, const automation::WrapResult& wrapped) const {
    bool has_local = std::ranges::any_of(request_.hosts, [](const automation::Host& host) {
      return host.connection == automation::Connection::local;
    });
    bool becomes =
        automation::uses_become(request_.extra_vars) || automation::uses_become(request_.secret_vars);
    if (wrapped.playbook.empty()) {
      bool is_short = job_.asset_bytes <= automation::kMaxJudgedPlaybook;
      auto text = is_short ? TRY(read_file(asset_path, automation::kMaxJudgedPlaybook))
                           : std::string(automation::kMaxJudgedPlaybook + 1, ' ');
      auto judged = automation::judge_playbook(job_.asset, text, {has_local, becomes});
      if (!judged) return fail(Code::policy_denied, "{}", judged.error().message);
      becomes = *judged;
    }
    becomes =
        becomes || wrapped.becomes || std::ranges::any_of(request_.hosts, [](const auto& host) {
          return host.connection == automation::Connection::local && automation::uses_become(host.variables);
        });
    if (!has_local || !becomes) return {};
    return fail(Code::policy_denied,
                "'{}' takes another user's rights (become), and a host of it is this agent's own machine",
                job_.asset);
  }

  Result<std::string> project() const {
    TRY(automation::check_project(*job_.project));
    return *job_.project;
  }

  Result<void> fetch_secrets() {
    for (std::size_t i = 0; i < job_.hosts.size(); ++i) {
      if (!job_.hosts[i].has_secret) continue;
      auto& host = request_.hosts[i];
      host.secret =
          TRY(within(fmt::format("host '{}'", host.name), dashboard_.secret(leased_.id, host.name)));
      host.secret_kind = automation::secret_kind_of(host.secret);
      context_.secrets.push_back(host.secret.expose());
    }
    if (!job_.has_secret_vars) return {};
    auto text = TRY(dashboard_.secret(leased_.id, std::string(kSecretVariablesRef)));
    auto variables = parse_json(text.expose());
    if (!variables || !variables->is_object())
      return fail(Code::integrity, "the run's secret variables are no JSON object");
    TRY(automation::check_secret_names(*variables));
    request_.secret_vars = *std::move(variables);
    for (const auto& [name, value] : request_.secret_vars.items())
      if (value.is_string()) context_.secrets.push_back(value.get<std::string>());
    return {};
  }

  std::string_view stop_reason(const RunReporter& reporter) const {
    if (reporter.is_cancelled()) return "cancelled";
    if (is_stopping_()) return "stopped";
    if (std::chrono::steady_clock::now() >= due_) return "timed_out";
    if (job_.max_failures && std::cmp_greater(reporter.bad_hosts(), *job_.max_failures))
      return "too_many_failures";
    return "";
  }

  Result<Json> execute(const net::Command& command) {
    jobs::SecretMask mask(context_.secrets);
    RunReporter reporter(reports_, leased_, job_.hosts, mask);
    due_ = std::chrono::steady_clock::now() + std::chrono::seconds(job_.timeout_seconds);
    automation::RunEventReader events([&](const automation::RunEvent& event) { reporter.on_event(event); });
    auto on_line = [&](const std::string& line) { reporter.on_output(line); };
    automation::OutputLines out(on_line), err(on_line);
    AutomationResult result;
    result.reason = "exited";
    net::RunOptions options;
    options.out = &out, options.err = &err, options.report = &events;
    options.grace = kStopGrace;
    options.should_stop = [&] {
      auto why = stop_reason(reporter);
      if (!why.empty()) result.reason = why;
      return !why.empty();
    };
    auto child = TRY(net::Child::start(command));
    auto exit = child.communicate(options);
    out.finish(), err.finish();
    if (!exit && exit.error().code != Code::interrupted) return Failure(exit.error());
    const auto& status = child.exit_status();
    if (status.signal != 0) result.signal = status.signal;
    if (status.signal == 0 && status.code >= 0) result.exit_status = status.code;
    result.hosts = reporter.hosts();
    return to_json(result);
  }

  const LeasedJob& leased_;
  const AutomationJob job_;
  JobContext& context_;
  DashboardClient& dashboard_;
  const std::function<bool()>& is_stopping_;
  JobReports reports_;
  automation::AnsibleRequest request_;
  std::chrono::steady_clock::time_point due_;
};

}  // namespace

Result<Json> AutomationJobs::run(const LeasedJob& leased, JobContext& context) {
  auto job = TRY(read_automation_job(leased.payload));
  RemoteRun run(leased, std::move(job), context, dashboard_, is_stopping_);
  TRY(run.judge(policy_));
  if (settings_.is_audit)
    return fail(Code::policy_denied, "it runs in audit mode, in which nothing is changed");
  return run.run(settings_.state_folder, launcher_);
}

Result<void> AutomationJobs::check_usable(const std::string& state_folder) {
  TRY(automation::find_ansible());
  TRY(jobs::can_keep_secrets(state_folder));
  return net::can_confine();
}

}  // namespace dash::agent
