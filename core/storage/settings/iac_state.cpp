#include "core/storage/settings/iac_state.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/config/registry.hpp"
#include "core/storage/settings/state_copy.hpp"

namespace dash::storage {
namespace {

bool is_file_system(const BackendConfig& config) { return !config.backend->is_object_store; }

// Returns bucket, account, agent and the like as text: the name of the place, whatever its address.
std::string name_of(const BackendConfig& at) {
  std::string text;
  for (auto key : at.backend->required)
    if (!key.empty()) text += std::string(trim(value_of(*at.values, key))) + "\n";
  return text;
}

// Returns the address as far as the settings have it, for a store that cannot be opened.
std::string address_of(const BackendConfig& at) {
  auto prefix = fmt::format("storage_{}_", at.backend->id);
  std::string text;
  for (const auto& [key, value] : *at.values) {
    if (!key.starts_with(prefix) || config::is_secret(key)) continue;
    if (!key.ends_with("_prefix") && !key.ends_with("_ca_file")) text += key + "=" + value + "\n";
  }
  return text;
}

// Returns "3 min", "2 h 5 min" or "4 d 1 h".
std::string age_text(std::chrono::system_clock::duration age) {
  auto minutes = std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::minutes>(age).count());
  auto hours = minutes / 60;
  if (hours == 0) return fmt::format("{} min", minutes);
  if (hours < 24) return fmt::format("{} h {} min", hours, minutes % 60);
  return fmt::format("{} d {} h", hours / 24, hours % 24);
}

// Returns the container or bucket, the last segment of a store's place.
std::string_view last_segment(std::string_view place) { return place.substr(place.rfind('/') + 1); }

// Returns the ids of the jobs for which the SQL `condition` holds. The module jobs writes the table.
Result<std::vector<std::string>> job_ids(db::Transaction& tx, std::string_view condition) {
  std::vector<std::string> ids;
  for (const auto& row : TRY(tx.query(fmt::format("SELECT id FROM jobs WHERE {} ORDER BY id", condition))))
    ids.push_back(row.text(0));
  return ids;
}

}  // namespace

OrderedJson to_json(const std::vector<LeftState>& left) {
  auto list = OrderedJson::array();
  for (const auto& state : left) list.push_back({{"backend", state.backend}, {"key", state.key}});
  return list;
}

std::vector<LeftState> left_states_in(const Json& answer) {
  std::vector<LeftState> out;
  if (!answer.is_object()) return out;
  auto list = answer.find("iac_state_left");
  if (list == answer.end() || !list->is_array()) return out;
  for (const auto& item : *list)
    if (item.is_object())
      out.push_back({string_member(item, "backend").value_or(""), string_member(item, "key").value_or("")});
  return out;
}

Distance IacState::distance(const BackendConfig& from, const BackendConfig& to) const {
  if (!from.backend) return Distance::none;
  if (!to.backend) return Distance::elsewhere;
  if (is_file_system(from) && is_file_system(to)) return Distance::none;
  if (from.backend != to.backend || name_of(from) != name_of(to)) return Distance::elsewhere;
  auto before = place_of(from);
  auto after = place_of(to);
  if (!before || !after)
    return address_of(from) == address_of(to) ? Distance::none : Distance::other_endpoint;
  auto old_place = before->store().place();
  auto new_place = after->store().place();
  if (old_place == new_place) return Distance::none;
  return last_segment(old_place) == last_segment(new_place) ? Distance::other_endpoint : Distance::elsewhere;
}

Result<StatePlace> IacState::place_of(const BackendConfig& at) const {
  return StatePlace::open(open_, at, deps_.deploy_folder);
}

// Returns the states, and what lies beside them. Locks are neither.
Result<std::vector<Object>> IacState::list(const BackendConfig& at) const {
  auto found = TRY(TRY(place_of(at)).list());
  auto objects = std::move(found.others);
  for (auto& state : found.states)
    if (state.exists) objects.push_back(std::move(state.object));
  return objects;
}

// Completed, or left with resources in their state, and not destroyed since.
Result<std::vector<std::string>> IacState::existing_deploys() const {
  return db::read<std::vector<std::string>>(deps_.sql, [](db::Transaction& tx) {
    return job_ids(tx, R"(destroyed_by IS NULL
                          AND (state = 'completed'
                               OR id IN (SELECT job_id FROM deploy_states WHERE resources > 0))
                          AND (action LIKE '%:deploy' OR action LIKE '%:provision'))");
  });
}

