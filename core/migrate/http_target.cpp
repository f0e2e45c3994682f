#include "core/migrate/http_target.hpp"

#include <algorithm>
#include <utility>

#include "core/base/shell_word.hpp"
#include "core/config/registry.hpp"
#include "core/crypto/hash.hpp"
#include "core/migrate/answer.hpp"

namespace dash::migrate {
namespace {

constexpr std::size_t kNonceBytes = 32;
constexpr int kBadRequest = 400;
constexpr std::string_view kImport = "/api/setup/import";
constexpr std::string_view kRollback = "/api/setup/rollback";
constexpr std::string_view kHistory = "/api/setup/config/history?limit=1";
constexpr std::string_view kWebhooksRoute = "/api/notifications/endpoints";

// An unclaimed instance has no users and no rows either.
bool is_unowned(const Error& error, const net::ApiClient& api) {
  return error.code == Code::unauthenticated && !api.has_token();
}

bool is_missing_route(const Error& error) {
  return error.code == Code::not_found || error.code == Code::method_not_allowed ||
         error.code == Code::unsupported;
}

// The names that only one spelling uses decide. Returns nullopt when there is none.
std::optional<config::NameStyle> name_style_of(const Json& config) {
  for (const auto& [key, value] : config.items()) {
    if (config::is_provider_key(key)) return config::NameStyle::provider;
    if (config::provider_key(key) != key) return config::NameStyle::canonical;
  }
  return std::nullopt;
}

setup::Webhook webhook_of(const Json& row) {
  setup::Webhook e;
  e.id = string_member(row, "id").value_or("");
  e.name = string_member(row, "name").value_or("");
  e.fmt = string_member(row, "fmt").value_or("");
  e.url_hint = string_member(row, "url_hint").value_or("");
  e.has_secret = row.value("has_secret", Json()) == true;
  e.enabled = row.value("enabled", Json(true)) == true;
  e.event_types = string_member(row, "event_types");
  return e;
}

}  // namespace

Result<bool> HttpTarget::is_set_up() {
  auto status = api_.get_unauthenticated("/api/setup/status");
  if (!status) {
    auto error = std::move(status).error();
    if (!error.message.starts_with("Cannot reach"))
      error.message = fmt::format("Cannot reach {}: its status check failed: {}", api_.url(), error.message);
    if (error.code != Code::tls) error.code = Code::unreachable;
    return Failure(std::move(error));
  }
  auto complete = status->is_object() ? status->find("complete") : status->end();
  if (complete == status->end() || !complete->is_boolean())
    return fail(Code::unreachable, "Cannot reach {}: what answers there is not a dashboard", api_.url());
  return complete->get<bool>();
}

Result<Json> HttpTarget::read_config() {
  net::HttpRequest request;
  request.url = "/api/setup/config";
  request.headers.add("Accept", "application/json");
  if (!setup_code_.empty()) request.headers.add("X-Setup-Code", setup_code_.expose());
  auto response = TRY(api_.send(std::move(request)));
  auto json = parse_json(response.body);
  if (!json || !json->is_object()) return api_.unexpected_response("/api/setup/config");
  return json;
}

// Returns whether the path exists, whatever the status of its response.
Result<bool> HttpTarget::has_route(std::string_view path) {
  auto answer = api_.get(path);
  if (answer) return true;
  switch (answer.error().code) {
    case Code::unreachable:
    case Code::tls:
    case Code::timeout:
    case Code::busy:
      return Failure(std::move(answer).error());
    case Code::unauthenticated:
    case Code::forbidden:
    case Code::throttled:
      return true;
    default:
      return false;
  }
}

// dashctl has a history, a Python dashboard has none. A Python dashboard has a health page of its own, and
// uses the providers' names even before any key shows it.
Result<void> HttpTarget::detect_kind(const Json& config) {
  auto style = name_style_of(config);
  if (!is_peer_) {
    bool may_be_peer = style != config::NameStyle::canonical;
    is_peer_ = may_be_peer && !TRY(has_route(kHistory)) &&
               (style == config::NameStyle::provider || TRY(has_route("/api/health")));
  }
  style_ = style.value_or(*is_peer_ ? config::NameStyle::provider : config::NameStyle::canonical);
  return {};
}

// A Python dashboard may have a key in both spellings; the one that it reads itself counts.
Result<InstanceConfig> HttpTarget::read() {
  auto config = TRY(read_config());
  TRY(detect_kind(config));
  InstanceConfig out;
  out.style = *style_;
  out.is_peer = *is_peer_;
  auto& members = config.get_ref<Json::object_t&>();
  while (!members.empty()) {
    auto member = members.extract(members.begin());  // a large configuration is not held twice
    if (member.mapped().is_null()) continue;
    auto name = config::canonical_key(member.key());
    bool is_own = member.key() == config::key_in_style(out.style, name);
    if (is_own || !out.values.contains(name))
      out.values.insert_or_assign(out.values.end(), name,
                                  config::canonical_value(name, setup::setting_text(member.mapped())));
  }
  return out;
}

Result<std::optional<std::map<std::string, setup::ValueMatch>>> HttpTarget::compare(
    const config::Values& mine) {
  using Results = std::optional<std::map<std::string, setup::ValueMatch>>;
  if (is_peer_.value_or(false)) return Results();
  auto nonce = crypto::random_bytes(kNonceBytes);
  auto macs = Json::object();
  for (const auto& [key, value] : mine)
    macs[key] = crypto::to_hex(crypto::hmac_sha256(nonce, fmt::format("{}{}{}", key, '\0', value)));
  auto answer =
      api_.post("/api/setup/compare", {{"nonce", crypto::to_hex(nonce)}, {"keys", std::move(macs)}});
  // A throttled comparison gives no result either. Unknown values are written all the same.
  if (!answer && (is_missing_route(answer.error()) || is_unowned(answer.error(), api_) ||
                  answer.error().code == Code::throttled))
    return Results();
  auto body = TRY(std::move(answer));
  auto found = body.is_object() ? body.find("results") : body.end();
  if (found == body.end() || !found->is_object()) return api_.unexpected_response("/api/setup/compare");
  std::map<std::string, setup::ValueMatch> results;
  for (const auto& [key, word] : found->items()) {
    if (word == "same") results[key] = setup::ValueMatch::same;
    if (word == "differs") results[key] = setup::ValueMatch::differs;
    if (word == "absent") results[key] = setup::ValueMatch::absent;
  }
  return Results(std::move(results));
}

// The values are written as text at once: as a document they would take several times their size.
std::string HttpTarget::body_of(const TargetWriteRequest& write_request) const {
  auto style = style_.value_or(config::NameStyle::canonical);
  std::string out = R"({"config":{)";
  bool is_first = true;
  for (const auto& [key, value] : write_request.values) {
    if (!std::exchange(is_first, false)) out += ',';
    append_json(out, config::key_in_style(style, key));
    out += ':';
    append_json(out, config::value_in_style(style, key, value));
  }
  Json body{{"include_on_prem", write_request.include_on_prem}};
  body["regions"] = write_request.replace_regions ? "replace" : "merge";
  if (write_request.bootstrap) {
    body["admin_username"] = write_request.bootstrap->admin;
    body["admin_password"] = write_request.bootstrap->password.expose();
    if (!write_request.bootstrap->setup_code.empty())
      body["setup_code"] = write_request.bootstrap->setup_code.expose();
  }
  return out + "}," + dump_json(body).substr(1);
}

Result<net::HttpResponse> HttpTarget::post_import(const TargetWriteRequest& write_request) {
  auto body = body_of(write_request);
  net::HttpRequest request;
  request.method = "POST";
  request.url = std::string(kImport) + setup::state_query(write_request.state);
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  // Also in a header: without it the target reads only a small body of an unknown caller.
  if (write_request.bootstrap && !write_request.bootstrap->setup_code.empty())
    request.headers.add("X-Setup-Code", write_request.bootstrap->setup_code.expose());
  request.body = body;
  return api_.exchange(std::move(request));
}

Result<TargetWriteResult> HttpTarget::write(const TargetWriteRequest& write_request) {
  auto response = TRY(post_import(write_request));
  auto json = parse_json(response.body);
  auto answer = json ? *std::move(json) : Json();
  // The instance accepted nothing of it.
  auto refused = parse_refused(answer);
  if (response.status == kBadRequest && !refused.empty()) {
    if (write_request.bootstrap) return bootstrap_refused(api_.url(), refused);
    return TargetWriteResult{.refused = refused};
  }
  if (!response.ok()) return Failure(net::api_error(response, api_.url()));
  auto written = parse_write_result(answer);
  if (!written) return api_.unexpected_response(kImport);
  if (!write_request.bootstrap) return *std::move(written);
  auto login = api_.login(write_request.bootstrap->admin, write_request.bootstrap->password);
  if (!login)
    return fail(
        Code::partial,
        "{} took the import and its administrator {}, but the rest was not done: {}. Run the same import "
        "again with --admin-user {}",
        api_.url(), write_request.bootstrap->admin, login.error().message,
        shell_word(write_request.bootstrap->admin));
  return *std::move(written);
}

Result<std::vector<setup::Webhook>> HttpTarget::webhooks() {
  auto response = api_.get(kWebhooksRoute);
  if (!response && is_unowned(response.error(), api_)) return std::vector<setup::Webhook>();
  auto answer = TRY(std::move(response));
  auto rows = answer.is_object() ? answer.find("endpoints") : answer.end();
  if (rows == answer.end() || !rows->is_array()) return api_.unexpected_response(kWebhooksRoute);
  std::vector<setup::Webhook> out;
  for (const auto& row : *rows)
    if (row.is_object()) out.push_back(webhook_of(row));
  return out;
}

Result<void> HttpTarget::put_webhook(const std::optional<std::string>& id, const setup::FullWebhook& row) {
  Json body{{"name", row.name},       {"url", row.url.expose()},
            {"fmt", row.fmt},         {"secret", row.secret.expose()},
            {"enabled", row.enabled}, {"event_types", nullptr}};
  if (row.event_types) body["event_types"] = *row.event_types;
  if (id) {
    TRY(api_.patch(fmt::format("{}/{}", kWebhooksRoute, net::percent_encode(*id)), body));
  } else {
    TRY(api_.post(kWebhooksRoute, body));
  }
  return {};
}

Result<std::optional<std::set<std::string>>> HttpTarget::vaults() {
  using VaultIds = std::optional<std::set<std::string>>;
  if (is_peer_.value_or(false)) return VaultIds();
  auto answer = api_.get("/api/secrets/vaults");
  if (!answer && (is_missing_route(answer.error()) || is_unowned(answer.error(), api_))) return VaultIds();
  auto body = TRY(std::move(answer));
  auto rows = body.is_object() ? body.find("vaults") : body.end();
  if (rows == body.end() || !rows->is_array()) return VaultIds();
  std::set<std::string> out;
  for (const auto& row : *rows)
    if (row.is_object())
      out.insert(string_member(row, "backend").value_or("") + "://" + string_member(row, "id").value_or(""));
  return VaultIds(std::move(out));
}

Result<setup::RollbackResult> HttpTarget::rollback(const std::string& change_id,
                                                   const setup::StateOptions& state) {
  auto answer = api_.post(std::string(kRollback) + setup::state_query(state), {{"change_id", change_id}});
  if (!answer && is_missing_route(answer.error()) && !TRY(has_route(kHistory)))
    return fail(Code::unsupported,
                "{} keeps no history of changes: import the snapshot that the import stored, with --regions "
                "replace --include-on-prem --allow-empty-values. It cannot remove keys that were added, nor "
                "bring back what is masked there",
                api_.url());
  auto body = TRY(std::move(answer));
  auto report = parse_rollback_result(body);
  if (!report) return api_.unexpected_response(kRollback);
  return *std::move(report);
}

}  // namespace dash::migrate
