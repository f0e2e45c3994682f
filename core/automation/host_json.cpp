#include "core/automation/host_rules.hpp"

namespace dash::automation {
namespace {

OrderedJson host_text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

Result<std::string> kept_text(const Json& parameters, const char* member) {
  auto text = string_member(parameters, member);
  if (!text) return fail(Code::internal, "the parameters of a job name a host without '{}'", member);
  return *std::move(text);
}

}  // namespace

std::string fingerprint_of(const Host& host) {
  if (host.connection != Connection::ssh || host.host_key.empty()) return "";
  auto key = parse_host_key(host.host_key);
  return key ? net::host_key_fingerprint(*key) : "";
}

OrderedJson to_json(const Host& host) {
  OrderedJson out;
  out["name"] = host.name;
  out["address"] = host.written_address;
  out["port"] = port_of(host);
  out["user"] = host.user;
  out["connection"] = word(host.connection);
  out["host_key"] = host_text_or_null(host.host_key);
  out["fingerprint"] = host_text_or_null(fingerprint_of(host));
  out["variables"] = host.variables;
  out["groups"] = host.groups;
  out["workgroup"] = host.workgroup ? OrderedJson(*host.workgroup) : OrderedJson(nullptr);
  out["secret_kind"] = host_text_or_null(std::string(word(host.secret_kind)));
  out["created_at"] = format_iso(host.created_at);
  out["created_by"] = host.created_by;
  return out;
}

Json to_parameters(const Host& host) {
  return {{"name", host.name},         {"written_address", host.written_address},
          {"address", host.address},   {"port", host.port},
          {"user", host.user},         {"connection", word(host.connection)},
          {"host_key", host.host_key}, {"variables", host.variables},
          {"groups", host.groups},     {"secret", host.secret.expose()},
          {"is_kept", host.is_kept}};
}

Result<Host> host_of_parameters(const Json& parameters) {
  Host host;
  host.name = TRY(kept_text(parameters, "name"));
  host.written_address = TRY(kept_text(parameters, "written_address"));
  host.address = TRY(kept_text(parameters, "address"));
  host.port = parameters.value("port", 0);
  host.user = TRY(kept_text(parameters, "user"));
  host.connection = connection_of(TRY(kept_text(parameters, "connection")));
  host.host_key = TRY(kept_text(parameters, "host_key"));
  host.variables = parameters.value("variables", Json::object());
  host.groups = parameters.value("groups", std::vector<std::string>());
  host.secret = Secret(TRY(kept_text(parameters, "secret")));
  host.secret_kind = secret_kind_of(host.secret);
  host.is_kept = parameters.value("is_kept", false);
  return host;
}

}  // namespace dash::automation
