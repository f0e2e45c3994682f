#include "core/automation/host.hpp"

#include <algorithm>
#include <array>

#include "core/automation/host_rules.hpp"
#include "core/base/shape.hpp"
#include "core/base/text.hpp"

namespace dash::automation {
namespace {

constexpr std::array kConnections{Connection::ssh, Connection::winrm, Connection::local};
constexpr std::size_t kMaxGroups = 64;
constexpr std::int64_t kMaxPort = 65535;
constexpr int kSshPort = 22, kWinrmPort = 5986;

// The text of a member; blank for null, which clears one.
Result<std::string> host_text(std::string_view member, const Json& value) {
  if (value.is_null()) return std::string();
  if (!value.is_string()) return wrong_type(member, "string");
  return std::string(trim(value.get_ref<const std::string&>()));
}

Result<void> set_name(Host& host, const Json& value) {
  auto name = TRY(host_text("name", value));
  if (!host.name.empty() && name != host.name)
    return fail(Code::invalid, "a host is not renamed: remove it and add '{}'", name);
  TRY(check_host_name(name));
  host.name = name;
  return {};
}

Result<void> set_address(Host& host, const Json& value) {
  host.written_address = TRY(read_address(TRY(host_text("address", value))));
  return {};
}

Result<void> set_port(Host& host, const Json& value) {
  host.port = 0;
  if (value.is_null()) return {};
  if (!value.is_number_integer()) return wrong_type("port", "integer");
  bool is_port = value >= 1 && value <= kMaxPort;
  if (!is_port) return wrong_value("port", "is a number from 1 to 65535");
  host.port = value.get<int>();
  return {};
}

Result<void> set_user(Host& host, const Json& value) {
  auto user = TRY(host_text("user", value));
  TRY(check_host_user(user));
  host.user = user;
  return {};
}

Result<void> set_connection(Host& host, const Json& value) {
  auto text = value.is_null() ? "ssh" : TRY(host_text("connection", value));
  for (auto connection : kConnections)
    if (text == word(connection)) {
      host.connection = connection;
      return {};
    }
  return fail(Code::invalid, "connection is ssh, winrm or local");
}

Result<void> set_host_key(Host& host, const Json& value) {
  host.host_key = TRY(host_text("host_key", value));
  return {};
}

Result<void> set_variables(Host& host, const Json& value) {
  auto variables = value.is_null() ? Json::object() : value;
  TRY(check_variables("variables", variables));
  host.variables = variables;
  return {};
}

Result<void> set_groups(Host& host, const Json& value) {
  host.groups.clear();
  if (value.is_null()) return {};
  if (!value.is_array()) return wrong_type("groups", "array");
  if (value.size() > kMaxGroups) return fail(Code::invalid, "a host is in at most {} groups", kMaxGroups);
  for (const auto& item : value) {
    if (!item.is_string()) return wrong_type("groups", "string");
    std::string group(trim(item.get_ref<const std::string&>()));
    TRY(check_group_name(group));
    if (std::ranges::find(host.groups, group) == host.groups.end()) host.groups.push_back(group);
  }
  return {};
}

Result<void> set_workgroup(Host& host, const Json& value) {
  auto workgroup = lower(TRY(host_text("workgroup", value)));
  host.workgroup = workgroup.empty() ? std::optional<std::string>() : workgroup;
  return {};
}

Result<void> set_secret(Host& host, const Json& value) {
  if (!value.is_null() && !value.is_string()) return wrong_type("secret", "string");
  host.secret = TRY(read_host_secret(Secret(value.is_null() ? "" : value.get<std::string>())));
  host.secret_kind = secret_kind_of(host.secret);
  return {};
}

struct HostMember {
  std::string_view name;
  Result<void> (*set)(Host& host, const Json& value);
};
constexpr HostMember kHostMembers[] = {
    {"name", set_name},           {"address", set_address},       {"port", set_port},
    {"user", set_user},           {"connection", set_connection}, {"host_key", set_host_key},
    {"variables", set_variables}, {"groups", set_groups},         {"workgroup", set_workgroup},
    {"secret", set_secret}};

Result<void> set_members(Host& host, const Json& body) {
  for (const auto& [name, value] : body.items())
    if (std::ranges::find(kHostMembers, name, &HostMember::name) == std::end(kHostMembers))
      return wrong_value(name, "is not a member of a host");
  for (const auto& member : kHostMembers)
    if (auto sent = body.find(member.name); sent != body.end()) TRY(member.set(host, *sent));
  return {};
}

Result<void> finish_host(Host& host) {
  if (host.connection == Connection::local && host.written_address.empty())
    host.written_address = "localhost";
  if (host.written_address.empty()) return missing_member("address");
  host.address = host.written_address;
  return check_host(host);
}

}  // namespace

std::string_view word(Connection connection) {
  switch (connection) {
    case Connection::winrm:
      return "winrm";
    case Connection::local:
      return "local";
    case Connection::ssh:
      break;
  }
  return "ssh";
}

std::string_view word(SecretKind kind) {
  switch (kind) {
    case SecretKind::password:
      return "password";
    case SecretKind::private_key:
      return "key";
    case SecretKind::none:
      break;
  }
  return "";
}

Connection connection_of(std::string_view text) {
  return text == "winrm" ? Connection::winrm : text == "local" ? Connection::local : Connection::ssh;
}

SecretKind secret_kind_named(std::string_view text) {
  return text == "password" ? SecretKind::password
         : text == "key"    ? SecretKind::private_key
                            : SecretKind::none;
}

SecretKind secret_kind_of(const Secret& secret) {
  if (secret.empty()) return SecretKind::none;
  return secret.expose().starts_with(kKeyBegin) ? SecretKind::private_key : SecretKind::password;
}

int port_of(const Host& host) {
  if (host.port != 0) return host.port;
  return host.connection == Connection::winrm ? kWinrmPort : kSshPort;
}

Result<Host> read_host(const Json& body) {
  if (!body.is_object()) return wrong_type("body", "object");
  if (!body.contains("name")) return missing_member("name");
  Host host;
  host.is_kept = true;
  TRY(set_members(host, body));
  TRY(finish_host(host));
  return host;
}

Result<Host> read_ad_hoc_host(const Json& entry) {
  if (!entry.is_object()) return wrong_type("hosts", "object");
  if (entry.contains("workgroup")) return wrong_value("workgroup", "is a member of kept hosts only");
  Host host;
  TRY(set_members(host, entry));
  TRY(finish_host(host));
  if (host.name.empty()) host.name = host.written_address;
  return host;
}

Result<Host> change_host(Host host, const Json& body) {
  if (!body.is_object()) return wrong_type("body", "object");
  TRY(set_members(host, body));
  TRY(finish_host(host));
  return host;
}

}  // namespace dash::automation
