#include "core/agent/protocol/automation_job.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "core/agent/protocol/documents.hpp"
#include "core/base/fields.hpp"
#include "core/base/utf8.hpp"

namespace dash::agent {
namespace {

constexpr std::array<std::string_view, 12> kJobMembers{
    "asset", "type",  "project",      "asset_bytes",     "asset_digest", "check",
    "forks", "hosts", "max_failures", "timeout_seconds", "extra_vars",   "has_secret_vars"};
constexpr std::array<std::string_view, 9> kHostMembers{
    "name", "address", "port", "user", "connection", "host_key", "variables", "groups", "has_secret"};
constexpr std::array<std::string_view, 5> kAssetTypes{"playbook", "script", "powershell", "rpm", "deb"};
constexpr std::array<std::string_view, 3> kConnections{"ssh", "winrm", "local"};
constexpr std::array<std::string_view, 6> kOutcomes{"", "ok", "changed", "skipped", "failed", "unreachable"};
constexpr std::size_t kMaxHosts = 10'000, kDigestChars = 67;
constexpr std::int64_t kMaxPort = 65535, kMaxRunForks = 1000;

Result<void> check_job_members(const Json& object, std::span<const std::string_view> known) {
  TRY(require_object(object));
  for (const auto& [name, value] : object.items())
    if (std::ranges::count(known, name) == 0)
      return fail(Code::invalid, "an automation job has no member '{}'", escape_controls(name, ""));
  return {};
}

Result<std::string> job_text(const Json& object, std::string_view name) {
  auto text = TRY(text_field(object, name));
  if (!text || text->empty()) return fail(Code::invalid, "the automation job has no '{}'", name);
  return *std::move(text);
}

Result<std::string> one_of(const Json& object, std::string_view name,
                           std::span<const std::string_view> words) {
  auto text = TRY(job_text(object, name));
  if (std::ranges::count(words, text) == 0)
    return fail(Code::invalid, "'{}' of an automation job cannot be '{}'", name, escape_controls(text, ""));
  return text;
}

Result<std::int64_t> number_between(const Json& object, std::string_view name, std::int64_t low,
                                    std::int64_t high, std::optional<std::int64_t> otherwise = {}) {
  auto value = TRY(integer_field(object, name));
  if (!value) value = otherwise;
  if (!value || *value < low || *value > high)
    return fail(Code::invalid, "'{}' of an automation job is a number from {} to {}", name, low, high);
  return *value;
}

Result<Json> variables_member(const Json& object, const char* name) {
  auto it = object.find(name);
  if (it == object.end() || it->is_null()) return Json::object();
  if (!it->is_object()) return fail(Code::invalid, "'{}' of an automation job is an object", name);
  return *it;
}

Json host_to_json(const AutomationHost& host) {
  return {{"name", host.name},           {"address", host.address},       {"port", host.port},
          {"user", host.user},           {"connection", host.connection}, {"host_key", host.host_key},
          {"variables", host.variables}, {"groups", host.groups},         {"has_secret", host.has_secret}};
}

Result<std::vector<std::string>> read_groups(const Json& entry) {
  auto it = entry.find("groups");
  if (it == entry.end() || it->is_null()) return std::vector<std::string>();
  if (!it->is_array() || !std::ranges::all_of(*it, [](const Json& group) { return group.is_string(); }))
    return fail(Code::invalid, "'groups' of a host is a list of texts");
  return it->get<std::vector<std::string>>();
}

Result<AutomationHost> read_automation_host(const Json& entry) {
  TRY(check_job_members(entry, kHostMembers));
  AutomationHost host;
  host.name = TRY(job_text(entry, "name"));
  host.address = TRY(job_text(entry, "address"));
  host.connection = TRY(one_of(entry, "connection", kConnections));
  host.port =
      static_cast<int>(TRY(number_between(entry, "port", host.connection == "local" ? 0 : 1, kMaxPort)));
  host.user = TRY(text_field(entry, "user")).value_or("");
  host.host_key = TRY(text_field(entry, "host_key")).value_or("");
  host.variables = TRY(variables_member(entry, "variables"));
  host.groups = TRY(read_groups(entry));
  host.has_secret = TRY(flag_field(entry, "has_secret")).value_or(false);
  return host;
}

Result<std::vector<AutomationHost>> read_job_hosts(const Json& payload) {
  auto it = payload.find("hosts");
  if (it == payload.end() || !it->is_array() || it->empty() || it->size() > kMaxHosts)
    return fail(Code::invalid, "'hosts' of an automation job is a list of 1 to {} hosts", kMaxHosts);
  std::vector<AutomationHost> hosts;
  std::set<std::string> names;
  for (const auto& entry : *it) {
    hosts.push_back(TRY(read_automation_host(entry)));
    if (!names.insert(hosts.back().name).second)
      return fail(Code::invalid, "the host '{}' occurs twice in the automation job",
                  escape_controls(hosts.back().name, ""));
  }
  return hosts;
}

Result<std::string> read_digest(const Json& payload) {
  auto digest = TRY(job_text(payload, "asset_digest"));
  auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (digest.size() != kDigestChars || !digest.starts_with("p8:") ||
      !std::ranges::all_of(std::string_view(digest).substr(3), is_hex))
    return fail(Code::invalid, "'asset_digest' of an automation job is 'p8:' and 64 hex digits");
  return digest;
}

OrderedJson number_or_null(const std::optional<int>& number) {
  return number ? OrderedJson(*number) : OrderedJson(nullptr);
}

std::string bounded_text(std::string_view text) {
  return escape_controls(trim_partial_character(text.substr(0, kMaxMessageChars)), "\t");
}

Result<std::optional<int>> small_number(const Json& result, std::string_view name) {
  auto value = TRY(integer_field(result, name));
  if (!value) return std::nullopt;
  return static_cast<int>(std::clamp<std::int64_t>(*value, -1, kMaxPort));
}

Result<AutomationHostResult> read_host_result(const Json& entry) {
  TRY(require_object(entry));
  AutomationHostResult host;
  host.name = bounded_text(TRY(text_field(entry, "name")).value_or(""));
  host.outcome = TRY(text_field(entry, "outcome")).value_or("");
  if (std::ranges::count(kOutcomes, host.outcome) == 0)
    return fail(Code::invalid, "'{}' is no outcome of a host", bounded_text(host.outcome));
  host.error = bounded_text(TRY(text_field(entry, "error")).value_or(""));
  return host;
}

}  // namespace

Json to_json(const AutomationJob& job) {
  Json payload{{"asset", job.asset},
               {"type", job.type},
               {"asset_bytes", job.asset_bytes},
               {"asset_digest", job.asset_digest},
               {"check", job.is_check},
               {"forks", job.forks},
               {"timeout_seconds", job.timeout_seconds},
               {"extra_vars", job.extra_vars},
               {"has_secret_vars", job.has_secret_vars},
               {"hosts", Json::array()}};
  if (job.project) payload["project"] = *job.project;
  if (job.max_failures) payload["max_failures"] = *job.max_failures;
  for (const auto& host : job.hosts) payload["hosts"].push_back(host_to_json(host));
  return payload;
}

Result<AutomationJob> read_automation_job(const Json& payload) {
  TRY(check_job_members(payload, kJobMembers));
  AutomationJob job;
  job.asset = TRY(job_text(payload, "asset"));
  if (job.asset.find('/') != std::string::npos || job.asset.starts_with('.'))
    return fail(Code::invalid, "'asset' of an automation job is a bare file name");
  job.type = TRY(one_of(payload, "type", kAssetTypes));
  job.project = TRY(text_field(payload, "project"));
  job.asset_bytes = static_cast<std::uint64_t>(
      TRY(number_between(payload, "asset_bytes", 0, std::numeric_limits<std::int64_t>::max())));
  job.asset_digest = TRY(read_digest(payload));
  job.is_check = TRY(flag_field(payload, "check")).value_or(false);
  job.forks = TRY(number_between(payload, "forks", 1, kMaxRunForks, job.forks));
  if (payload.contains("max_failures"))
    job.max_failures = TRY(number_between(payload, "max_failures", 0, kMaxHosts));
  job.timeout_seconds =
      TRY(number_between(payload, "timeout_seconds", 1, kMaxAutomationSeconds, job.timeout_seconds));
  job.extra_vars = TRY(variables_member(payload, "extra_vars"));
  job.has_secret_vars = TRY(flag_field(payload, "has_secret_vars")).value_or(false);
  job.hosts = TRY(read_job_hosts(payload));
  return job;
}

Json to_json(const AutomationResult& result) {
  Json hosts = Json::array();
  for (const auto& host : result.hosts)
    hosts.push_back({{"name", host.name}, {"outcome", host.outcome}, {"error", host.error}});
  return {{"hosts", std::move(hosts)},
          {"exit_status", number_or_null(result.exit_status)},
          {"signal", number_or_null(result.signal)},
          {"reason", result.reason},
          {"audit_mode", false}};
}

Result<AutomationResult> read_automation_result(const Json& result) {
  TRY(require_object(result));
  AutomationResult out;
  auto hosts = result.find("hosts");
  if (hosts != result.end() && hosts->is_array())
    for (const auto& entry : *hosts) out.hosts.push_back(TRY(read_host_result(entry)));
  out.exit_status = TRY(small_number(result, "exit_status"));
  out.signal = TRY(small_number(result, "signal"));
  out.reason = bounded_text(TRY(text_field(result, "reason")).value_or(""));
  return out;
}

}  // namespace dash::agent
