#include "core/storage/settings/state_place.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/base/file.hpp"
#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/settings/file_lock.hpp"
#include "core/storage/store/copy.hpp"
#include "core/storage/store/cursor.hpp"

namespace dash::storage {
namespace {

constexpr std::string_view kPrefix = "iac-state/";
constexpr std::string_view kPeerPrefix = "terraform-state/";
constexpr std::string_view kStateFile = "terraform.tfstate";
constexpr std::string_view kCloud3StateFile = "default.tfstate";
constexpr std::string_view kCloud3LockFile = "default.tflock";
constexpr std::size_t kMaxLockBytes = 64u << 10;
constexpr int kMaxLockReads = 4;
constexpr std::size_t kFallbackIdDigits = 32;

std::string_view leaf_of(std::string_view key) { return key.substr(key.rfind('/') + 1); }
std::string_view folder_of(std::string_view key) { return key.substr(0, key.size() - leaf_of(key).size()); }

bool is_state_file(std::string_view leaf) { return leaf == kStateFile || leaf == kCloud3StateFile; }

std::string content_id(std::string_view text) {
  return crypto::to_hex(crypto::sha256(text)).substr(0, kFallbackIdDigits);
}

}  // namespace

bool is_state_key(std::string_view key) { return is_state_file(leaf_of(key)); }

StateLock read_lock_info(std::string_view text, std::string fallback_id) {
  StateLock lock{.id = std::move(fallback_id), .who = "", .operation = "", .created_at = ""};
  auto info = parse_json(text);
  if (!info || !info->is_object()) return lock;
  auto id = string_member(*info, "ID").value_or("");
  if (!id.empty()) lock.alias = std::exchange(lock.id, std::move(id));
  lock.who = string_member(*info, "Who").value_or("");
  lock.operation = string_member(*info, "Operation").value_or("");
  lock.created_at = string_member(*info, "Created").value_or("");
  // Programs write nanoseconds; whole seconds are enough for an age.
  auto seconds = lock.created_at.substr(0, lock.created_at.find('.'));
  if (seconds.size() < lock.created_at.size() && lock.created_at.ends_with('Z')) seconds += 'Z';
  if (auto since = parse_iso(seconds)) lock.since = *since;
  return lock;
}

Result<StatePlace> StatePlace::open(const OpenStore& open, const BackendConfig& at,
                                    std::string deploy_folder) {
  StatePlace place;
  place.is_file_system_ = !at.backend->is_object_store;
  place.store_ = place.is_file_system_
                     ? TRY(open(deploy_folder_backend(), {{"storage_local_path", deploy_folder}}))
                     : TRY(open(*at.backend, *at.values));
  place.folder_ = std::move(deploy_folder);
  place.written_prefix_ = name_style_of(*at.values) == config::NameStyle::provider ? kPeerPrefix : kPrefix;
  bool is_cloud3 = at.backend->id == "obj_cloud3";
  place.leaf_ = is_cloud3 ? kCloud3StateFile : kStateFile;
  place.suffix_ = at.backend->id == "obj_cloud4" ? ".lock" : ".tflock";
  place.style_ = place.is_file_system_            ? LockStyle::folder
                 : is_cloud3                      ? LockStyle::sibling
                 : at.backend->id == "obj_cloud2" ? LockStyle::lease
                                                  : LockStyle::suffix;
  return place;
}

// A lock of any program is never state, wherever an older copy left it.
bool StatePlace::is_lock(std::string_view key) const {
  auto leaf = leaf_of(key);
  return leaf.ends_with(".tflock") || leaf.ends_with(".tfstate.lock") || leaf.ends_with(".lock.info");
}

// The deploy folder also holds executables and work folders; only "<job>/<leaf>" is state there.
bool StatePlace::is_state(std::string_view key) const {
  return is_state_key(key) && (!is_file_system_ || std::ranges::count(key, '/') == 1);
}

std::string StatePlace::job_of(std::string_view key) const {
  for (auto known : {kPrefix, kPeerPrefix})
    if (!is_file_system_ && key.starts_with(known)) key.remove_prefix(known.size());
  auto folder = folder_of(key);
  return std::string(folder.substr(0, folder.empty() ? 0 : folder.size() - 1));
}

std::string StatePlace::lock_key(const std::string& key) const {
  if (style_ == LockStyle::sibling) return std::string(folder_of(key)) + std::string(kCloud3LockFile);
  return key + std::string(suffix_);
}

// Returns "" for a key that is no lock of this store.
std::string StatePlace::state_key(const std::string& lock) const {
  if (style_ == LockStyle::sibling)
    return leaf_of(lock) == kCloud3LockFile ? std::string(folder_of(lock)) + std::string(leaf_) : "";
  if (style_ != LockStyle::suffix || !lock.ends_with(suffix_)) return "";
  auto state = lock.substr(0, lock.size() - suffix_.size());
  return is_state_key(state) ? state : "";
}

std::string StatePlace::translated_key(std::string_view key) const {
  auto prefix = std::string(written_prefix_);
  for (auto known : {kPrefix, kPeerPrefix})
    if (key.starts_with(known)) {
      prefix = known;
      key.remove_prefix(known.size());
    }
  auto leaf = leaf_of(key);
  auto path = std::string(folder_of(key));
  if (is_state_file(leaf)) leaf = leaf_;
  return (is_file_system_ ? "" : prefix) + path + std::string(leaf);
}

Result<std::string> StatePlace::find_key(const std::string& job) const {
  auto written = translated_key(fmt::format("{}/{}", job, kStateFile));
  if (is_file_system_) return written;
  for (auto known : {kPrefix, kPeerPrefix}) {
    auto key = fmt::format("{}{}/{}", known, job, leaf_);
    auto found = key == written ? Result<Object>(fail(Code::not_found, "not asked")) : store_->head(key);
    if (found) return key;
    if (found.error().code != Code::not_found) return Failure(std::move(found).error());
  }
  return written;
}

std::vector<std::string> StatePlace::locked_folders() const {
  std::vector<std::string> keys;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, error))
    if (std::filesystem::exists(entry.path() / kLockInfoFile, error))
      keys.push_back(entry.path().filename().string() + "/" + std::string(leaf_));
  return keys;
}

