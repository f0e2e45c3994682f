// The instance in a data directory, for the operator at the shell. Values are read in clear, so nothing is
// ever unknown.
#pragma once
#include "core/migrate/target.hpp"
#include "core/setup/vaults.hpp"

namespace dash::migrate {

// What a migration needs of an open instance (app::Application).
struct LocalDeps {
  config::EncryptedStore& config;
  setup::ConfigService& config_service;
  setup::Webhooks& webhooks;
  setup::Vaults& vaults;
  identity::SetupCode& setup_code;
};

class LocalTarget : public Target {
 public:
  LocalTarget(std::string folder, LocalDeps deps)
      : folder_(std::move(folder)), deps_(deps), principal_(local_operator()) {}

  std::string name() const override { return folder_; }
  Result<bool> is_set_up() override;
  // Code::integrity names the keys that this instance's key cannot open.
  Result<InstanceConfig> read() override;
  Result<std::optional<std::map<std::string, setup::ValueMatch>>> compare(
      const config::Values& mine) override;
  Result<TargetWriteResult> write(const TargetWriteRequest& write_request) override;
  Result<std::vector<setup::Webhook>> webhooks() override;
  Result<void> put_webhook(const std::optional<std::string>& id, const setup::FullWebhook& row) override;
  Result<std::optional<std::set<std::string>>> vaults() override;
  Result<setup::RollbackResult> rollback(const std::string& change_id,
                                         const setup::StateOptions& state) override;

  // Returns webhooks with URL and secret, for export.
  Result<std::vector<setup::FullWebhook>> full_webhooks() { return deps_.webhooks.export_all(principal_); }

 private:
  std::string folder_;
  LocalDeps deps_;
  Principal principal_;
};

}  // namespace dash::migrate
