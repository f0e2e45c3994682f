#include "core/migrate/http_instance.hpp"

#include <algorithm>

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
constexpr std::string_view kEndpoints = "/api/notifications/endpoints";

// Nobody is signed in at an instance that nobody owns yet: it has no rows to tell of either.
bool is_unowned(const Error& error, const net::ApiClient& api) {
  return error.code == Code::unauthenticated && !api.has_token();
}

bool is_missing_route(const Error& error) {
  return error.code == Code::not_found || error.code == Code::method_not_allowed ||
         error.code == Code::unsupported;
}

// The names that only one spelling uses decide; nullopt when there is none.
std::optional<config::Spelling> spelling_of(const Json& config) {
  for (const auto& [key, value] : config.items()) {
    if (config::is_provider_key(key)) return config::Spelling::provider;
    if (config::provider_key(key) != key) return config::Spelling::canonical;
  }
  return std::nullopt;
}

setup::Endpoint endpoint_of(const Json& row) {
  setup::Endpoint e;
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

Result<bool> HttpInstance::is_set_up() {
  auto status = api_.get_openly("/api/setup/status");
  if (!status) {
    auto error = std::move(status).error();
    if (!error.message.starts_with("Cannot reach"))
      error.message = fmt::format("Cannot reach {}: its status check failed: {}", api_.url(), error.message);
    if (error.code != Code::tls) error.code = Code::unreachable;
    return Failure(std::move(error));
  }
  auto complete = status->is_object() ? status->find("complete") : status->end();
  if (complete == status->end() || !complete->is_boolean())
    return fail(Code::unreachable, "Cannot reach {}: what answers there is no dashboard", api_.url());
  return complete->get<bool>();
}

Result<Json> HttpInstance::read_config() {
  net::HttpRequest request;
  request.url = "/api/setup/config";
  request.headers.add("Accept", "application/json");
  if (!setup_code_.empty()) request.headers.add("X-Setup-Code", setup_code_.expose());
  auto response = TRY(api_.send(std::move(request)));
  auto json = parse_json(response.body);
  if (!json || !json->is_object()) return api_.strange_answer("/api/setup/config");
  return json;
}

// Whether the path exists, whatever it thinks of us.
Result<bool> HttpInstance::has_route(std::string_view path) {
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

// dashctl keeps a history and a peer does not; a peer has a health page of its own, and speaks the providers'
// names even before it has a key to show that by.
Result<void> HttpInstance::learn_kind(const Json& config) {
  auto spelling = spelling_of(config);
  if (!is_peer_) {
    bool may_be_peer = spelling != config::Spelling::canonical;
    is_peer_ = may_be_peer && !TRY(has_route(kHistory)) &&
               (spelling == config::Spelling::provider || TRY(has_route("/api/health")));
  }
  spelling_ = spelling.value_or(*is_peer_ ? config::Spelling::provider : config::Spelling::canonical);
  return {};
}

// A peer may hold a key in both spellings; the one that it reads itself counts.
Result<Told> HttpInstance::read() {
  auto config = TRY(read_config());
  TRY(learn_kind(config));
  Told told;
  told.spelling = *spelling_;
  told.is_peer = *is_peer_;
  for (const auto& [key, value] : config.items()) {
    if (value.is_null()) continue;
    auto name = config::canonical_key(key);
    bool is_own = key == config::spelled_key(told.spelling, name);
    if (is_own || !told.values.contains(name))
      told.values[name] = config::canonical_value(name, setup::setting_text(value));
  }
  return told;
}

Result<std::optional<std::map<std::string, setup::Comparison>>> HttpInstance::compare(
    const config::Values& mine) {
  using Results = std::optional<std::map<std::string, setup::Comparison>>;
  if (is_peer_.value_or(false)) return Results();
  auto nonce = crypto::random_bytes(kNonceBytes);
  auto macs = Json::object();
  for (const auto& [key, value] : mine)
    macs[key] = crypto::to_hex(crypto::hmac_sha256(nonce, fmt::format("{}{}{}", key, '\0', value)));
  auto answer =
      api_.post("/api/setup/compare", {{"nonce", crypto::to_hex(nonce)}, {"keys", std::move(macs)}});
  // Asked too often it does not tell either; what is unknown is written all the same.
  if (!answer && (is_missing_route(answer.error()) || is_unowned(answer.error(), api_) ||
                  answer.error().code == Code::throttled))
    return Results();
  auto body = TRY(std::move(answer));
  auto told = body.is_object() ? body.find("results") : body.end();
  if (told == body.end() || !told->is_object()) return api_.strange_answer("/api/setup/compare");
  std::map<std::string, setup::Comparison> results;
  for (const auto& [key, word] : told->items()) {
    if (word == "same") results[key] = setup::Comparison::same;
    if (word == "differs") results[key] = setup::Comparison::differs;
    if (word == "absent") results[key] = setup::Comparison::absent;
  }
  return Results(std::move(results));
}

Json HttpInstance::body_of(const WriteOrder& order) const {
  auto spelling = spelling_.value_or(config::Spelling::canonical);
  auto config = Json::object();
  for (const auto& [key, value] : order.values)
    config[config::spelled_key(spelling, key)] = config::spelled_value(spelling, key, value);
  Json body{{"config", std::move(config)}, {"include_on_prem", order.include_on_prem}};
  body["regions"] = order.replace_regions ? "replace" : "merge";
  if (order.claim) {
    body["admin_username"] = order.claim->admin;
    body["admin_password"] = order.claim->password.expose();
    if (!order.claim->setup_code.empty()) body["setup_code"] = order.claim->setup_code.expose();
  }
  return body;
}

Result<net::HttpResponse> HttpInstance::post_import(const WriteOrder& order) {
  auto body = dump_json(body_of(order));
  net::HttpRequest request;
  request.method = "POST";
  request.url = std::string(kImport) + setup::state_query(order.state);
  request.headers = {{"Accept", "application/json"}, {"Content-Type", "application/json"}};
  // In the head too: without it only a small body of somebody unknown is read.
  if (order.claim && !order.claim->setup_code.empty())
    request.headers.add("X-Setup-Code", order.claim->setup_code.expose());
  request.body = body;
  return api_.exchange(std::move(request));
}

Result<Written> HttpInstance::write(const WriteOrder& order) {
  auto response = TRY(post_import(order));
  auto json = parse_json(response.body);
  auto answer = json ? *std::move(json) : Json();
  // Nothing in it that the instance takes.
  auto refused = refused_in(answer);
  if (response.status == kBadRequest && !refused.empty()) {
    if (order.claim) return not_claimed(api_.url(), refused);
    return Written{.refused = refused};
  }
  if (!response.ok()) return Failure(net::api_error(response, api_.url()));
  auto written = written_in(answer);
  if (!written) return api_.strange_answer(kImport);
  if (!order.claim) return *std::move(written);
  auto login = api_.login(order.claim->admin, order.claim->password);
  if (!login)
    return fail(
        Code::partial,
        "{} took the import and its administrator {}, but the rest was not done: {}. Run the same import "
        "again with --admin-user {}",
        api_.url(), order.claim->admin, login.error().message, shell_word(order.claim->admin));
  return *std::move(written);
}

Result<std::vector<setup::Endpoint>> HttpInstance::endpoints() {
  auto asked = api_.get(kEndpoints);
  if (!asked && is_unowned(asked.error(), api_)) return std::vector<setup::Endpoint>();
  auto answer = TRY(std::move(asked));
  auto rows = answer.is_object() ? answer.find("endpoints") : answer.end();
  if (rows == answer.end() || !rows->is_array()) return api_.strange_answer(kEndpoints);
  std::vector<setup::Endpoint> out;
  for (const auto& row : *rows)
    if (row.is_object()) out.push_back(endpoint_of(row));
  return out;
}

Result<void> HttpInstance::put_endpoint(const std::optional<std::string>& id,
                                        const setup::FullEndpoint& row) {
  Json body{{"name", row.name},       {"url", row.url.expose()},
            {"fmt", row.fmt},         {"secret", row.secret.expose()},
            {"enabled", row.enabled}, {"event_types", nullptr}};
  if (row.event_types) body["event_types"] = *row.event_types;
  if (id) {
    TRY(api_.patch(fmt::format("{}/{}", kEndpoints, net::percent_encode(*id)), body));
  } else {
    TRY(api_.post(kEndpoints, body));
  }
  return {};
}

Result<std::optional<std::set<std::string>>> HttpInstance::vaults() {
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

Result<setup::RollbackReport> HttpInstance::rollback(const std::string& change_id,
                                                     const setup::StateOptions& state) {
  auto answer = api_.post(std::string(kRollback) + setup::state_query(state), {{"change_id", change_id}});
  if (!answer && is_missing_route(answer.error()) && !TRY(has_route(kHistory)))
    return fail(Code::unsupported,
                "{} keeps no history of changes: import the snapshot that the import stored, with --regions "
                "replace --include-on-prem --allow-empty-values. It cannot remove keys that were added, nor "
                "bring back what is masked there",
                api_.url());
  auto body = TRY(std::move(answer));
  auto report = restored_in(body);
  if (!report) return api_.strange_answer(kRollback);
  return *std::move(report);
}

}  // namespace dash::migrate
