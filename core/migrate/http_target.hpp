// An instance through its API, in the spelling that it uses. See the setup routes in daemon/openapi.yaml.
#pragma once
#include "core/migrate/target.hpp"
#include "core/net/http/api_client.hpp"

namespace dash::migrate {

class HttpTarget final : public Target {
 public:
  // `setup_code` opens an unclaimed instance; may be empty.
  HttpTarget(net::ApiClient& api, Secret setup_code) : api_(api), setup_code_(std::move(setup_code)) {}

  std::string name() const override { return api_.url(); }
  // Every failure is "Cannot reach <url>", because this is the first call.
  Result<bool> is_set_up() override;
  Result<InstanceConfig> read() override;
  Result<std::optional<std::map<std::string, setup::ValueMatch>>> compare(
      const config::Values& mine) override;
  Result<TargetWriteResult> write(const TargetWriteRequest& write_request) override;
  Result<std::vector<setup::Webhook>> webhooks() override;
  Result<void> put_webhook(const std::optional<std::string>& id, const setup::FullWebhook& row) override;
  Result<std::optional<std::set<std::string>>> vaults() override;
  Result<setup::RollbackResult> rollback(const std::string& change_id,
                                         const setup::StateOptions& state) override;

 private:
  Result<Json> read_config();
  Result<void> detect_kind(const Json& config);
  Result<bool> has_route(std::string_view path);
  Result<net::HttpResponse> post_import(const TargetWriteRequest& write_request);
  std::string body_of(const TargetWriteRequest& write_request) const;

  net::ApiClient& api_;
  Secret setup_code_;
  std::optional<config::NameStyle> style_;  // set by read()
  std::optional<bool> is_peer_;             // the same; it does not change later
};

}  // namespace dash::migrate
