// Every interface of a running instance, as references. build_application.cpp makes the real ones; cmd and
// daemon take an Application.
#pragma once
#include <memory>
#include <string>

#include "core/base/buffer_pool.hpp"
#include "core/base/clock.hpp"
#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::db {
class Sql;
}
namespace dash::net {
class HttpClient;
}
namespace dash::config {
class EncryptedStore;
class Settings;
}  // namespace dash::config
namespace dash::audit {
class AnchorSet;
class Log;
}  // namespace dash::audit
namespace dash::setup {
class Webhooks;
class ConfigService;
class Vaults;
}  // namespace dash::setup
namespace dash::windows {
class Windows;
class Workgroups;
}  // namespace dash::windows
namespace dash::jobs {
class Jobs;
class Runners;
}  // namespace dash::jobs
namespace dash::automation {
class AnsibleRuns;
class Automation;
class Hosts;
}  // namespace dash::automation
namespace dash::agent {
class AgentJobs;
class AgentRequests;
class Agents;
class Enrolment;
class JobSecrets;
}  // namespace dash::agent
namespace dash::deploy {
class Deploys;
}
namespace dash::images {
class ImageJobs;
class Images;
}  // namespace dash::images
namespace dash::storage {
class MigrationJobs;
class Storage;
}  // namespace dash::storage
namespace dash::policy {
class DecisionLog;
class Engine;
class Gate;
}  // namespace dash::policy
namespace dash::identity {
class Accounts;
class Directory;
class Sessions;
class SetupCode;
class Tokens;
}  // namespace dash::identity

namespace dash::app {

struct Application {
  const Clock& clock;
  BufferPool& buffers;
  db::Sql& sql;
  net::HttpClient& http;
  config::EncryptedStore& config;
  config::Settings& settings;
  audit::Log& audit;
  audit::AnchorSet& anchors;
  identity::Directory& directory;
  identity::Sessions& sessions;
  identity::Tokens& tokens;
  identity::SetupCode& setup_code;
  identity::Accounts& accounts;
  setup::ConfigService& config_service;
  setup::Vaults& vaults;
  setup::Webhooks& webhooks;
  policy::Engine& engine;
  policy::DecisionLog& decisions;
  policy::Gate& gate;
  windows::Windows& windows;
  windows::Workgroups& workgroups;
  jobs::Jobs& jobs;
  const jobs::Runners& runners;
  storage::Storage& storage;
  storage::MigrationJobs& migrations;
  automation::Hosts& hosts;
  automation::Automation& automation;
  automation::AnsibleRuns& ansible_runs;
  deploy::Deploys& deploys;
  images::Images& images;
  images::ImageJobs& image_jobs;
  agent::Agents& agents;
  agent::AgentJobs& agent_jobs;
  agent::AgentRequests& agent_requests;
  agent::Enrolment& enrolment;
  agent::JobSecrets& agent_secrets;
};

struct Options {
  std::string data_dir;             // made when absent, 0700
  std::string database;             // empty: SQLite in the data dir; else postgres://…
  std::string signing_key_file;     // empty: <data_dir>/signing.key, made when absent
  std::string encryption_key_file;  // empty: none
  std::string tls_key_file;         // of a daemon that serves TLS itself; empty: $DASHCTL_TLS_KEY
  std::string policy_dir;    // empty: $ADMISSION_POLICY_DIR, else <data_dir>/policy, filled when absent
  std::size_t buffers = 12;  // buffers of 8 MiB
  bool must_exist = false;   // Code::not_found instead of a new instance where there is none
  bool keep_schema = false;  // do not migrate an older schema, for commands that only look
};

// Owns everything that Application refers to.
class Instance {
 public:
  virtual ~Instance() = default;
  virtual Application& application() = 0;
};

// Opens the instance in a data directory: database, schema, keys. Makes it when absent, unless must_exist.
Result<std::unique_ptr<Instance>> open_instance(const Options& options);

}  // namespace dash::app
