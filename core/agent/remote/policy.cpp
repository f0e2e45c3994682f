#include "core/agent/remote/policy.hpp"

#include <algorithm>
#include <array>

#include "core/agent/remote/yaml_file.hpp"
#include "core/base/file.hpp"
#include "core/base/text.hpp"
#include "core/base/utf8.hpp"
#include "core/crypto/hash.hpp"

namespace dash::agent {
namespace {

using automation::IpAddress;
using automation::IpNetwork;

constexpr std::array<std::string_view, 8> kPolicyKeys{"targets", "deny",        "job_types", "limits",
                                                      "storage", "connections", "sibling",   "ansible"};
constexpr std::array<std::string_view, 3> kUnusedBlocks{"connections", "sibling", "ansible"};
constexpr std::array<std::string_view, 3> kTargetKeys{"cidr", "fqdn", "ports"};
constexpr std::array<std::string_view, 2> kLimitKeys{"max_hosts", "max_concurrency"};
constexpr std::array<std::string_view, 2> kStorageKeys{"enabled", "shares"};
constexpr std::array<std::string_view, 2> kShareRuleKeys{"name", "write"};
constexpr std::int64_t kMaxLimit = 100'000;

std::string folded(std::string_view name) {
  auto out = lower(trim(name));
  if (out.ends_with('.')) out.pop_back();
  return out;
}

Result<IpNetwork> read_network(const YamlView& value, std::string_view what) {
  auto text = TRY(value.text(what));
  if (auto network = automation::parse_network(trim(text))) return *network;
  return value.error(
      fmt::format("'{}' is no network: write 10.0.0.0/24, or one address", escape_controls(text, "")));
}

Result<TargetRule> read_target(const YamlView& entry) {
  TRY(entry.check_keys("a target", kTargetKeys));
  auto cidr = entry.find("cidr"), fqdn = entry.find("fqdn");
  if (cidr.has_value() == fqdn.has_value()) return entry.error("a target has either 'cidr' or 'fqdn'");
  TargetRule rule;
  if (cidr) {
    rule.network = TRY(read_network(*cidr, "'cidr'"));
    rule.is_literal = rule.network->prefix == (rule.network->address.is_v4 ? 32 : 128);
  } else {
    rule.name = folded(TRY(fqdn->text("'fqdn'")));
  }
  if (auto ports = entry.find("ports"))
    for (const auto& port : TRY(ports->list("'ports'")))
      rule.ports.push_back(static_cast<int>(TRY(port.number("a port", 1, 65535))));
  return rule;
}

Result<void> read_targets(const YamlView& root, Policy& policy) {
  auto targets = root.find("targets");
  if (!targets) return root.error("the policy names no 'targets': where may this agent connect to?");
  for (const auto& entry : TRY(targets->list("'targets'"))) policy.targets.push_back(TRY(read_target(entry)));
  if (policy.targets.empty()) return targets->error("'targets' is empty: where may this agent connect to?");
  return {};
}

Result<void> read_limits(const YamlView& limits, Policy& policy) {
  TRY(limits.check_keys("'limits'", kLimitKeys));
  if (auto hosts = limits.find("max_hosts")) policy.max_hosts = TRY(hosts->number("max_hosts", 1, kMaxLimit));
  if (auto most = limits.find("max_concurrency"))
    policy.max_concurrency = TRY(most->number("max_concurrency", 1, kMaxLimit));
  return {};
}

Result<ShareRule> read_share_rule(const YamlView& entry) {
  TRY(entry.check_keys("a share of the policy", kShareRuleKeys));
  auto name = entry.find("name");
  if (!name) return entry.error("a share of the policy has no 'name'");
  ShareRule rule{TRY(name->text("'name'"))};
  if (auto checked = check_share(rule.name); !checked) return name->error(checked.error().message);
  if (auto write = entry.find("write")) rule.can_write = TRY(write->flag("'write'"));
  return rule;
}

Result<void> read_storage(const YamlView& storage, Policy& policy) {
  TRY(storage.check_keys("'storage'", kStorageKeys));
  if (auto enabled = storage.find("enabled")) policy.has_storage = TRY(enabled->flag("'enabled'"));
  auto shares = storage.find("shares");
  if (!shares) return {};
  for (const auto& entry : TRY(shares->list("'shares'"))) {
    auto rule = TRY(read_share_rule(entry));
    if (std::ranges::count(policy.shares, rule.name, &ShareRule::name) > 0)
      return entry.error(fmt::format("the share '{}' occurs twice", rule.name));
    policy.shares.push_back(std::move(rule));
  }
  return {};
}

bool has_port(const TargetRule& rule, int port) {
  return rule.ports.empty() || port == 0 || std::ranges::count(rule.ports, port) > 0;
}

bool matches(const TargetRule& rule, const AutomationHost& host, const IpAddress& address) {
  if (!has_port(rule, host.port)) return false;
  if (rule.network) return rule.network->contains(address);
  if (folded(host.address) == rule.name) return true;
  auto addresses = automation::resolve_name(rule.name);
  return addresses && std::ranges::count(*addresses, address) > 0;
}

Result<void> judge_address(const Policy& policy, const AutomationHost& host, const IpAddress& address) {
  auto shown = automation::ip_text(address);
  auto place = host.port == 0 ? shown : fmt::format("{} port {}", shown, host.port);
  bool is_denied =
      std::ranges::any_of(policy.deny, [&](const IpNetwork& network) { return network.contains(address); });
  if (is_denied)
    return fail(Code::policy_denied, "host '{}': {} is in a network that 'deny' names", host.name, shown);
  bool is_named = false, is_literal = false;
  for (const auto& rule : policy.targets)
    if (matches(rule, host, address)) is_named = true, is_literal = is_literal || rule.is_literal;
  if (!is_named)
    return fail(Code::policy_denied, "host '{}': {} is not among the 'targets'", host.name, place);
  if (!is_literal && automation::is_own_machine_or_link(address))
    return fail(
        Code::policy_denied,
        "host '{}': {} is the agent's own machine or link, which 'targets' must name as an address of "
        "its own",
        host.name, shown);
  return {};
}

}  // namespace

bool Policy::has_job_type(std::string_view type) const { return std::ranges::count(job_types, type) > 0; }

Result<Policy> read_policy(std::string_view text, std::string_view file) {
  auto document = TRY(parse_yaml(text, file));
  YamlView root(file, document);
  TRY(root.check_keys("the policy", kPolicyKeys));
  Policy policy;
  policy.hash = crypto::to_hex(crypto::sha256(text));
  TRY(read_targets(root, policy));
  if (auto deny = root.find("deny"))
    for (const auto& entry : TRY(deny->list("'deny'")))
      policy.deny.push_back(TRY(read_network(entry, "an entry of 'deny'")));
  if (auto types = root.find("job_types"))
    for (const auto& entry : TRY(types->list("'job_types'")))
      policy.job_types.push_back(TRY(entry.text("a job type")));
  if (auto limits = root.find("limits")) TRY(read_limits(*limits, policy));
  if (auto storage = root.find("storage")) TRY(read_storage(*storage, policy));
  for (auto block : kUnusedBlocks)
    if (root.find(block)) policy.unused.emplace_back(block);
  return policy;
}

Result<Policy> load_policy(const std::string& path) {
  auto text = read_file(path, kMaxYamlBytes);
  if (!text) return fail(Code::usage, "the policy cannot be read: {}", text.error().message);
  return read_policy(*text, path);
}

Result<void> judge_job_type(const Policy& policy, std::string_view type) {
  if (policy.has_job_type(type)) return {};
  return fail(Code::policy_denied, "the job type '{}' is not among its 'job_types'",
              escape_controls(type, ""));
}

Result<void> judge_share(const Policy& policy, std::string_view share, StorageOp op) {
  if (!policy.has_storage)
    return fail(Code::policy_denied, "storage is not enabled: its policy has no 'storage: enabled: true'");
  auto rule = std::ranges::find(policy.shares, share, &ShareRule::name);
  if (rule == policy.shares.end())
    return fail(Code::policy_denied, "the share '{}' is not named in its policy", share);
  bool writes = op == StorageOp::upload || op == StorageOp::remove;
  if (writes && !rule->can_write)
    return fail(Code::policy_denied, "the share '{}' is read-only: its policy lacks 'write: true'", share);
  return {};
}

Result<void> judge_host_count(const Policy& policy, std::size_t hosts) {
  if (!policy.max_hosts || std::cmp_less_equal(hosts, *policy.max_hosts)) return {};
  return fail(Code::policy_denied, "the run has {} hosts, and its policy allows {} (limits: max_hosts)",
              hosts, *policy.max_hosts);
}

Result<std::string> judge_host(const Policy& policy, const AutomationHost& host) {
  if (host.connection == "local") {
    auto own = host;
    own.port = 0;
    TRY(judge_address(policy, own, *automation::parse_ip("127.0.0.1")));
    return host.address;
  }
  auto addresses = TRY(automation::resolve_name(host.address));
  if (host.connection == "winrm") {
    for (const auto& address : addresses) TRY(judge_address(policy, host, address));
    return host.address;
  }
  Result<void> first;
  for (const auto& address : addresses) {
    auto judged = judge_address(policy, host, address);
    if (judged) return automation::ip_text(address);
    if (first) first = std::move(judged);
  }
  return Failure(std::move(first).error());
}

}  // namespace dash::agent
