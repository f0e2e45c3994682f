#include "core/client/vault_client.hpp"

#include "core/client/array_document.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kVaults = "/api/secrets/vaults";

class HttpVaultClient final : public VaultClient {
 public:
  explicit HttpVaultClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> list() override { return OrderedJson(TRY(api_.get(kVaults)).at("vaults")); }
  Result<OrderedJson> add(const std::string& id, const std::string& backend) override {
    return OrderedJson(TRY(api_.post(kVaults, {{"id", id}, {"backend", backend}})));
  }
  Result<void> remove(const std::string& id, const std::string& backend) override {
    auto query = backend.empty() ? "" : "?backend=" + net::percent_encode(backend);
    auto answer = TRY(api_.remove(fmt::format("{}/{}{}", kVaults, net::percent_encode(id), query)));
    if (answer.at("ok") != true) return api_.unexpected_response(kVaults);
    return {};
  }

 private:
  net::ApiClient& api_;
};

class LocalVaultClient final : public VaultClient {
 public:
  LocalVaultClient(setup::Vaults& vaults, Principal principal)
      : vaults_(vaults), principal_(std::move(principal)) {}

  Result<OrderedJson> list() override { return array_of(TRY(vaults_.list(principal_))); }
  Result<OrderedJson> add(const std::string& id, const std::string& backend) override {
    return setup::to_json(TRY(vaults_.add(principal_, id, backend)));
  }
  Result<void> remove(const std::string& id, const std::string& backend) override {
    return vaults_.remove(principal_, id, backend);
  }

 private:
  setup::Vaults& vaults_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<VaultClient> open_http_vault_client(net::ApiClient& api) {
  return std::make_unique<HttpVaultClient>(api);
}
std::unique_ptr<VaultClient> open_local_vault_client(setup::Vaults& vaults, Principal principal) {
  return std::make_unique<LocalVaultClient>(vaults, std::move(principal));
}

}  // namespace dash::client
