#include "core/storage/iac_state.hpp"

#include <algorithm>
#include <filesystem>

#include "core/base/log.hpp"
#include "core/storage/copy.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kPrefix = "iac-state/";
constexpr std::string_view kPeerPrefix = "terraform-state/";
constexpr std::string_view kLeaf = "terraform.tfstate";
constexpr std::string_view kCloud3Leaf = "default.tfstate";
constexpr std::string_view kLockEnding = ".tflock";

bool is_file_system(const Seat& seat) { return !seat.backend->is_object_store; }

// Of the first of them as of the one in the settings: what a file system's state needs is the folder alone.
const Backend& file_system() { return **find_backend("local"); }

std::string_view leaf_of(std::string_view key) { return key.substr(key.rfind('/') + 1); }

bool is_known_leaf(std::string_view leaf) { return leaf == kLeaf || leaf == kCloud3Leaf; }

// The deploy folder also holds executables and work folders; only "<job>/<leaf>" is state there.
bool is_state(const Seat& at, std::string_view key) {
  if (key.ends_with('/') || leaf_of(key).ends_with(kLockEnding)) return false;
  return !is_file_system(at) || (is_known_leaf(leaf_of(key)) && std::ranges::count(key, '/') == 1);
}

std::string_view written_prefix(const Seat& at) {
  return spelling_of(*at.values) == config::Spelling::provider ? kPeerPrefix : kPrefix;
}

// "iac-state/<job>/terraform.tfstate" at one place as the key of another.
std::string key_at(const Seat& to, std::string_view key) {
  auto prefix = std::string(written_prefix(to));
  for (auto known : {kPrefix, kPeerPrefix})
    if (key.starts_with(known)) {
      prefix = known;
      key.remove_prefix(known.size());
    }
  auto leaf = leaf_of(key);
  auto path = std::string(key.substr(0, key.size() - leaf.size()));
  if (is_known_leaf(leaf)) leaf = to.backend->id == "obj_cloud3" ? kCloud3Leaf : kLeaf;
  return (is_file_system(to) ? "" : prefix) + path + std::string(leaf);
}

// Bucket and the like as text, for a store that cannot be opened.
std::string settings_of(const Seat& at) {
  std::string text;
  for (auto key : at.backend->required)
    if (!key.empty()) text += value_of(*at.values, key) + "\n";
  return text;
}

}  // namespace

Result<std::shared_ptr<ObjectStore>> IacState::store_of(const Seat& at) const {
  if (!is_file_system(at)) return open_(*at.backend, *at.values);
  return open_(file_system(), {{"storage_local_path", seams_.deploy_folder}});
}

bool IacState::is_elsewhere(const Seat& from, const Seat& to) const {
  if (!from.backend) return false;
  if (!to.backend) return true;
  if (is_file_system(from) && is_file_system(to)) return false;
  if (from.backend != to.backend) return true;
  auto before = store_of(from);
  auto after = store_of(to);
  if (!before || !after) return settings_of(from) != settings_of(to);
  return (*before)->place() != (*after)->place();
}

Result<std::vector<Object>> IacState::list(ObjectStore& store, const Seat& at) const {
  std::vector<std::string_view> prefixes{kPrefix, kPeerPrefix};
  if (is_file_system(at)) {
    // The first deploy makes it.
    if (!std::filesystem::exists(seams_.deploy_folder)) return std::vector<Object>{};
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

// Deploys, and what they would leave on the backend. The jobs' room writes the table.
Result<bool> IacState::has_finished_deploys() const {
  return db::read<bool>(seams_.sql, [](db::Transaction& tx) -> Result<bool> {
    return !TRY(tx.query("SELECT 1 FROM jobs WHERE state = 'completed' AND destroyed_by IS NULL AND (action "
                         "LIKE '%:deploy' OR action LIKE '%:provision') LIMIT 1",
                         {}))
                .empty();
  });
}

Result<bool> IacState::holds(const Seat& at) const {
  auto look = [&]() -> Result<bool> { return !TRY(list(*TRY(store_of(at)), at)).empty(); };
  auto found = look();
  if (found) return *found;
  const auto& why = found.error().message;
  if (TRY(has_finished_deploys()))
    return fail(Code::upstream,
                "'{}' cannot be asked whether it holds the state of deployments ({}); mend it, then switch",
                at.backend->id, why);
  log::warning("storage.state_unknown", {{"backend", at.backend->id}, {"error", why}});
  return false;
}

Result<std::int64_t> IacState::copy(const Seat& from, const Seat& to) const {
  auto run = [&]() -> Result<std::int64_t> {
    auto source = TRY(store_of(from));
    auto target = TRY(store_of(to));
    auto objects = TRY(list(*source, from));
    for (const auto& object : objects) {
      auto head = TRY(source->head(object.key));
      TRY(copy_object({*source, std::move(head), ""}, *target, key_at(to, object.key), false, seams_.parts));
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
