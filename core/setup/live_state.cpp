#include "core/setup/live_state.hpp"

#include <algorithm>

#include "core/base/redact.hpp"
#include "core/config/regions.hpp"
#include "core/config/registry.hpp"
#include "core/net/http/http_client.hpp"
#include "core/setup/storage_rules.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::setup {
namespace {

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
      "client: migrate_terraform_state=true) to copy it to the new backend and switch.",
      backend);
}

std::string jobs_text(const std::vector<std::string>& jobs, const std::string& backend) {
  if (jobs.size() == 1)
    return fmt::format(
        "The job {} runs and keeps its infrastructure state on '{}'. Wait until it ends, then send this "
        "again.",
        jobs[0], backend);
  return fmt::format(
      "The jobs {} run and keep their infrastructure state on '{}'. Wait until they end, then send this "
      "again.",
      fmt::join(jobs, ", "), backend);
}

std::string lock_text(const storage::HeldLock& held) {
  const auto& lock = held.lock;
  auto text = lock.who.empty() ? std::string("somebody who left no name") : lock.who;
  if (!lock.operation.empty()) text += fmt::format(" ({})", lock.operation);
  if (!lock.created_at.empty()) text += " since " + lock.created_at;
  if (!held.age.empty()) text += fmt::format(", for {}", held.age);
  return text;
}

std::string locks_text(const std::vector<storage::HeldLock>& locks, const std::string& backend) {
  std::vector<std::string> held;
  for (const auto& lock : locks)
    held.push_back(
        fmt::format("the state of the job {} by {}, lock id '{}'", lock.job, lock_text(lock), lock.lock.id));
  return fmt::format(
      "On '{}' a lock is held on {}. Wait until it is released, or end it with `dashctl storage state "
      "unlock` when its holder is gone, then send this again.",
      backend, fmt::join(held, "; on "));
}

std::string conflicts_text(const std::vector<storage::StateConflict>& conflicts, const std::string& backend) {
  std::vector<std::string> found;
  for (const auto& conflict : conflicts)
    found.push_back(fmt::format("that of the job {} ('{}'): {}", conflict.job, conflict.key, conflict.why));
  return fmt::format(
      "'{}' has other infrastructure state already, which a copy would destroy: {}. Look at both. To replace "
      "the one there, name the job in overwrite_iac_state (--overwrite-state JOB).",
      backend, fmt::join(found, "; "));
}

}  // namespace

std::string state_query(const StateOptions& options) {
  std::string query;
  if (options.migrate) query += "?migrate_iac_state=true";
  if (options.abandon) query += fmt::format("{}abandon_iac_state=true", query.empty() ? '?' : '&');
  for (const auto& job : options.overwrite)
    query += fmt::format("{}overwrite_iac_state={}", query.empty() ? '?' : '&', net::percent_encode(job));
  return query;
}

bool LiveState::decides(std::string_view key) {
  if (config::cloud_of_region_blob(key)) return false;
  for (const auto& pattern : watched())
    if (matches(pattern, key)) return true;
  return false;
}

config::Values LiveState::deciding(const config::Values& before, const config::Changes& changes) {
  config::Values out;
  for (const auto* entry : matching(watched(), before))
    if (decides(entry->first)) out.insert(*entry);
  config::Changes deciding_changes;
  for (const auto* entry : matching(watched(), changes))
    if (decides(entry->first)) deciding_changes.insert(*entry);
  return with_changes(std::move(out), deciding_changes);
}

// Returns the choice alone where it makes the difference, else every setting that determines the backend's
// place.
std::vector<std::string> LiveState::responsible_keys(const RuleInput& input) const {
  auto from = backend_config_of(input.before);
  if (input.changes_key(kActiveBackendKey)) {
    auto rest = input.changes;
    rest.erase(kActiveBackendKey);
    auto after = with_changes(input.before, rest);
    if (state_.distance(from, backend_config_of(after)) == storage::Distance::none)
      return {kActiveBackendKey};
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

Result<std::optional<StateAssessment>> LiveState::find_obstacle(const RuleInput& input,
                                                                const StateOptions& options) const {
  auto from = backend_config_of(input.before);
  auto to = backend_config_of(input.after);
  auto target = storage::backend_in_style(input.name_style(), to.backend->id);
  auto check = state_.check_target(from, to);
  if (!check) {
    const auto& error = check.error();
    if (error.code == Code::conflict) return refuse(input, Code::conflict, error.message);
    // Without the confirmation nothing is copied yet, and the target may answer when it comes.
    if (!options.migrate) return std::nullopt;
    return refuse(input, Code::upstream,
                  fmt::format("'{}' cannot take the infrastructure state: {}", target,
                              without_userinfo(error.message)));
  }
  if (!check->locks.empty()) return refuse(input, Code::conflict, locks_text(check->locks, target));
  std::erase_if(check->conflicts, [&](const storage::StateConflict& conflict) {
    return std::ranges::count(options.overwrite, conflict.job) > 0;
  });
  if (check->conflicts.empty()) return std::nullopt;
  return refuse(input, Code::conflict, conflicts_text(check->conflicts, target));
}

Result<StateAssessment> LiveState::assess(const RuleInput& input, const StateOptions& options,
                                          const BeginSwitch& begin_switch) const {
  if (!concerns(watched(), input)) return StateAssessment{};
  auto from = backend_config_of(input.before);
  auto to = backend_config_of(input.after);
  if (!TRY(moves_away(from, to))) return StateAssessment{};
  auto backend = storage::backend_in_style(input.name_style(), from.backend->id);
  if (auto jobs = TRY(begin_switch()); !jobs.empty())
    return refuse(input, Code::conflict, jobs_text(jobs, backend));
  auto held = TRY(state_.probe(from));
  bool is_unknown = held.presence == storage::StatePresence::unknown;
  if (is_unknown && options.abandon) return StateAssessment{{.leaves = true, .abandons = true}, {}};
  if (is_unknown)
    return refuse(input, options.migrate ? Code::upstream : Code::conflict,
                  unreachable_text(backend, held.why));
  if (!held.locks.empty()) return refuse(input, Code::conflict, locks_text(held.locks, backend));
  if (held.presence == storage::StatePresence::nothing) return StateAssessment{{.leaves = true}, {}};
  if (!to.backend)
    return refuse(
        input, options.migrate ? Code::invalid : Code::conflict,
        fmt::format("'{}' holds infrastructure state, and no other backend is configured. Configure the one "
                    "that takes it first.",
                    backend));
  if (auto obstacle = TRY(find_obstacle(input, options))) return *std::move(obstacle);
  if (options.migrate) return StateAssessment{{.leaves = true, .copies = true}, {}};
  return refuse(input, Code::conflict, holds_state_text(backend));
}

Result<storage::StateCopyResult> LiveState::copy(const RuleInput& input, const StateOptions& options) const {
  return state_.copy(backend_config_of(input.before), backend_config_of(input.after), options.overwrite);
}

}  // namespace dash::setup
