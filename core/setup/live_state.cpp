#include "core/setup/live_state.hpp"

#include "core/base/redact.hpp"
#include "core/config/regions.hpp"
#include "core/config/registry.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::setup {
namespace {

const std::string kActive = "storage_active_backend";

const std::vector<std::string>& watched() {
  static const std::vector<std::string> keys{"storage_*", "automation_runner", "cloud1_*",
                                             "cloud2_*",  "cloud3_*",          "cloud4_*"};
  return keys;
}

storage::BackendConfig backend_config_of(const config::Values& values) {
  return {storage::active_backend(values), &values};
}

std::string unreachable_text(const std::string& backend, const std::string& why) {
  return fmt::format(
      "'{}' cannot be read, so it is unknown whether it holds the infrastructure state of deployments ({}). "
      "Make it reachable and send this again, or give the state up with abandon_iac_state=true.",
      backend, without_userinfo(why));
}

std::string holds_state_text(const std::string& backend) {
  return fmt::format(
      "Deployments have infrastructure state on '{}'. Send migrate_iac_state=true (a Python dashboard's "
      "client: "
      "migrate_terraform_state=true) to copy it to the new backend and switch.",
      backend);
}

}  // namespace

std::string state_query(const StateOptions& options) {
  std::string query;
  if (options.migrate) query += "?migrate_iac_state=true";
  if (options.abandon) query += fmt::format("{}abandon_iac_state=true", query.empty() ? '?' : '&');
  return query;
}

bool LiveState::decides(std::string_view key) {
  if (config::cloud_of_region_blob(key)) return false;
  for (const auto& pattern : watched())
    if (matches(pattern, key)) return true;
  return false;
}

// Returns the choice alone where it makes the difference, else every setting that determines the backend's
// place.
std::vector<std::string> LiveState::responsible_keys(const RuleInput& input) const {
  auto from = backend_config_of(input.before);
  if (input.changes_key(kActive)) {
    auto rest = input.changes;
    rest.erase(kActive);
    auto after = with_changes(input.before, rest);
    if (state_.distance(from, backend_config_of(after)) == storage::Distance::none) return {kActive};
  }
  std::vector<std::string> keys;
  for (const auto& [key, value] : input.changes)
    if (decides(key) && input.changes_key(key) && !config::is_secret(key)) keys.push_back(key);
  return keys;
}

StateAssessment LiveState::refuse(const RuleInput& input, Code code, std::string message) const {
  return {{}, Refusal{responsible_keys(input), "live_state", fail(code, "{}", message).value()}};
}

Result<bool> LiveState::moves_away(const storage::BackendConfig& from,
                                   const storage::BackendConfig& to) const {
  auto distance = state_.distance(from, to);
  if (distance != storage::Distance::other_endpoint) return distance == storage::Distance::elsewhere;
  return !TRY(state_.contains_all(from, to));
}

Result<StateAssessment> LiveState::assess(const RuleInput& input, const StateOptions& options,
                                          const std::string& running_job) const {
  if (!concerns(watched(), input)) return StateAssessment{};
  auto from = backend_config_of(input.before);
  auto to = backend_config_of(input.after);
  if (!TRY(moves_away(from, to))) return StateAssessment{};
  auto backend = storage::backend_in_style(input.name_style(), from.backend->id);
  if (!running_job.empty())
    return refuse(input, Code::conflict,
                  fmt::format("The job {} runs and keeps its infrastructure state on '{}'. Wait until it "
                              "ends, then send this again.",
                              running_job, backend));
  auto held = TRY(state_.probe(from));
  bool is_unknown = held.presence == storage::StatePresence::unknown;
  if (held.presence == storage::StatePresence::nothing) return StateAssessment{{.leaves = true}, {}};
  if (is_unknown && options.abandon) return StateAssessment{{.leaves = true, .abandons = true}, {}};
  if (options.migrate && to.backend) return StateAssessment{{.leaves = true, .copies = true}, {}};
  if (options.migrate)
    return refuse(
        input, Code::invalid,
        fmt::format("'{}' holds infrastructure state, and no other backend is configured", backend));
  return refuse(input, Code::conflict,
                is_unknown ? unreachable_text(backend, held.why) : holds_state_text(backend));
}

Result<std::int64_t> LiveState::copy(const RuleInput& input) const {
  return state_.copy(backend_config_of(input.before), backend_config_of(input.after));
}

}  // namespace dash::setup
