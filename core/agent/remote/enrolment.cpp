#include "core/agent/remote/enrolment.hpp"

#include <filesystem>

#include "core/agent/remote/policy.hpp"

namespace dash::agent {
namespace {

// A policy may be written after the enrolment, unless it was named. One that is there must be good.
Result<std::string> policy_hash(const std::string& file) {
  std::error_code ec;
  if (file == Settings().policy_file && !std::filesystem::exists(file, ec)) return std::string();
  return TRY(load_policy(file)).hash;
}

}  // namespace

Result<Identity> enrol_here(net::HttpClient& http, const Settings& settings, const Secret& code) {
  if (settings.url.empty())
    return fail(Code::usage, "name the dashboard's address with --url or DASHBOARD_URL");
  TRY(probe_state_folder(settings.state_folder));
  auto existing = load_identity(settings.state_folder);
  if (existing)
    return fail(Code::conflict,
                "{} is enrolled already, as the agent {}; remove identity.json there to enrol anew",
                settings.state_folder, existing->agent_id);
  if (existing.error().code != Code::not_found) return Failure(existing.error());
  auto hash = TRY(policy_hash(settings.policy_file));
  // A later run may begin in another folder.
  auto ca_bundle = settings.ca_bundle.empty() ? "" : std::filesystem::absolute(settings.ca_bundle).string();
  auto identity = TRY(enrol(http, {settings.url, {ca_bundle}}, code, hash));
  TRY(within("this agent is enrolled, and its key is lost: revoke it and enrol anew",
             save_identity(settings.state_folder, identity)));
  return identity;
}

Result<Identity> identity_or_enrol(net::HttpClient& http, const Settings& settings) {
  auto identity = load_identity(settings.state_folder);
  if (identity || identity.error().code != Code::not_found) return identity;
  auto code = TRY(load_code(settings));
  if (code) return enrol_here(http, settings, *code);
  return fail(
      Code::usage,
      "{} has no identity: enrol with dashctl agent enroll, or give a code (AGENT_ENROLLMENT_CODE_FILE)",
      settings.state_folder);
}

Result<DashboardAddress> address_of(const Identity& identity, const Settings& settings) {
  auto url = settings.url.empty() ? identity.url : settings.url;
  if (url.empty())
    return fail(Code::usage, "this identity does not name its dashboard's address: set DASHBOARD_URL");
  auto ca_bundle = settings.ca_bundle.empty() ? identity.ca_bundle : settings.ca_bundle;
  return DashboardAddress{TRY(check_dashboard_url(url)), {ca_bundle}};
}

}  // namespace dash::agent
