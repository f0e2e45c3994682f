// The registered secret vaults of an instance, over its API or its data folder. Documents are those of
// /api/secrets/vaults.
#pragma once
#include <memory>
#include <string>

#include "core/net/http/api_client.hpp"
#include "core/setup/vaults.hpp"

namespace dash::client {

class VaultClient {
 public:
  virtual ~VaultClient() = default;
  virtual Result<OrderedJson> list() = 0;  // an array
  virtual Result<OrderedJson> add(const std::string& id, const std::string& backend) = 0;
  // Blank backend: of every backend.
  virtual Result<void> remove(const std::string& id, const std::string& backend) = 0;
};

std::unique_ptr<VaultClient> open_http_vault_client(net::ApiClient& api);
std::unique_ptr<VaultClient> open_local_vault_client(setup::Vaults& vaults, Principal principal);

}  // namespace dash::client
