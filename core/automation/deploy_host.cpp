#include "core/automation/deploy_host.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

#include "core/automation/host_rules.hpp"
#include "core/jobs/job_rows.hpp"
#include "core/jobs/secret_mask.hpp"

namespace dash::automation {
namespace {

constexpr std::string_view kPinnedKeys = "host_keys";  // a detail of the deploy: address → key
constexpr std::chrono::seconds kFirstContactTimeout{60};
constexpr std::chrono::milliseconds kFirstContactPause{500};

Result<std::string> output_text(const jobs::Job& deploy, const std::string& name) {
  auto outputs = deploy.details.find("outputs");
  bool has_any = outputs != deploy.details.end() && outputs->is_object() && !outputs->empty();
  if (!has_any)
    return fail(Code::invalid, "the deploy {} has no outputs, so none named '{}'", deploy.id, name);
  auto value = outputs->find(name);
  if (value == outputs->end()) {
    std::vector<std::string> names;
    for (const auto& [known, text] : outputs->items()) names.push_back(known);
    return fail(Code::invalid, "the deploy {} has no output '{}'; it has {}", deploy.id, name,
                fmt::join(names, ", "));
  }
  if (value->is_null())
    return fail(Code::invalid,
                "the output '{}' of the deploy {} is sensitive or null; a host's address and key "
                "are neither",
                name, deploy.id);
  if (!value->is_string())
    return fail(Code::invalid, "the output '{}' of the deploy {} is no text", name, deploy.id);
  return value->get<std::string>();
}

struct Address {
  std::string host;
  std::optional<int> port;
};

// Reads "host", "host:port" and "[v6]:port". An IPv6 address without brackets has no port.
Address split_address(std::string_view text) {
  auto colon = text.rfind(':');
  bool is_v6 = std::ranges::count(text, ':') > 1;
  bool has_brackets = text.starts_with('[') && text.find(']') != text.npos;
  if (colon == text.npos || (is_v6 && !(has_brackets && colon > text.find(']')))) {
    if (has_brackets) text = text.substr(1, text.find(']') - 1);
    return {std::string(text), std::nullopt};
  }
  int port = 0;
  auto digits = text.substr(colon + 1);
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (error != std::errc() || end != digits.data() + digits.size()) return {std::string(text), std::nullopt};
  auto host = text.substr(0, colon);
  if (has_brackets) host = host.substr(1, host.size() - 2);
  return {std::string(host), port};
}

// In whose name the run works: what its requester was when the deploy was requested.
Principal run_principal(const jobs::Job& run) {
  Principal out;
  out.username = run.created_by;
  out.is_admin = run.created_by_admin;
  if (run.workgroup) out.workgroups.insert(*run.workgroup);
  return out;
}

// Returns the kept host that the address means; nullopt when none or several do.
Result<std::optional<Host>> find_kept(Hosts& hosts, const Principal& principal, const Address& address) {
  std::vector<std::string> names;
  for (const auto& host : TRY(hosts.list(principal))) {
    bool is_address =
        host.written_address == address.host && (!address.port || port_of(host) == *address.port);
    if (host.name == address.host) names = {host.name};
    if (host.name == address.host) break;
    if (is_address) names.push_back(host.name);
  }
  if (names.size() != 1) return std::nullopt;
  return TRY(hosts.find(principal, Json::array({names.front()}))).front();
}

Result<Host> draft_host(Hosts& hosts, const Principal& principal, const Address& address, const Json& after) {
  auto user = string_member(after, "user").value_or("");
  auto connection = after.value("connection", Json::object());
  if (auto kept = TRY(find_kept(hosts, principal, address))) {
    if (!user.empty()) kept->user = user;
    return *std::move(kept);
  }
  Json entry = {{"address", address.host}};
  if (address.port) entry["port"] = *address.port;
  if (!user.empty()) entry["user"] = user;
  entry.update(connection);
  return read_ad_hoc_host(entry);
}

std::string pin_name(const Host& host) { return fmt::format("{}:{}", host.address, port_of(host)); }

Result<std::string> pinned_deploy_key(db::Transaction& tx, const std::string& deploy_id, const Host& host) {
  auto deploy = TRY(jobs::get_job(tx, deploy_id));
  auto keys = deploy.details.value(std::string(kPinnedKeys), OrderedJson::object());
  return keys.is_object() ? keys.value(pin_name(host), std::string()) : std::string();
}

// Pins the key, unless another run of this deploy pinned one before; returns that which counts.
Result<std::string> pin_deploy_key(db::Sql& sql, const std::string& deploy_id, const Host& host,
                                   const std::string& key) {
  return db::write<std::string>(sql, [&](db::Transaction& tx) -> Result<std::string> {
    auto deploy = TRY(jobs::get_job(tx, deploy_id));
    auto keys = deploy.details.value(std::string(kPinnedKeys), OrderedJson::object());
    if (keys.contains(pin_name(host))) return keys[pin_name(host)].get<std::string>();
    keys[pin_name(host)] = key;
    TRY(jobs::set_job_detail(tx, deploy_id, std::string(kPinnedKeys), keys));
    return key;
  });
}

// A machine that was just made may take a while to answer.
Result<FirstContactResult> await_first_contact(Hosts& hosts, const Host& host, jobs::RunControl& control) {
  auto due = std::chrono::steady_clock::now() + kFirstContactTimeout;
  for (;;) {
    auto contact = hosts.first_contact(host);
    bool again = !contact && contact.error().code == Code::unreachable && !control.should_stop() &&
                 std::chrono::steady_clock::now() < due;
    if (!again) return contact;
    std::this_thread::sleep_for(kFirstContactPause);
  }
}

Result<void> learn_key(const DeployHostDeps& deps, const Principal& principal, const std::string& deploy_id,
                       Host& host, jobs::RunControl& control) {
  if (!host.host_key.empty() || host.connection != Connection::ssh) return {};
  TRY(deps.hosts.check_address(principal, host));
  host.host_key = TRY(db::read<std::string>(
      deps.sql, [&](db::Transaction& tx) { return pinned_deploy_key(tx, deploy_id, host); }));
  if (!host.host_key.empty()) return {};
  auto contact = TRY(await_first_contact(deps.hosts, host, control));
  host.host_key = TRY(pin_deploy_key(deps.sql, deploy_id, host, contact.key));
  control.log(
      fmt::format("pinned the key of {} at the first contact: {}", pin_name(host), contact.fingerprint));
  return {};
}

}  // namespace

Result<Json> take_connection(Json& variables) {
  Json out = Json::object();
  constexpr std::pair<std::string_view, std::string_view> kMembers[] = {
      {"ansible_port", "port"},
      {"ansible_connection", "connection"},
      {"ansible_password", "secret"},
      {"ansible_ssh_pass", "secret"},
      {"ansible_ssh_private_key", "secret"}};
  for (const auto& [variable, member] : kMembers) {
    auto it = variables.find(variable);
    if (it == variables.end()) continue;
    if (member == "secret") {
      if (!it->is_string()) return fail(Code::invalid, "variables: '{}' is a text", variable);
      TRY(jobs::check_maskable(fmt::format("variables.{}", variable), it->get_ref<const std::string&>()));
    }
    out[std::string(member)] = *it;
    variables.erase(it);
  }
  return out;
}

Result<Host> find_deploy_host(const DeployHostDeps& deps, const jobs::Job& run, const Json& after,
                              const RunNeeds& needs, jobs::RunControl& control) {
  auto deploy_id = string_member(after, "deploy_job_id").value_or("");
  auto deploy =
      TRY(db::read<jobs::Job>(deps.sql, [&](db::Transaction& tx) { return jobs::get_job(tx, deploy_id); }));
  auto principal = run_principal(run);
  auto address = split_address(TRY(output_text(deploy, string_member(after, "host_output").value_or(""))));
  auto host = TRY(draft_host(deps.hosts, principal, address, after));
  if (auto output = string_member(after, "host_key_output").value_or(""); !output.empty())
    if (auto key = TRY(output_text(deploy, output)); !key.empty())
      host.host_key = host_key_text(TRY(parse_host_key(key)));
  TRY(learn_key(deps, principal, deploy_id, host, control));
  std::vector<Host> hosts{std::move(host)};
  TRY(deps.hosts.check(principal, hosts, needs));
  return std::move(hosts.front());
}

}  // namespace dash::automation