// A lock whose state is not there yet is an entry of its own: its program runs for the first time.
Result<void> StatePlace::add_lone_locks(const std::vector<std::string>& locked, StateListing& found) const {
  std::set<std::string> known;
  for (const auto& state : found.states) known.insert(state.object.key);
  for (const auto& key : locked)
    if (known.insert(key).second) found.states.push_back({job_of(key), {key, 0, "", {}, ""}, false});
  std::ranges::sort(found.states, {}, [](const StateEntry& entry) { return entry.object.key; });
  return {};
}

Result<StateListing> StatePlace::list() const {
  std::vector<std::string_view> prefixes{kPrefix, kPeerPrefix};
  StateListing found;
  if (is_file_system_) {
    // The first deploy makes it.
    if (!std::filesystem::exists(folder_)) return found;
    prefixes = {""};
  }
  auto locked = is_file_system_ ? locked_folders() : std::vector<std::string>();
  for (auto prefix : prefixes) {
    std::string cursor;
    do {
      auto page = TRY(store_->list(prefix, cursor));
      for (auto& object : page.objects) {
        if (auto state = state_key(object.key); !state.empty()) locked.push_back(std::move(state));
        if (object.key.ends_with('/') || is_lock(object.key)) continue;
        if (is_state(object.key))
          found.states.push_back({job_of(object.key), std::move(object)});
        else if (!is_file_system_)
          found.others.push_back(std::move(object));
      }
      TRY(advance_cursor(cursor, std::move(page.cursor)));
    } while (!cursor.empty());
  }
  TRY(add_lone_locks(locked, found));
  return found;
}

Result<std::string> StatePlace::read(const Object& object) const {
  if (object.size > kMaxStateBytes)
    return fail(Code::too_large, "'{}' has {} bytes; a state of more than {} is not read", object.key,
                object.size, kMaxStateBytes);
  std::string text(static_cast<std::size_t>(object.size), '\0');
  if (!text.empty()) TRY(read_exactly(*store_, object, 0, text));
  return text;
}

Result<std::optional<StateLock>> StatePlace::find_lock(const std::string& key) const {
  if (style_ == LockStyle::folder) return find_file_lock(key);
  if (style_ == LockStyle::lease) return find_lease(key);
  return find_lock_object(key);
}

Result<std::optional<StateLock>> StatePlace::find_lock_object(const std::string& key) const {
  // Locks come and go: one that ended since is none, and one that was taken anew since is read again.
  for (int attempt = 1;; ++attempt) {
    auto object = store_->head(lock_key(key));
    if (!object && object.error().code == Code::not_found) return std::nullopt;
    auto held = TRY(std::move(object));
    if (held.size > kMaxLockBytes) held.size = kMaxLockBytes;
    auto text = read(held);
    if (!text && text.error().code == Code::not_found) return std::nullopt;
    if (!text && text.error().code == Code::precondition && attempt < kMaxLockReads) continue;
    auto lock = read_lock_info(TRY(std::move(text)), held.etag);
    if (!lock.since) lock.since = held.modified;
    if (lock.created_at.empty()) lock.created_at = format_iso(held.modified);
    lock.seen = held.etag;
    return lock;
  }
}

Result<std::optional<StateLock>> StatePlace::find_lease(const std::string& key) const {
  auto leased = TRY(store_->find_lease(key));
  if (!leased) return std::nullopt;
  return read_lock_info(*leased, "");
}

Result<std::optional<StateLock>> StatePlace::find_file_lock(const std::string& key) const {
  auto text = read_file(lock_file(key), kMaxLockBytes);
  if (text) {
    auto lock = read_lock_info(*text, content_id(*text));
    lock.seen = *std::move(text);
    return lock;
  }
  if (text.error().code != Code::not_found) return Failure(std::move(text).error());
  if (!TRY(is_file_locked(folder_ + "/" + key))) return std::nullopt;
  return StateLock{.id = "", .who = "a program on this machine", .operation = "", .created_at = ""};
}

Result<void> StatePlace::release_lock(const std::string& key, const StateLock& lock) const {
  if (style_ == LockStyle::lease) return store_->release_lease(key, lock.id);
  if (style_ == LockStyle::folder) return remove_lock_info(folder_ + "/" + key, lock_file(key), lock.seen);
  Object seen;
  seen.key = lock_key(key);
  seen.etag = lock.seen;
  auto removed = store_->remove_unchanged(seen);
  if (removed || removed.error().code != Code::precondition) return removed;
  return fail(
      Code::conflict,
      "The lock on '{}' was taken by another program meanwhile. List the states and look who holds it.", key);
}

std::string StatePlace::key_of(const std::string& job) const {
  return fmt::format("{}{}/{}", is_file_system_ ? "" : written_prefix_, job, leaf_);
}

Result<VersionsResult> StatePlace::versions(const std::string& key) const {
  if (is_file_system_) return VersionsResult{};
  return store_->versions(key);
}

std::string StatePlace::lock_file(const std::string& key) const {
  return folder_ + "/" + std::string(folder_of(key)) + std::string(kLockInfoFile);
}

}  // namespace dash::storage
