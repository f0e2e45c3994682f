#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "core/agent/dashboard/agent_jobs.hpp"
#include "core/agent/dashboard/agent_requests.hpp"
#include "core/agent/dashboard/agents.hpp"
#include "core/agent/dashboard/enrolment.hpp"
#include "core/agent/dashboard/job_secrets.hpp"
#include "core/agent/dashboard/job_types.hpp"
#include "core/agent/dashboard/remote_share.hpp"
#include "core/app/application.hpp"
#include "core/app/doctor_files.hpp"
#include "core/app/keys.hpp"
#include "core/app/object_store_anchor.hpp"
#include "core/audit/anchor.hpp"
#include "core/audit/log.hpp"
#include "core/automation/agent_release.hpp"
#include "core/automation/ansible_runs.hpp"
#include "core/automation/automation.hpp"
#include "core/automation/hosts.hpp"
#include "core/automation/post_deploy.hpp"
#include "core/base/environment.hpp"
#include "core/base/file.hpp"
#include "core/config/settings.hpp"
#include "core/db/postgres.hpp"
#include "core/deploy/deploys.hpp"
#include "core/deploy/module_catalog.hpp"
#include "core/identity/accounts.hpp"
#include "core/identity/directory.hpp"
#include "core/identity/sessions.hpp"
#include "core/identity/setup_code.hpp"
#include "core/identity/tokens.hpp"
#include "core/images/image_jobs.hpp"
#include "core/images/images.hpp"
#include "core/jobs/executor.hpp"
#include "core/jobs/jobs.hpp"
#include "core/net/http/http_client.hpp"
#include "core/policy/decision_log.hpp"
#include "core/policy/engine.hpp"
#include "core/policy/gate.hpp"
#include "core/policy/rule_folder.hpp"
#include "core/setup/config_service.hpp"
#include "core/setup/vaults.hpp"
#include "core/setup/webhooks.hpp"
#include "core/storage/assets/migration_jobs.hpp"
#include "core/storage/storage.hpp"
#include "core/storage/store/agent/store.hpp"
#include "core/storage/store/metered.hpp"
#include "core/storage/store/registry.hpp"
#include "core/storage/store/retry.hpp"
#include "core/windows/workgroups.hpp"

