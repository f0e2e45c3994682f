#include "core/client/token_client.hpp"

#include "core/client/array_document.hpp"

namespace dash::client {
namespace {

constexpr std::string_view kTokens = "/api/tokens";

class HttpTokenClient final : public TokenClient {
 public:
  explicit HttpTokenClient(net::ApiClient& api) : api_(api) {}

  Result<OrderedJson> issue(const identity::NewToken& token) override {
    Json body{{"name", token.name}, {"expires_days", token.days}};
    if (!token.username.empty()) body["username"] = token.username;
    return OrderedJson(TRY(api_.post(kTokens, body)));
  }
  Result<OrderedJson> list(const std::string& username) override {
    auto query = username.empty() ? "" : "?username=" + net::percent_encode(username);
    return get_array(api_, fmt::format("{}{}", kTokens, query), kTokens);
  }
  Result<void> revoke(const std::string& id) override {
    auto path = fmt::format("{}/{}", kTokens, net::percent_encode(id));
    if (!TRY(api_.remove(path)).contains("detail")) return api_.unexpected_response(path);
    return {};
  }

 private:
  net::ApiClient& api_;
};

class LocalTokenClient final : public TokenClient {
 public:
  LocalTokenClient(identity::Accounts& accounts, Principal principal)
      : accounts_(accounts), principal_(std::move(principal)) {}

  Result<OrderedJson> issue(const identity::NewToken& token) override {
    if (token.username.empty()) return fail(Code::usage, "--user names whose token it is");
    auto issued = TRY(accounts_.issue_token(principal_, token));
    auto out = identity::to_json(issued.info);
    out["token"] = issued.token.expose();
    return out;
  }
  Result<OrderedJson> list(const std::string& username) override {
    return array_of(TRY(accounts_.list_tokens(principal_, username)));
  }
  Result<void> revoke(const std::string& id) override { return accounts_.revoke_token(principal_, id); }

 private:
  identity::Accounts& accounts_;
  const Principal principal_;
};

}  // namespace

std::unique_ptr<TokenClient> open_http_token_client(net::ApiClient& api) {
  return std::make_unique<HttpTokenClient>(api);
}
std::unique_ptr<TokenClient> open_local_token_client(identity::Accounts& accounts, Principal principal) {
  return std::make_unique<LocalTokenClient>(accounts, std::move(principal));
}

}  // namespace dash::client
