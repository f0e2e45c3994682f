#include "core/storage/settings/iac_state.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/config/registry.hpp"
#include "core/storage/store/copy.hpp"

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

// Returns the container or bucket, the last segment of a store's place.
std::string_view last_segment(std::string_view place) { return place.substr(place.rfind('/') + 1); }

}  // namespace

Result<std::shared_ptr<ObjectStore>> IacState::store_of(const BackendConfig& at) const {
  if (!is_file_system(at)) return open_(*at.backend, *at.values);
  return open_(deploy_folder_backend(), {{"storage_local_path", deps_.deploy_folder}});
}

Distance IacState::distance(const BackendConfig& from, const BackendConfig& to) const {
  if (!from.backend) return Distance::none;
  if (!to.backend) return Distance::elsewhere;
  if (is_file_system(from) && is_file_system(to)) return Distance::none;
  if (from.backend != to.backend || name_of(from) != name_of(to)) return Distance::elsewhere;
  auto before = store_of(from);
  auto after = store_of(to);
  if (!before || !after)
    return address_of(from) == address_of(to) ? Distance::none : Distance::other_endpoint;
  if ((*before)->place() == (*after)->place()) return Distance::none;
  return last_segment((*before)->place()) == last_segment((*after)->place()) ? Distance::other_endpoint
                                                                             : Distance::elsewhere;
}

Result<StatePlace> IacState::place_of(const BackendConfig& at) const {
  return StatePlace::open(open_, at, deps_.deploy_folder);
}

// Returns the states, and what lies beside them. Locks are neither.
Result<std::vector<Object>> IacState::list(const BackendConfig& at) const {
  auto found = TRY(TRY(place_of(at)).list());
  auto objects = std::move(found.others);
  for (auto& state : found.states)
    if (!state.object.etag.empty()) objects.push_back(std::move(state.object));
  return objects;
}

// Completed and not destroyed since. The module jobs writes the table.
Result<std::vector<std::string>> IacState::existing_deploys() const {
  using Ids = std::vector<std::string>;
  return db::read<Ids>(deps_.sql, [](db::Transaction& tx) -> Result<Ids> {
    Ids ids;
    for (const auto& row : TRY(tx.query(R"(SELECT id FROM jobs
                                           WHERE state = 'completed' AND destroyed_by IS NULL
                                             AND (action LIKE '%:deploy' OR action LIKE '%:provision')
                                           ORDER BY id)",
                                        {})))
      ids.push_back(row.text(0));
    return ids;
  });
}

Result<std::string> IacState::running_job(db::Transaction& tx) const {
  auto rows = TRY(tx.query(R"(SELECT id FROM jobs
                              WHERE state = 'running'
                                AND (action LIKE '%:deploy' OR action LIKE '%:provision'
                                     OR action LIKE '%:destroy')
                              ORDER BY id LIMIT 1)",
                           {}));
  return rows.empty() ? std::string() : rows[0].text(0);
}

Result<StateProbeResult> IacState::probe(const BackendConfig& at) const {
  auto place = place_of(at);
  auto found = place ? list(at) : Result<std::vector<Object>>(Failure(place.error()));
  if (found) return StateProbeResult{found->empty() ? StatePresence::nothing : StatePresence::state, ""};
  const auto& error = found.error();
  bool is_absent = !place || error.code == Code::not_found;
  if (is_absent && TRY(existing_deploys()).empty()) {
    log::warning("storage.state_unknown", {{"backend", at.backend->id}, {"error", error.message}});
    return StateProbeResult{};
  }
  return StateProbeResult{StatePresence::unknown, error.message};
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

Result<std::int64_t> IacState::copy(const BackendConfig& from, const BackendConfig& to) const {
  auto run = [&]() -> Result<std::int64_t> {
    auto source = TRY(place_of(from));
    auto target = TRY(place_of(to));
    auto objects = TRY(list(from));
    for (const auto& object : objects) {
      auto head = TRY(source.store().head(object.key));
      TRY(copy_object({source.store(), std::move(head), ""}, target.store(),
                      target.translated_key(object.key), {}, deps_.buffers));
    }
    return static_cast<std::int64_t>(objects.size());
  };
  auto copied = run();
  if (!copied)
    return fail(Code::upstream, "copying the infrastructure state to '{}' failed, so '{}' stays active: {}",
                to.backend->id, from.backend->id, copied.error().message);
  return copied;
}

}  // namespace dash::storage