namespace dash::app {
namespace {

// $DASHCTL_ANCHOR_FILE names a file outside of the data directory; DASHCTL_ANCHOR_STORE=1 adds the active
// store. They are no settings, because the anchors guard against users with the right to change settings.
std::vector<std::unique_ptr<audit::Anchor>> make_anchors(const std::string& data_dir, const audit::Log& log,
                                                         storage::Stores& stores) {
  std::vector<std::unique_ptr<audit::Anchor>> out;
  out.push_back(audit::local_anchor(fmt::format("{}/{}", data_dir, audit::kLocalAnchorFile)));
  if (auto file = environment_variable("DASHCTL_ANCHOR_FILE"); !file.empty())
    out.push_back(audit::file_anchor(file));
  if (environment_variable("DASHCTL_ANCHOR_STORE") == "1")
    out.push_back(object_store_anchor(stores, audit::signer_name(log.keys().checkpoint.public_key)));
  return out;
}

Result<policy::EngineOptions> engine_options(const std::string& policy_dir) {
  policy::EngineOptions out;
  out.directory = policy_dir;
  out.binary = policy::engine_binary();
  out.build_timeout = TRY(policy::engine_build_timeout());
  return out;
}

std::string deploy_folder(const Options& options) {
  return std::filesystem::absolute(options.data_dir) / "deploy";
}

deploy::Deploys::Options deploy_options(const Options& options) {
  return {std::filesystem::absolute(jobs::executor_folder(options.data_dir)), deploy_folder(options),
          std::filesystem::absolute(options.data_dir) / "deploy-work", "/proc/self/exe"};
}

std::string data_folder(const Options& options) { return std::filesystem::absolute(options.data_dir); }

// Where the local store must not be: beside keys, audit anchors and policy files.
storage::local::RootOptions root_options(const Options& options, const std::string& policy_dir) {
  storage::local::RootOptions out;
  out.data_dir = std::filesystem::absolute(options.data_dir);
  out.program_folders = {std::filesystem::absolute(policy_dir), deploy_folder(options),
                         std::filesystem::absolute(jobs::executor_folder(options.data_dir))};
  auto tls_key =
      options.tls_key_file.empty() ? environment_variable("DASHCTL_TLS_KEY") : options.tls_key_file;
  for (const auto& file : {options.signing_key_file, options.encryption_key_file,
                           environment_variable("DASHCTL_ANCHOR_FILE"), tls_key})
    if (!file.empty()) out.secret_files.push_back(file);
  if (auto roots = environment_variable("DASHCTL_LOCAL_ROOTS"); !roots.empty()) out.allowed = roots;
  return out;
}

constexpr int kMaxDatabaseConnections = 500;

// DASHCTL_DATABASE_CONNECTIONS limits the connections that read.
Result<db::PostgresOptions> postgres_options() {
  db::PostgresOptions out;
  auto text = environment_variable("DASHCTL_DATABASE_CONNECTIONS");
  if (text.empty()) return out;
  int number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1 ||
      number > kMaxDatabaseConnections)
    return fail(Code::usage, "DASHCTL_DATABASE_CONNECTIONS is a number from 1 to {}, not '{}'",
                kMaxDatabaseConnections, text);
  out.readers = static_cast<std::size_t>(number);
  return out;
}

// Members in the order in which they depend on each other.
class InstanceImpl final : public Instance {
 public:
  InstanceImpl(const Options& options, policy::EngineOptions engine, std::unique_ptr<db::Sql> sql,
               InstanceKeys keys)
      : keys_(std::move(keys)),
        buffers_(server_pool_options(options.buffers)),
        roots_(root_options(options, engine.directory)),
        sql_(std::move(sql)),
        http_(net::make_curl_client()),
        config_(*sql_, clock_, config::derive_store_key(keys_.signing, keys_.encryption)),
        settings_(config_),
        audit_(*sql_, clock_, audit_log_key(keys_)),
        directory_(*sql_, clock_),
        passwords_(*sql_, clock_),
        sessions_(*sql_, clock_, directory_, keys_.derive("dashctl session jwt v1")),
        tokens_(*sql_, clock_, directory_),
        setup_code_(options.data_dir),
        accounts_({*sql_, audit_, directory_, passwords_, sessions_, tokens_, setup_code_}),
        webhooks_(*sql_, clock_, config_, audit_),
        vaults_(*sql_, clock_, audit_),
        engine_(policy::make_opa(std::move(engine))),
        decisions_(*sql_),
        gate_(settings_, *engine_, decisions_),
        windows_(*sql_, clock_, audit_),
        workgroups_(*sql_, directory_, audit_, windows_),
        modules_(std::filesystem::absolute(jobs::executor_folder(options.data_dir)), ::geteuid()),
        job_deps_{*sql_, clock_,   config_,  settings_, audit_,
                  gate_, windows_, runners_, &modules_, &post_deploy_},
        jobs_(job_deps_),
        agent_jobs_(agent_deps()),
        agents_(agent_deps(), agent_jobs_.waiting_leases()),
        agent_requests_(agent_deps()),
        enrolment_(agent_deps()),
        agent_secrets_(agent_deps()),
        listings_(*sql_, clock_, config_),
        storage_({settings_, *sql_, audit_, clock_, buffers_, deploy_folder(options)}, store_opener(),
                 keys_.derive("dashctl upload handle v1")),
        migrations_({storage_.migration(), storage_.stores(), directory_, audit_, job_deps_}),
        executors_(jobs::executor_folder(options.data_dir), "/proc/self/exe"),
        hosts_({*sql_, clock_, config_, settings_, audit_, *http_}),
        automation_({storage_.stores(), storage_.assets(), hosts_, config_, settings_, *sql_, audit_, clock_,
                     jobs_, executors_, agent_deps(), data_folder(options)}),
        post_deploy_({storage_.stores(), storage_.assets(), settings_, executors_, data_folder(options)}),
        ansible_runs_({storage_.stores(), buffers_, settings_, hosts_, executors_, job_deps_, agent_jobs_,
                       data_folder(options), "/proc/self/exe"}),
        deploys_(job_deps_, store_opener(), deploy_options(options)),
        images_({storage_.stores(), *sql_, audit_, clock_}, keys_.derive("dashctl image upload handle v1")),
        image_jobs_({storage_.stores(), directory_, *sql_, audit_, clock_, buffers_}, job_deps_),
        config_service_({*sql_, clock_, config_, settings_, audit_, directory_, setup_code_, webhooks_,
                         storage_.state(), roots_}),
        anchors_(audit_, make_anchors(options.data_dir, audit_, storage_.stores())),
        application_{
            .clock = clock_,
            .buffers = buffers_,
            .sql = *sql_,
            .http = *http_,
            .config = config_,
            .settings = settings_,
            .audit = audit_,
            .anchors = anchors_,
            .directory = directory_,
            .sessions = sessions_,
            .tokens = tokens_,
            .setup_code = setup_code_,
            .accounts = accounts_,
            .config_service = config_service_,
            .vaults = vaults_,
            .webhooks = webhooks_,
            .engine = *engine_,
            .decisions = decisions_,
            .gate = gate_,
            .windows = windows_,
            .workgroups = workgroups_,
            .jobs = jobs_,
            .runners = runners_,
            .storage = storage_,
            .migrations = migrations_,
            .hosts = hosts_,
            .automation = automation_,
            .ansible_runs = ansible_runs_,
            .deploys = deploys_,
            .images = images_,
            .image_jobs = image_jobs_,
            .agents = agents_,
            .agent_jobs = agent_jobs_,
            .agent_requests = agent_requests_,
            .enrolment = enrolment_,
            .agent_secrets = agent_secrets_,
        } {
    runners_.add(std::string(storage::kMigrateAction), migrations_.runner());
    runners_.add(std::string(images::kImageAction), image_jobs_.runner());
    runners_.add(std::string(jobs::kAutomationRun), ansible_runs_.runner());
    deploys_.add_runners(runners_);
    agent_secrets_.add(agent::kStorageJobType, agent::share_secret_source(agent_deps()));
    agent_secrets_.add(agent::kAutomationJobType, automation::run_secret_source(config_));
    agent_jobs_.on_answer(agent::drop_listing_of);
  }