Result<std::vector<std::string>> IacState::running_jobs(db::Transaction& tx) const {
  return job_ids(tx, R"(state = 'running'
                        AND (action LIKE '%:deploy' OR action LIKE '%:provision' OR action LIKE '%:destroy'))");
}

Result<StateProbeResult> IacState::look(const BackendConfig& at) const {
  auto place = TRY(place_of(at));
  auto found = TRY(place.list());
  StateProbeResult result;
  bool has_state = !found.others.empty();
  for (const auto& state : found.states) {
    has_state |= state.exists;
    if (auto lock = TRY(lock_on(place, state.job, state.object.key)))
      result.locks.push_back(*std::move(lock));
  }
  if (has_state) result.presence = StatePresence::state;
  return result;
}

Result<StateProbeResult> IacState::probe(const BackendConfig& at) const {
  bool opens = place_of(at).has_value();
  auto found = look(at);
  if (found) return found;
  const auto& error = found.error();
  bool is_absent = !opens || error.code == Code::not_found;
  if (is_absent && TRY(existing_deploys()).empty()) {
    log::warning("storage.state_unknown", {{"backend", at.backend->id}, {"error", error.message}});
    return StateProbeResult{};
  }
  return StateProbeResult{StatePresence::unknown, error.message, {}};
}

Result<bool> IacState::contains_all(const BackendConfig& from, const BackendConfig& to) const {
  auto old_objects = list(from);
  std::vector<std::string> wanted;
  if (old_objects) {
    for (const auto& object : *old_objects) wanted.push_back(object.key);
  } else {
    for (const auto& job : TRY(existing_deploys())) wanted.push_back("/" + job + "/");
  }
  if (wanted.empty()) return true;
  auto new_objects = list(to);
  if (!new_objects) return false;
  return std::ranges::all_of(wanted, [&](const std::string& part) {
    return std::ranges::any_of(
        *new_objects, [&](const Object& object) { return object.key.find(part) != std::string::npos; });
  });
}

Result<std::optional<HeldLock>> IacState::lock_on(const StatePlace& place, const std::string& job,
                                                  const std::string& key) const {
  auto lock = TRY(place.find_lock(key));
  if (!lock) return std::nullopt;
  HeldLock held{job, *std::move(lock), ""};
  if (held.lock.since) held.age = age_text(deps_.clock.now() - *held.lock.since);
  return held;
}

Result<TargetCheck> IacState::check_target(const BackendConfig& from, const BackendConfig& to) const {
  auto source = TRY(place_of(from));
  auto target = TRY(place_of(to));
  TargetCheck check;
  for (auto& copy : TRY(plan_state_copy(source, target))) {
    if (copy.job.empty()) continue;
    if (auto lock = TRY(lock_on(target, copy.job, copy.key))) check.locks.push_back(*std::move(lock));
    if (!copy.conflict.empty())
      check.conflicts.push_back({copy.job, target.shown_key(copy.key), copy.conflict});
  }
  return check;
}

Result<StateCopyResult> IacState::copy_checked(const BackendConfig& from, const BackendConfig& to,
                                               const std::vector<std::string>& overwrite) const {
  auto source = TRY(place_of(from));
  auto target = TRY(place_of(to));
  auto plan = TRY(plan_state_copy(source, target));
  for (const auto& copy : plan)
    if (!copy.conflict.empty() && std::ranges::count(overwrite, copy.job) == 0)
      return fail(Code::conflict, "the state of the job '{}' appeared at the target meanwhile; send it again",
                  copy.job);
  TRY(run_state_copy(plan, source, target, deps_.buffers));
  if (auto held = TRY(look(from)).locks; !held.empty())
    return fail(Code::conflict, "the state of the job '{}' was locked while it was copied; send it again",
                held[0].job);
  StateCopyResult result{static_cast<std::int64_t>(plan.size()), {}};
  auto backend = backend_in_style(name_style_of(*from.values), from.backend->id);
  for (const auto& copy : plan) result.left.push_back({backend, source.shown_key(copy.source.key)});
  return result;
}

Result<StateCopyResult> IacState::copy(const BackendConfig& from, const BackendConfig& to,
                                       const std::vector<std::string>& overwrite) const {
  auto copied = copy_checked(from, to, overwrite);
  if (copied) return copied;
  auto code = copied.error().code == Code::conflict ? Code::conflict : Code::upstream;
  return fail(code, "copying the infrastructure state to '{}' failed, so '{}' stays active: {}",
              to.backend->id, from.backend->id, copied.error().message);
}

}  // namespace dash::storage
