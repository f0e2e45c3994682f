#include "core/client/user_client.hpp"

#include "core/client/array_document.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kUsers = "/api/users";

class HttpUserClient final : public UserClient {
 public:
  explicit HttpUserClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> add(const identity::NewUser& user) override {
    return OrderedJson(TRY(api_.post(kUsers, {{"username", user.username},
                                              {"password", user.password.expose()},
                                              {"is_admin", user.is_admin},
                                              {"workgroups", user.workgroups},
                                              {"grants", user.grants}})));
  }
  Result<OrderedJson> change(const std::string& name, const identity::UserChange& change) override {
    Json body = Json::object();
    if (change.password) body["password"] = change.password->expose();
    if (change.current_password) body["current_password"] = change.current_password->expose();
    if (change.is_admin) body["is_admin"] = *change.is_admin;
    if (change.is_active) body["is_active"] = *change.is_active;
    if (change.revoke_tokens) body["revoke_tokens"] = true;
    if (!change.grant.empty()) body["grant"] = change.grant;
    if (!change.ungrant.empty()) body["ungrant"] = change.ungrant;
    return OrderedJson(TRY(api_.patch(fmt::format("{}/{}", kUsers, net::percent_encode(name)), body)));
  }
  Result<OrderedJson> list() override { return get_array(api_, kUsers, kUsers); }
  Result<std::optional<std::string>> signed_in_name() override {
    return string_member(TRY(api_.get("/api/auth/me")), "username");
  }

 private:
  net::ApiClient& api_;
};

class LocalUserClient final : public UserClient {
 public:
  LocalUserClient(identity::Accounts& accounts, Principal principal)
      : accounts_(accounts), principal_(std::move(principal)) {}

  Result<OrderedJson> add(const identity::NewUser& user) override {
    return identity::to_json(TRY(accounts_.add(principal_, user)));
  }
  Result<OrderedJson> change(const std::string& name, const identity::UserChange& change) override {
    return identity::to_json(TRY(accounts_.change(principal_, name, change)));
  }
  Result<OrderedJson> list() override { return array_of(TRY(accounts_.list(principal_))); }
  Result<std::optional<std::string>> signed_in_name() override { return std::nullopt; }

 private:
  identity::Accounts& accounts_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<UserClient> open_http_user_client(net::ApiClient& api) {
  return std::make_unique<HttpUserClient>(api);
}
std::unique_ptr<UserClient> open_local_user_client(identity::Accounts& accounts, Principal principal) {
  return std::make_unique<LocalUserClient>(accounts, std::move(principal));
}

}  // namespace dash::client