  Application& application() override { return application_; }

 private:
  agent::Deps agent_deps() { return {*sql_, clock_, config_, settings_, audit_}; }
  storage::OpenStore store_opener() {
    return [this](const storage::Backend& backend,
                  const config::Values& values) -> Result<std::shared_ptr<storage::ObjectStore>> {
      auto store =
          backend.id == storage::agent::kBackend
              ? open_agent_store(values)
              : TRY(storage::open_store(backend, values, {*http_, clock_, "/proc/self/exe", &roots_}));
      return storage::with_metrics(std::move(store), std::string(backend.id));
    };
  }
  // Over the queue of agents' jobs, which the module of the stores does not know.
  std::shared_ptr<storage::ObjectStore> open_agent_store(const config::Values& values) {
    auto settings = storage::agent::read_share_settings(values);
    agent::RemoteShare::Deps deps{agent_jobs_, listings_, listings_under_way_, share_callers_};
    auto share = std::make_unique<agent::RemoteShare>(deps, settings);
    // A caller that is to come again later holds no thread until then.
    net::Retry retry({.max_retry_after = std::chrono::milliseconds(0)});
    return storage::with_retry(storage::agent::make_agent_store(settings, std::move(share)), retry);
  }

  InstanceKeys keys_;
  SystemClock clock_;
  BufferPool buffers_;
  storage::local::RootRules roots_;
  std::unique_ptr<db::Sql> sql_;
  std::unique_ptr<net::HttpClient> http_;
  config::EncryptedStore config_;
  config::Settings settings_;
  audit::Log audit_;
  identity::Directory directory_;
  identity::Passwords passwords_;
  identity::Sessions sessions_;
  identity::Tokens tokens_;
  identity::SetupCode setup_code_;
  identity::Accounts accounts_;
  setup::Webhooks webhooks_;
  setup::Vaults vaults_;
  std::unique_ptr<policy::Engine> engine_;
  policy::DecisionLog decisions_;
  policy::EngineGate gate_;
  windows::Windows windows_;
  windows::Workgroups workgroups_;
  jobs::Runners runners_;
  deploy::ModuleCatalog modules_;
  const jobs::Deps job_deps_;
  jobs::Jobs jobs_;
  agent::AgentJobs agent_jobs_;
  agent::Agents agents_;
  agent::AgentRequests agent_requests_;
  agent::Enrolment enrolment_;
  agent::JobSecrets agent_secrets_;
  agent::ListingCache listings_;
  agent::ListingsUnderWay listings_under_way_;
  agent::ShareCallers share_callers_;
  storage::Storage storage_;
  storage::MigrationJobs migrations_;
  const jobs::Executors executors_;
  automation::Hosts hosts_;
  automation::Automation automation_;
  automation::PostDeploy post_deploy_;
  automation::AnsibleRuns ansible_runs_;
  deploy::Deploys deploys_;
  images::Images images_;
  images::ImageJobs image_jobs_;
  setup::ConfigService config_service_;
  audit::AnchorSet anchors_;  // writes its last checkpoint while all others live
  Application application_;
};

// A folder that this account may not enter is not one without an instance.
Result<bool> has_database(const std::string& data_dir) {
  auto path = data_dir + "/dashctl.db";
  std::error_code error;
  bool exists = std::filesystem::exists(path, error);
  if (error) return fail(Code::internal, "cannot read {}: {}", path, error.message());
  return exists;
}

}  // namespace

Result<std::unique_ptr<Instance>> open_instance(const Options& options) {
  bool exists = !options.database.empty() || TRY(has_database(options.data_dir));
  if (options.must_exist && !exists)
    return fail(Code::not_found, "{}", no_instance_message(options.data_dir));
  TRY(make_folder(options.data_dir, 0700));
  auto keys = TRY(load_keys(options.data_dir, options.signing_key_file, options.encryption_key_file));
  auto sql = TRY(options.database.empty() ? db::open_sqlite(options.data_dir + "/dashctl.db")
                                          : db::open_postgres(options.database, TRY(postgres_options())));
  if (!options.keep_schema) TRY(db::migrate_schema(*sql));
  auto engine = TRY(engine_options(TRY(policy::rule_folder(options.policy_dir, options.data_dir))));
  return std::unique_ptr<Instance>(
      new InstanceImpl(options, std::move(engine), std::move(sql), std::move(keys)));
}

}  // namespace dash::app
