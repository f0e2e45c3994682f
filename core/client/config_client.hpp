// The settings of an instance, over its API or its data folder.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/net/http/api_client.hpp"
#include "core/setup/config_service.hpp"

namespace dash::client {

struct ConfigChange {
  std::optional<std::string> change_id;  // empty: nothing differed; nullopt: the instance does not tell
  std::vector<storage::LeftState> iac_state_left = {};
};

class ConfigClient {
 public:
  virtual ~ConfigClient() = default;
  // Returns the settings in the spelling of the instance, secrets masked.
  virtual Result<config::Values> read() = 0;
  // Returns canonical keys, secrets in clear. Code::usage over the API, which never returns a secret.
  virtual Result<config::Values> read_revealed() = 0;
  // Code::upstream when the answer does not confirm the change.
  virtual Result<ConfigChange> change(const config::Changes& changes, const setup::StateOptions& state) = 0;
  // Makes another backend the active one. Returns the answer of PATCH /api/storage/config.
  virtual Result<Json> switch_backend(const std::string& backend, const setup::StateOptions& state) = 0;
  // Returns an array of the history's documents, newest first. Blank key: all settings.
  virtual Result<OrderedJson> history(const std::string& key, std::int64_t limit) = 0;
};

std::unique_ptr<ConfigClient> open_http_config_client(net::ApiClient& api);
// `store` holds what `service` reads, for the owner of the data folder.
std::unique_ptr<ConfigClient> open_local_config_client(setup::ConfigService& service,
                                                       config::EncryptedStore& store, Principal principal);

}  // namespace dash::client
