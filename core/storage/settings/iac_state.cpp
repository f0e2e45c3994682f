#include "core/storage/settings/iac_state.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/log.hpp"
#include "core/base/text.hpp"
#include "core/config/registry.hpp"
#include "core/storage/store/copy.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kPrefix = "iac-state/";
constexpr std::string_view kPeerPrefix = "terraform-state/";
constexpr std::string_view kStateFile = "terraform.tfstate";
constexpr std::string_view kCloud3StateFile = "default.tfstate";
constexpr std::string_view kLockSuffix = ".tflock";

bool is_file_system(const BackendConfig& config) { return !config.backend->is_object_store; }

std::string_view leaf_of(std::string_view key) { return key.substr(key.rfind('/') + 1); }

bool is_state_file(std::string_view leaf) { return leaf == kStateFile || leaf == kCloud3StateFile; }

// The deploy folder also holds executables and work folders; only "<job>/<leaf>" is state there.
bool is_state(const BackendConfig& at, std::string_view key) {
  if (key.ends_with('/') || leaf_of(key).ends_with(kLockSuffix)) return false;
  return !is_file_system(at) || (is_state_file(leaf_of(key)) && std::ranges::count(key, '/') == 1);
}

std::string_view written_prefix(const BackendConfig& at) {
  return name_style_of(*at.values) == config::NameStyle::provider ? kPeerPrefix : kPrefix;
}

// Returns "iac-state/<job>/terraform.tfstate" of one place as the key of another.
std::string translated_key(const BackendConfig& to, std::string_view key) {
  auto prefix = std::string(written_prefix(to));
  for (auto known : {kPrefix, kPeerPrefix})
    if (key.starts_with(known)) {
      prefix = known;
      key.remove_prefix(known.size());
    }
  auto leaf = leaf_of(key);
  auto path = std::string(key.substr(0, key.size() - leaf.size()));
  if (is_state_file(leaf)) leaf = to.backend->id == "obj_cloud3" ? kCloud3StateFile : kStateFile;
  return (is_file_system(to) ? "" : prefix) + path + std::string(leaf);
}

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

Result<std::vector<Object>> IacState::list(ObjectStore& store, const BackendConfig& at) const {
  std::vector<std::string_view> prefixes{kPrefix, kPeerPrefix};
  if (is_file_system(at)) {
    // The first deploy makes it.
    if (!std::filesystem::exists(deps_.deploy_folder)) return std::vector<Object>{};
    prefixes = {""};
  }
  std::vector<Object> found;
  for (auto prefix : prefixes) {
    std::string cursor;
    do {
      auto page = TRY(store.list(prefix, cursor));
      for (auto& object : page.objects)
        if (is_state(at, object.key)) found.push_back(std::move(object));
      cursor = std::move(page.cursor);
    } while (!cursor.empty());
  }
  return found;
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
  auto store = store_of(at);
  auto found = store ? list(**store, at) : Result<std::vector<Object>>(Failure(store.error()));
  if (found) return StateProbeResult{found->empty() ? StatePresence::nothing : StatePresence::state, ""};
  const auto& error = found.error();
  bool is_absent = !store || error.code == Code::not_found;
  if (is_absent && TRY(existing_deploys()).empty()) {
    log::warning("storage.state_unknown", {{"backend", at.backend->id}, {"error", error.message}});
    return StateProbeResult{};
  }
  return StateProbeResult{StatePresence::unknown, error.message};
}

Result<bool> IacState::contains_all(const BackendConfig& from, const BackendConfig& to) const {
  auto old_store = store_of(from);
  auto new_store = store_of(to);
  auto old_objects =
      old_store ? list(**old_store, from) : Result<std::vector<Object>>(Failure(old_store.error()));
  std::vector<std::string> wanted;
  if (old_objects) {
    for (const auto& object : *old_objects) wanted.push_back(object.key);
  } else {
    for (const auto& job : TRY(existing_deploys())) wanted.push_back("/" + job + "/");
  }
  if (wanted.empty()) return true;
  auto new_objects =
      new_store ? list(**new_store, to) : Result<std::vector<Object>>(Failure(new_store.error()));
  if (!new_objects) return false;
  return std::ranges::all_of(wanted, [&](const std::string& part) {
    return std::ranges::any_of(
        *new_objects, [&](const Object& object) { return object.key.find(part) != std::string::npos; });
  });
}

Result<std::int64_t> IacState::copy(const BackendConfig& from, const BackendConfig& to) const {
  auto run = [&]() -> Result<std::int64_t> {
    auto source = TRY(store_of(from));
    auto target = TRY(store_of(to));
    auto objects = TRY(list(*source, from));
    for (const auto& object : objects) {
      auto head = TRY(source->head(object.key));
      TRY(copy_object({*source, std::move(head), ""}, *target, translated_key(to, object.key), {},
                      deps_.buffers));
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
