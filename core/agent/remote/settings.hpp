// How an agent is started: its flags, else the environment of the deployed agents, else their defaults.
//   DASHBOARD_URL, AGENT_ENROLLMENT_CODE_FILE or AGENT_ENROLLMENT_CODE, AGENT_STATE_DIR, AGENT_POLICY_FILE,
//   AGENT_SHARES_FILE, AGENT_CA_BUNDLE, AGENT_MODE (normal, audit), AGENT_POLL_INTERVAL (seconds)
#pragma once
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/secret.hpp"

namespace dash::agent {

// What the command line says; an empty text is not given.
struct GivenSettings {
  std::string url{}, code_file{}, state_folder{}, policy_file{}, shares_file{}, ca_bundle{}, mode{};
  bool is_once = false;
};

struct Settings {
  std::string url{};        // checked; empty: that of the identity
  std::string code_file{};  // empty: none
  Secret code{};            // of the environment; a file has priority
  std::string state_folder = "/var/lib/dashboard-agent";
  std::string policy_file = "/etc/dashboard-agent/policy.yaml";
  std::string shares_file = "/etc/dashboard-agent/shares.yaml";
  std::string ca_bundle{};
  bool is_audit = false;
  bool is_once = false;
  std::chrono::milliseconds poll{5'000};
  std::vector<std::string> unused{};  // variables that deployed agents read and this one does not
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

// Code::usage names the flag or variable that is wrong. AGENT_INSECURE_TLS is refused: nothing here may turn off
// the check of the dashboard's certificate.
Result<Settings> read_settings(const GivenSettings& given, const Environment& environment);

// Returns the variables of this process.
Environment process_environment();

// Returns the text of an enrolment code's file without byte order mark and white space. Code::usage, also for
// UTF-16, as some editors write it.
Result<Secret> read_code(std::string_view bytes);
// Reads the code of the settings; nullopt when they have none.
Result<std::optional<Secret>> load_code(const Settings& settings);

}  // namespace dash::agent
