#include <map>
#include <set>

#include "core/automation/hosts.hpp"
#include "core/base/shape.hpp"

namespace dash::automation {
namespace {

constexpr std::chrono::seconds kResolveTimeout{20};

Result<Host> ad_hoc_host(const Principal& principal, const Json& entry) {
  if (!principal.is_admin)
    return fail(Code::forbidden,
                "only administrators may run on addresses; name a kept host of your workgroup");
  return read_ad_hoc_host(entry);
}

Result<std::string> entry_name(const Json& entry) {
  if (entry.is_string()) return entry.get<std::string>();
  if (entry.is_number_integer()) return dump_json(entry);
  return wrong_type("hosts", "string");
}

Result<void> check_needs(const Principal& principal, const Host& host, const RunNeeds& needs) {
  if (host.connection == Connection::local) {
    TRY(require_admin(principal));
    if (needs.become || uses_become(host.variables))
      return fail(
          Code::invalid,
          "host '{}': a run with connection local takes no other user's rights on this machine; leave "
          "become out",
          host.name);
    return {};
  }
  if (host.connection == Connection::ssh && host.host_key.empty())
    return fail(Code::invalid,
                "no key of host '{}' is known: keep the host and pin its key with `dashctl host test {} "
                "--accept-new-key`, or give host_key",
                host.name, host.name);
  return {};
}

}  // namespace

Result<Json> host_entries(const Json& body) {
  const Json* found = nullptr;
  for (auto member : {"target", "hosts", "inventory_ids"}) {
    auto sent = body.find(member);
    if (sent == body.end() || sent->is_null()) continue;
    if (found) return wrong_value(member, "is given beside another list of hosts; give one of them");
    bool is_list = member != std::string_view("target");
    if (is_list != sent->is_array()) return wrong_type(member, is_list ? "array" : "string");
    found = &*sent;
  }
  if (!found) return Json::array();
  return found->is_array() ? *found : Json::array({*found});
}

Result<std::vector<Host>> Hosts::find(const Principal& principal, const Json& entries) {
  if (!entries.is_array()) return wrong_type("hosts", "array");
  std::map<std::string, HostRow> kept;
  TRY(deps_.sql.read([&](db::Transaction& tx) -> Result<void> {
    for (auto& row : TRY(select_hosts(tx)))
      if (may_use(principal, row.host)) kept.emplace(row.host.name, std::move(row));
    return {};
  }));
  std::vector<Host> out;
  for (const auto& entry : entries) {
    if (entry.is_object()) {
      out.push_back(TRY(ad_hoc_host(principal, entry)));
      continue;
    }
    auto name = TRY(entry_name(entry));
    if (auto row = kept.find(name); row != kept.end()) {
      out.push_back(row->second.host);
      out.back().secret = TRY(open_host_secret(deps_.config, row->second));
    } else if (principal.is_admin && parse_ip(name)) {
      out.push_back(TRY(read_ad_hoc_host({{"address", name}})));
    } else {
      return fail(Code::not_found, "Host '{}' not found.", name);
    }
  }
  return out;
}

Result<void> Hosts::check(const Principal& principal, std::vector<Host>& hosts, const RunNeeds& needs) {
  auto limits = TRY(this->limits());
  if (hosts.empty()) return fail(Code::invalid, "name at least one host");
  if (hosts.size() > static_cast<std::size_t>(limits.max_targets))
    return fail(Code::invalid, "a run takes at most {} hosts (automation_max_targets); {} are named",
                limits.max_targets, hosts.size());
  std::set<std::string> names;
  auto user = TRY(default_user());
  auto deadline = deps_.clock.steady_now() + kResolveTimeout;
  for (auto& host : hosts) {
    if (!names.insert(host.name).second) return fail(Code::invalid, "host '{}' is named twice", host.name);
    TRY(check_needs(principal, host, needs));
    host.port = port_of(host);
    if (host.user.empty() && host.connection != Connection::local) host.user = user;
    if (host.connection == Connection::local) continue;
    if (needs.through_agent) {
      host.address = TRY(allowed_remote_address(limits, principal, host));
      continue;
    }
    if (deps_.clock.steady_now() > deadline)
      return fail(Code::timeout,
                  "the names of the hosts could not be resolved in {} s; use IP addresses, or fewer "
                  "hosts",
                  kResolveTimeout.count());
    host.address = TRY(allowed_address(limits, principal, host));
  }
  return {};
}

Result<std::vector<Host>> Hosts::resolve(const Principal& principal, const Json& entries,
                                         const RunNeeds& needs) {
  auto hosts = TRY(find(principal, entries));
  TRY(check(principal, hosts, needs));
  return hosts;
}

}  // namespace dash::automation
