#include "core/agent/remote/configuration_check.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "core/agent/protocol/documents.hpp"

namespace dash::agent {
namespace {

bool is_readable_by_others(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && (info.st_mode & 0004) != 0;
}

void compare_shares(ConfigurationReport& report) {
  for (const auto& rule : report.policy.shares)
    if (!report.shares.find(rule.name))
      report.warnings.push_back(
          fmt::format("the policy names the share '{}', which the shares file lacks", rule.name));
  for (const auto& share : report.shares.shares)
    if (std::ranges::count(report.policy.shares, share.name, &ShareRule::name) == 0)
      report.warnings.push_back(
          fmt::format("the shares file has the share '{}', which the policy does not name", share.name));
}

void compare_job_types(ConfigurationReport& report) {
  const auto& policy = report.policy;
  for (const auto& type : policy.job_types)
    if (type != kStorageJobType && type != kAutomationJobType)
      report.warnings.push_back(
          fmt::format("the policy lists the job type '{}', which this agent does not carry out", type));
  if (policy.has_storage && !policy.has_job_type(kStorageJobType))
    report.warnings.push_back(
        fmt::format("storage is enabled, but 'job_types' does not list {}", kStorageJobType));
  if (policy.job_types.empty()) report.warnings.emplace_back("'job_types' lists nothing: nothing is done");
}

Result<void> check_passwords(const Settings& settings, const std::optional<Identity>& identity,
                             ConfigurationReport& report) {
  bool has_plain = false;
  for (const auto& share : report.shares.shares) {
    if (!share.password.expose().starts_with(kSealedPrefix)) {
      has_plain = has_plain || !share.password.empty();
    } else if (identity) {
      TRY(within(fmt::format("the share '{}'", share.name),
                 open_sealed_password(*identity, share.password.expose())));
    }
  }
  if (has_plain && is_readable_by_others(settings.shares_file))
    report.warnings.push_back(
        fmt::format("{} has passwords and every user of this machine can read it", settings.shares_file));
  return {};
}

}  // namespace

Result<ConfigurationReport> check_configuration(const Settings& settings,
                                                const std::optional<Identity>& identity) {
  ConfigurationReport report;
  report.policy = TRY(load_policy(settings.policy_file));
  report.shares = TRY(load_shares(settings.shares_file));
  report.warnings = report.shares.warnings;
  for (const auto& block : report.policy.unused)
    report.warnings.push_back(fmt::format("the policy's block '{}' is not used by this agent", block));
  for (const auto& name : settings.unused)
    report.warnings.push_back(fmt::format("the variable {} is not used by this agent", name));
  compare_shares(report);
  compare_job_types(report);
  TRY(check_passwords(settings, identity, report));
  return report;
}

OrderedJson to_json(const ConfigurationReport& report, const Settings& settings) {
  auto shares = OrderedJson::array();
  for (const auto& rule : report.policy.shares)
    shares.push_back({{"name", rule.name},
                      {"write", rule.can_write && !settings.is_audit},
                      {"configured", report.shares.find(rule.name) != nullptr}});
  return {{"policy_hash", report.policy.hash},    {"mode", settings.is_audit ? "audit" : "normal"},
          {"job_types", report.policy.job_types}, {"targets", report.policy.targets.size()},
          {"storage", report.policy.has_storage}, {"shares", std::move(shares)},
          {"warnings", report.warnings}};
}

}  // namespace dash::agent
