#include "core/automation/hosts.hpp"

#include "core/windows/workgroups.hpp"

namespace dash::automation {
namespace {

Failure host_not_found(std::string_view name) { return fail(Code::not_found, "Host '{}' not found.", name); }

OrderedJson host_audit_details(const Host& host) {
  auto out = to_json(host);
  for (auto member : {"name", "host_key", "variables", "created_at", "created_by"}) out.erase(member);
  return out;
}

// The members that a change gave another value; a new secret counts as one.
OrderedJson changed_members(const Host& before, const Host& after, bool has_new_secret) {
  auto old_members = to_json(before), new_members = to_json(after);
  auto out = OrderedJson::array();
  for (const auto& [name, value] : new_members.items())
    if (old_members[name] != value) out.push_back(name);
  if (has_new_secret) out.push_back("secret");
  return out;
}

Result<void> check_host_workgroup(db::Transaction& tx, const Principal& principal, const Host& host) {
  return host.workgroup ? windows::check_workgroup(tx, principal, *host.workgroup) : Result<void>();
}

}  // namespace

bool may_use(const Principal& principal, const Host& host) {
  return principal.is_admin || (host.workgroup && principal.is_member_of(*host.workgroup));
}

Result<HostRow> Hosts::visible_row(db::Transaction& tx, const Principal& principal, const std::string& name) {
  auto row = TRY(select_host(tx, name));
  if (!row || !may_use(principal, row->host)) return host_not_found(name);
  return *std::move(row);
}

Result<TargetLimits> Hosts::limits() {
  static constexpr std::string_view kKeys[] = {kTargetsKey, kMaxTargetsKey};
  return read_target_limits(*TRY(deps_.settings.snapshot({"automation targets", kKeys})));
}

Result<std::vector<Host>> Hosts::list(const Principal& principal) {
  return db::read<std::vector<Host>>(deps_.sql, [&](db::Transaction& tx) -> Result<std::vector<Host>> {
    std::vector<Host> out;
    for (auto& row : TRY(select_hosts(tx)))
      if (may_use(principal, row.host)) out.push_back(std::move(row.host));
    return out;
  });
}

Result<Host> Hosts::get(const Principal& principal, const std::string& name) {
  return db::read<Host>(deps_.sql, [&](db::Transaction& tx) -> Result<Host> {
    return TRY(visible_row(tx, principal, name)).host;
  });
}

Result<Host> Hosts::add(const Principal& principal, const Json& body) {
  TRY(require_admin(principal));
  auto host = TRY(read_host(body));
  host.created_at = deps_.clock.now();
  host.created_by = principal.username;
  TRY(deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    TRY(check_host_workgroup(tx, principal, host));
    if (!TRY(insert_host(tx, deps_.config, host)))
      return fail(Code::conflict, "a host '{}' is kept already; change or remove it", host.name);
    TRY(deps_.audit.append(tx,
                           audit::make_event(principal, "host_add", host.name, host_audit_details(host))));
    return {};
  }));
  return host;
}

Result<Host> Hosts::change(const Principal& principal, const std::string& name, const Json& body) {
  return db::write<Host>(deps_.sql, [&](db::Transaction& tx) -> Result<Host> {
    auto before = TRY(visible_row(tx, principal, name)).host;
    TRY(require_admin(principal));
    auto after = TRY(change_host(before, body));
    TRY(check_host_workgroup(tx, principal, after));
    TRY(update_host(tx, after));
    bool has_new_secret = body.contains("secret");
    if (has_new_secret) TRY(update_host_secret(tx, deps_.config, after));
    auto details = host_audit_details(after);
    details["changed"] = changed_members(before, after, has_new_secret);
    TRY(deps_.audit.append(tx, audit::make_event(principal, "host_change", name, std::move(details))));
    return after;
  });
}

Result<void> Hosts::remove(const Principal& principal, const std::string& name) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    auto host = TRY(visible_row(tx, principal, name)).host;
    TRY(require_admin(principal));
    TRY(tx.exec("DELETE FROM hosts WHERE name = $1", {name}));
    TRY(deps_.audit.append(tx, audit::make_event(principal, "host_remove", name, host_audit_details(host))));
    return {};
  });
}

Result<HostTestResult> Hosts::test(const Principal& principal, const std::string& name, bool accept_new_key) {
  auto host = TRY(db::read<Host>(deps_.sql, [&](db::Transaction& tx) -> Result<Host> {
    auto row = TRY(visible_row(tx, principal, name));
    if (accept_new_key) TRY(require_admin(principal));
    row.host.secret = TRY(open_host_secret(deps_.config, row));
    return std::move(row.host);
  }));
  if (host.connection != Connection::local)
    host.address = TRY(allowed_address(TRY(limits()), principal, host));
  if (host.user.empty()) host.user = TRY(default_user());
  auto tested = test_connection(deps_.http, host, accept_new_key);
  if (!tested) {
    ConnectionTest failed;
    failed.result.error = tested.error();
    TRY(record_test(principal, host, failed));
    return Failure(tested.error());
  }
  TRY(record_test(principal, host, *tested));
  return tested->result;
}

Result<void> Hosts::record_test(const Principal& principal, const Host& host, const ConnectionTest& tested) {
  return deps_.sql.write([&](db::Transaction& tx) -> Result<void> {
    if (!tested.new_key.empty()) TRY(pin_key(tx, host, tested.new_key));
    auto details = to_json(tested.result);
    details["key_accepted"] = !tested.new_key.empty();
    TRY(deps_.audit.append(tx, audit::make_event(principal, "host_test", host.name, std::move(details))));
    return {};
  });
}

// Another caller may have changed the host, or pinned a key, while this one connected.
Result<void> Hosts::pin_key(db::Transaction& tx, const Host& host, const std::string& key) {
  auto pinned = TRY(tx.exec(R"(UPDATE hosts
                               SET host_key = $2
                               WHERE name = $1 AND host_key = '' AND address = $3 AND port = $4
                                 AND connection = 'ssh')",
                            {host.name, key, host.written_address, std::int64_t{host.port}}));
  if (pinned == 1) return {};
  auto now = TRY(select_host(tx, host.name));
  if (now && now->host.host_key == key) return {};
  return fail(Code::conflict, "the host '{}' was changed meanwhile; no key was pinned. Test it again",
              host.name);
}

Result<std::string> Hosts::default_user() { return deps_.settings.text("ansible_default_user"); }

}  // namespace dash::automation
