#include "core/base/shape.hpp"
#include "core/crypto/hash.hpp"
#include "core/migrate/bundle_compare.hpp"
#include "core/setup/config_service.hpp"
#include "daemon/routes/body.hpp"
#include "daemon/routes/params.hpp"
#include "daemon/routes/routes.hpp"
#include "daemon/routes/state_query.hpp"

namespace dash::daemon {
namespace {

// 60,000 keys with values of 200 bytes are 15 MiB.
constexpr std::uint64_t kImportBody = 64u << 20;

Secret setup_code(const Request& request) { return Secret(request.header("X-Setup-Code").value_or("")); }

Result<Response> status(app::Application& app, const Request& request) {
  auto setup_status = TRY(app.config_service.status(request.principal));
  return json_response(200, OrderedJson{{"complete", setup_status.complete},
                                        {"configured_keys", setup_status.configured_keys}});
}

Result<Response> read(app::Application& app, const Request& request) {
  auto values = TRY(app.config_service.read(request.principal, setup_code(request)));
  return text_response(200, "application/json", dump_strings(values));
}

Result<setup::ImportRequest> import_request(const Request& request) {
  auto body = TRY(json_object(request));
  setup::ImportRequest out;
  out.config = body.value("config", Json::object());
  if (!out.config.is_object()) return wrong_type("config", "object");
  out.rules.include_on_prem = TRY(optional_bool(body, "include_on_prem")).value_or(true);
  auto regions = TRY(optional_string(body, "regions"));
  if (regions && *regions != "merge" && *regions != "replace")
    return fail(Code::invalid, "regions must be merge or replace");
  if (regions) out.rules.replace_regions = *regions == "replace";
  out.state = TRY(state_query(request));
  out.admin_username = TRY(optional_string(body, "admin_username")).value_or("");
  out.admin_password = Secret(TRY(optional_string(body, "admin_password")).value_or(""));
  out.setup_code = Secret(TRY(optional_string(body, "setup_code")).value_or(""));
  if (out.setup_code.empty()) out.setup_code = setup_code(request);
  return out;
}

// An import may be large, so a caller without the right is refused before its body is read.
Result<void> authorize_import(app::Application& app, Request& request) {
  bool is_claim = TRY(app.config_service.authorize_import(request.principal));
  request.may_send_large = !is_claim;
  if (!is_claim) return {};
  auto code = setup_code(request);
  bool is_large = request.content_length.value_or(0) > kSignInBody;
  if (code.empty() && is_large)
    return fail(Code::forbidden,
                "To claim this instance with a body of more than {} bytes, send the setup code in the header "
                "X-Setup-Code",
                kSignInBody);
  auto checked = code.empty() ? Result<void>() : app.config_service.check_setup_code(code, request.client);
  if (!checked && is_large) return checked;
  request.may_send_large = checked && !code.empty();
  return {};
}

Result<Response> import(app::Application& app, const Request& request) {
  auto report =
      TRY(app.config_service.import(request.principal, TRY(import_request(request)), request.client));
  return json_response(report.is_all_refused ? 400 : 200, setup::to_json(report));
}

Result<Handler> admit_import(app::Application& app, Request& request) {
  TRY(authorize_import(app, request));
  return Handler([&app](Request& r) { return import(app, r); });
}

Result<Response> compare_bundle(app::Application& app, const Principal& principal, const Json& body) {
  migrate::LocalDeps deps{app.config, app.config_service, app.webhooks, app.vaults, app.setup_code};
  return json_response(
      200, TRY(migrate::compare_bundle(deps, principal, TRY(migrate::parse_bundle_compare(body)))));
}

Result<Response> compare(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto body = TRY(json_object(request));
  if (body.contains("bundle")) return compare_bundle(app, principal, body);
  auto nonce = crypto::from_hex(TRY(required_string(body, "nonce")));
  if (!nonce) return fail(Code::invalid, "the nonce is not hexadecimal");
  auto keys = body.find("keys");
  if (keys == body.end()) return missing_member("keys");
  if (!keys->is_object()) return wrong_type("keys", "object");
  std::map<std::string, std::string> macs;
  for (const auto& [key, mac] : keys->items()) {
    if (!mac.is_string()) return wrong_type("keys", "object");
    macs[key] = mac.get<std::string>();
  }
  static constexpr std::string_view kWords[] = {"same", "differs", "absent"};
  auto results = Json::object();
  for (const auto& [key, result] : TRY(app.config_service.compare(principal, *nonce, macs)))
    results[key] = kWords[static_cast<std::size_t>(result)];
  return json_response(200, Json{{"results", std::move(results)}});
}

Result<Response> change(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  config::Changes changes;
  auto body = TRY(json_object(request));
  for (const auto& [key, value] : body.items())
    changes[key] = value.is_null() ? std::nullopt : std::optional(setup::setting_text(value));
  auto changed = TRY(app.config_service.change(principal, changes, "api", TRY(state_query(request))));
  return json_response(200, setup::to_json(changed));
}

Result<Response> history(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto before = TRY(integer_query(request, "before")).value_or(0);
  auto limit = TRY(integer_query(request, "limit")).value_or(100);
  auto out = OrderedJson::array();
  for (const auto& entry :
       TRY(app.config_service.history(principal, request.query.get_or("key", ""), before, limit)))
    out.push_back(setup::to_json(entry));
  return json_response(200, OrderedJson{{"history", out}});
}

Result<Response> rollback(app::Application& app, const Request& request) {
  const auto& principal = request.caller();
  auto change_id = TRY(required_string(TRY(json_object(request)), "change_id"));
  auto options = TRY(state_query(request));
  return json_response(200, setup::to_json(TRY(app.config_service.rollback(principal, change_id, options))));
}

}  // namespace

void add_setup_routes(std::vector<Route>& routes, app::Application& app) {
  routes.push_back({.pattern = "/api/setup/status", .auth = Auth::visitor, .handler = [&app](Request& r) {
                      return status(app, r);
                    }});
  routes.push_back({.pattern = "/api/setup/config", .auth = Auth::setup, .handler = [&app](Request& r) {
                      return read(app, r);
                    }});
  routes.push_back({.pattern = "/api/setup/config/history",
                    .auth = Auth::setup_admin,
                    .handler = [&app](Request& r) { return history(app, r); }});
  routes.push_back({.method = "PUT",
                    .pattern = "/api/setup/config",
                    .auth = Auth::setup_admin,
                    .handler = [&app](Request& r) { return change(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "POST",
                    .pattern = "/api/setup/rollback",
                    .auth = Auth::setup_admin,
                    .handler = [&app](Request& r) { return rollback(app, r); },
                    .body = Body::small});
  routes.push_back({.method = "POST",
                    .pattern = "/api/setup/import",
                    .auth = Auth::claim,
                    .body = Body::small,
                    .max_body = kImportBody,
                    .pool = Pool::login,
                    .admit = [&app](Request& r) { return admit_import(app, r); }});
  routes.push_back({.method = "POST",
                    .pattern = "/api/setup/compare",
                    .auth = Auth::setup_admin,
                    .handler = [&app](Request& r) { return compare(app, r); },
                    .body = Body::small,
                    .max_body = kImportBody});
}

}  // namespace dash::daemon
