// What the dashboard's side of the agents is given.
#pragma once
#include "core/audit/log.hpp"
#include "core/config/settings.hpp"

namespace dash::agent {

struct Deps {
  db::Sql& sql;
  const Clock& clock;
  config::EncryptedStore& config;
  config::Settings& settings;
  audit::Log& audit;
};

// Returns the setting remote_agents_enabled; off by default.
Result<bool> are_agents_enabled(config::Settings& settings);

}  // namespace dash::agent
