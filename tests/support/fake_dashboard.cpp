#include "tests/support/fake_dashboard.hpp"

#include "core/config/clouds.hpp"
#include "core/config/masking.hpp"
#include "core/config/regions.hpp"
#include "core/config/registry.hpp"
#include "core/crypto/hash.hpp"

namespace dash {
namespace {

net::HttpResponse answer(int status, const Json& body) {
  net::HttpResponse out;
  out.status = status;
  out.body = dump_json(body);
  return out;
}

}  // namespace

Result<net::HttpResponse> FakeDashboard::send(const net::HttpRequest& request) {
  auto path = request.url.substr(request.url.find('/', 8));
  path = path.substr(0, path.find('?'));
  auto call = request.method + " " + path;
  requests.push_back(call);
  if (call == cut_at) {
    if (call == "POST /api/setup/import") import(parse_json(request.body).value());
    return fail(Code::unreachable, "the connection broke");
  }
  tokens.push_back(request.headers.get("Authorization").value_or(""));
  auto body = parse_json(request.body);
  auto json = body ? *body : Json();
  if (call == "GET /api/setup/status")
    return answer(200, {{"complete", complete}, {"configured_keys", Json::array()}});
  if (call == "GET /api/health" && is_peer) return answer(200, {{"status", "ok"}});
  if (call == "POST /api/auth/login") return answer(200, {{"access_token", "a.b.c"}});
  if (call == "GET /api/setup/config") {
    auto shown = Json::object();
    for (const auto& [key, value] : config)
      shown[key] = masked.contains(key) ? std::string(config::kMask) : value;
    return answer(200, shown);
  }
  if (call == "GET /api/setup/config/history" && !is_peer) return answer(200, {{"history", Json::array()}});
  if (call == "POST /api/setup/import") return import(json);
  if (call == "POST /api/setup/compare" && has_compare && !is_peer) return compare(json);
  if (call == "GET /api/secrets/vaults" && !is_peer) return answer(200, {{"vaults", Json::array()}});
  if (call == "GET /api/notifications/endpoints") return answer(200, {{"endpoints", endpoints}});
  if (call == "POST /api/notifications/endpoints") return put_endpoint("", json);
  if (call.starts_with("PATCH /api/notifications/endpoints/"))
    return put_endpoint(path.substr(path.rfind('/') + 1), json);
  return answer(404, {{"detail", "Not Found"}});
}

net::HttpResponse FakeDashboard::import(const Json& body) {
  imports.push_back(body);
  complete = true;
  auto refused = Json::object();
  std::size_t written = 0;
  for (const auto& [key, value] : body["config"].items()) {
    auto parts = config::split_region_key(key);
    if (refuses.contains(key)) {
      refused[key] = "instance_local";
    } else if (loses_writes) {
      continue;
    } else if (parts) {
      auto blob = config::region_blob_key(parts->cloud);
      if (is_peer) blob = config::provider_key(blob);
      auto map = config::parse_region_blob(parts->cloud, config[blob]).value();
      config::set_region_field(map, *parts, value.get<std::string>());
      config[blob] = config::write_region_blob(map);
    } else {
      config[key] = value.get<std::string>();
      ++written;
    }
  }
  Json out{{"ok", true}, {"keys_written", written}, {"regions_merged", Json::array()}};
  if (!is_peer) {
    out["refused"] = refused;
    out["change_id"] = change_id;
  }
  if (!refused.empty() && refused.size() == body["config"].size())
    return answer(400, {{"detail", "Every key was refused"}, {"refused", refused}});
  return answer(200, out);
}

net::HttpResponse FakeDashboard::compare(const Json& body) {
  auto nonce = crypto::from_hex(body["nonce"].get<std::string>()).value();
  auto results = Json::object();
  auto hidden = config;
  for (const auto& [id, url] : endpoint_urls) hidden["notification_endpoints/" + id + "/url"] = url;
  for (const auto& [key, mac] : body["keys"].items()) {
    auto it = hidden.find(key);
    bool same = it != hidden.end() &&
                crypto::to_hex(crypto::hmac_sha256(nonce, key + '\0' + it->second)) == mac.get<std::string>();
    results[key] = it == hidden.end() ? "absent" : same ? "same" : "differs";
  }
  return answer(200, {{"results", results}});
}

net::HttpResponse FakeDashboard::put_endpoint(const std::string& id, const Json& body) {
  if (refuses_endpoints)
    return answer(400, {{"detail", "The webhook URL must start with http:// or https://"}});
  auto row = body;
  row["id"] = id.empty() ? "id-" + std::to_string(endpoints.size()) : id;
  row["has_secret"] = body["secret"] != "";
  endpoint_urls[row["id"]] = body["url"];
  row.erase("url");
  row.erase("secret");
  std::erase_if(endpoints, [&](const Json& e) { return e["id"] == row["id"]; });
  endpoints.push_back(row);
  return answer(200, row);
}

}  // namespace dash
