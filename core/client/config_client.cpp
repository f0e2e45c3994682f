#include "core/client/config_client.hpp"

#include "core/config/active_backend.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kConfig = "/api/setup/config";

Json switch_body(const std::string& backend, const setup::StateOptions& state) {
  return {{config::kActiveBackendKey, backend},
          {"migrate_iac_state", state.migrate},
          {"overwrite_iac_state", state.overwrite},
          {"abandon_iac_state", state.abandon}};
}

class HttpConfigClient final : public ConfigClient {
 public:
  explicit HttpConfigClient(net::ApiClient& api) : api_(api) {}

  Result<config::Values> read() override {
    auto answer = TRY(api_.get(kConfig));
    if (!answer.is_object()) return api_.unexpected_response(kConfig);
    config::Values out;
    for (const auto& [key, value] : answer.items()) out[key] = setup::setting_text(value);
    return out;
  }
  Result<config::Values> read_revealed() override {
    return fail(Code::usage, "an instance never returns a secret through its API");
  }
  Result<ConfigChange> change(const config::Changes& changes, const setup::StateOptions& state) override {
    Json body = Json::object();
    for (const auto& [key, value] : changes) body[key] = value ? Json(*value) : Json();
    auto answer = TRY(api_.put(fmt::format("{}{}", kConfig, setup::state_query(state)), body));
    if (!answer.is_object() || !answer.contains("ok") || answer["ok"] != true)
      return api_.unexpected_response(kConfig);
    return ConfigChange{string_member(answer, "change_id"), storage::left_states_in(answer)};
  }
  Result<Json> switch_backend(const std::string& backend, const setup::StateOptions& state) override {
    return api_.patch("/api/storage/config", switch_body(backend, state));
  }
  Result<OrderedJson> history(const std::string& key, std::int64_t limit) override {
    auto path = fmt::format("{}/history?key={}&limit={}", kConfig, net::percent_encode(key), limit);
    return OrderedJson(TRY(api_.get(path)).at("history"));
  }

 private:
  net::ApiClient& api_;
};

class LocalConfigClient final : public ConfigClient {
 public:
  LocalConfigClient(setup::ConfigService& service, config::EncryptedStore& store, Principal principal)
      : service_(service), store_(store), principal_(std::move(principal)) {}

  Result<config::Values> read() override { return service_.read(principal_, {}); }
  Result<config::Values> read_revealed() override { return store_.all(); }
  Result<ConfigChange> change(const config::Changes& changes, const setup::StateOptions& state) override {
    auto changed = TRY(service_.change(principal_, changes, "cli", state));
    return ConfigChange{std::move(changed.change_id), std::move(changed.iac_state_left)};
  }
  Result<Json> switch_backend(const std::string& backend, const setup::StateOptions& state) override {
    auto done = TRY(service_.change_storage(principal_, switch_body(backend, state)));
    return Json(setup::to_json(done));
  }
  Result<OrderedJson> history(const std::string& key, std::int64_t limit) override {
    auto out = OrderedJson::array();
    for (const auto& entry : TRY(service_.history(principal_, key, 0, limit)))
      out.push_back(setup::to_json(entry));
    return out;
  }

 private:
  setup::ConfigService& service_;
  config::EncryptedStore& store_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<ConfigClient> open_http_config_client(net::ApiClient& api) {
  return std::make_unique<HttpConfigClient>(api);
}
std::unique_ptr<ConfigClient> open_local_config_client(setup::ConfigService& service,
                                                       config::EncryptedStore& store, Principal principal) {
  return std::make_unique<LocalConfigClient>(service, store, std::move(principal));
}

}  // namespace dash::client
