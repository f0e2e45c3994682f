#include "core/storage/store/local/staging.hpp"

#include <algorithm>
#include <charconv>

#include "core/base/buffer_pool.hpp"
#include "core/base/clock_skew.hpp"
#include "core/base/json.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/local/file_store.hpp"

namespace dash::storage::local {
namespace {

constexpr std::string_view kData = "data";
constexpr std::string_view kCommitted = "committed-";  // followed by the version
constexpr std::string_view kNote = ".replacing";       // of <id>.old; contains the key
constexpr std::string_view kBackup = ".old";           // of a file that is being replaced
constexpr std::size_t kMaxNote = 2048;

std::string note_of(std::string_view id) { return fmt::format("{}/{}{}", kStagingFolder, id, kNote); }
std::string backup_of(std::string_view id) { return fmt::format("{}/{}{}", kStagingFolder, id, kBackup); }

std::string folder_of(const StagedUpload& upload) { return fmt::format("{}/{}", kStagingFolder, upload.id); }
std::string new_file(std::string_view id) { return fmt::format("{}/{}.new", kStagingFolder, id); }
std::string data_of(const StagedUpload& upload) {
  return upload.is_at_once ? new_file(upload.id) : fmt::format("{}/{}", folder_of(upload), kData);
}
std::string marker_of(const StagedUpload& upload, std::uint32_t n, std::size_t size) {
  return fmt::format("{}/{}-{}", folder_of(upload), n, size);
}
template <class N>
bool read_number(std::string_view text, N& number) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// "<n>-<size>"; nullopt for any other name.
std::optional<StagedPart> read_marker(std::string_view name) {
  StagedPart part;
  auto dash = name.find('-');
  if (dash == name.npos || !read_number(name.substr(0, dash), part.n) ||
      !read_number(name.substr(dash + 1), part.size))
    return std::nullopt;
  return part;
}

bool is_id(std::string_view text) { return text.size() == 32 && crypto::from_hex(text).has_value(); }

// The old file and its note, which recover() handles whatever their age.
bool is_of_a_replacement(std::string_view name) { return name.ends_with(kNote) || name.ends_with(kBackup); }

Failure upload_gone(const StagedUpload& upload) {
  return fail(Code::not_found, "the upload of '{}' is gone: it was committed, aborted or swept", upload.key);
}

}  // namespace

std::string write_staged_upload(const StagedUpload& upload) {
  return dump_json(OrderedJson{{"key", upload.key}, {"id", upload.id}, {"at_once", upload.is_at_once}});
}

Result<StagedUpload> read_staged_upload(const std::string& text) {
  auto json = TRY(parse_json(text));
  auto key = string_member(json, "key");
  auto id = string_member(json, "id");
  if (!key || !id || !is_id(*id)) return fail(Code::invalid, "this is not an upload to a folder");
  auto at_once = json.find("at_once");
  return StagedUpload{*key, *id, at_once != json.end() && *at_once == true};
}

Result<std::string> Staging::write_file(std::string_view bytes) {
  TRY(tree_.make_folder(std::string(kStagingFolder)));
  auto path = new_file(crypto::random_hex(16));
  if (auto written = tree_.write(path, 0, bytes); !written) {
    (void)tree_.remove(path);  // the write's error is the one to report
    return Failure(std::move(written).error());
  }
  return path;
}

Result<void> Staging::place(const std::string& path, const std::string& key, bool may_replace) {
  if (auto parent = parent_of(key); !parent.empty()) TRY(tree_.make_folder(parent));
  if (tree_.replaces_in_one_step() || !may_replace) return tree_.rename(path, key, may_replace);
  auto existing = tree_.stat(key);
  if (existing && existing->kind != FileKind::file)
    return fail(Code::invalid, "'{}' is the name of a folder", key);
  if (existing) return replace_with_backup(path, key);
  if (existing.error().code != Code::not_found) return Failure(std::move(existing).error());
  return tree_.rename(path, key, true);
}

// At every instant the key, or the note beside the old file, leads to one whole file.
Result<void> Staging::replace_with_backup(const std::string& path, const std::string& key) {
  auto id = crypto::random_hex(16);
  TRY(tree_.write(note_of(id), 0, key));
  TRY(tree_.rename(key, backup_of(id), false));
  if (auto placed = tree_.rename(path, key, true); !placed) {
    (void)recover_one(id);  // else the next recover() does; the rename's error is the one to report
    return placed;
  }
  TRY(remove_if_exists(backup_of(id)));
  return remove_if_exists(note_of(id));
}

Result<void> Staging::recover() {
  auto entries = tree_.list(std::string(kStagingFolder));
  if (!entries && entries.error().code == Code::not_found) return {};
  for (const auto& entry : TRY(std::move(entries)))
    if (entry.name.ends_with(kNote)) TRY(recover_one(entry.name.substr(0, entry.name.size() - kNote.size())));
  return {};
}

Result<void> Staging::recover_one(const std::string& id) {
  std::string key(kMaxNote, '\0');
  key.resize(TRY(tree_.read(note_of(id), 0, "", key)));
  // An empty note: nothing was moved yet.
  auto existing = key.empty() ? Result<FileEntry>(FileEntry()) : tree_.stat(key);
  if (!existing && existing.error().code == Code::not_found) {
    auto back = tree_.rename(backup_of(id), key, false);
    if (!back && back.error().code != Code::not_found) return back;
  } else {
    TRY(std::move(existing));
    TRY(remove_if_exists(backup_of(id)));
  }
  return remove_if_exists(note_of(id));
}

Result<void> Staging::remove_if_exists(const std::string& path) {
  auto removed = tree_.remove(path);
  if (!removed && removed.error().code == Code::not_found) return {};
  return removed;
}

Result<StagedUpload> Staging::begin(const std::string& key) {
  StagedUpload upload{key, crypto::random_hex(16)};
  TRY(tree_.make_folder(folder_of(upload)));
  TRY(tree_.write(data_of(upload), 0, ""));
  return upload;
}

Result<StagedUpload> Staging::begin_at_once(const std::string& key) {
  StagedUpload upload{key, crypto::random_hex(16), true};
  TRY(tree_.make_folder(std::string(kStagingFolder)));
  TRY(tree_.write_unsynced(data_of(upload), 0, ""));
  return upload;
}

Result<void> Staging::put_part(const StagedUpload& upload, std::uint32_t n, std::string_view bytes) {
  auto data = tree_.stat(data_of(upload));
  if (!data && data.error().code == Code::not_found) return upload_gone(upload);
  TRY(std::move(data));
  auto offset = std::uint64_t{n - 1} * kPartBytes;
  if (upload.is_at_once) return tree_.write_unsynced(data_of(upload), offset, bytes);
  for (const auto& part : TRY(parts(upload)))
    if (part.n == n && part.size != bytes.size())
      TRY(tree_.remove(marker_of(upload, n, static_cast<std::size_t>(part.size))));
  TRY(tree_.write(data_of(upload), offset, bytes));
  return tree_.write(marker_of(upload, n, bytes.size()), 0, "");
}

Result<std::vector<StagedPart>> Staging::parts(const StagedUpload& upload) {
  auto entries = tree_.list(folder_of(upload));
  if (!entries && entries.error().code == Code::not_found) return upload_gone(upload);
  std::vector<StagedPart> parts;
  bool has_data = false;
  for (const auto& entry : TRY(std::move(entries))) {
    has_data = has_data || entry.name == kData;
    if (auto part = read_marker(entry.name)) parts.push_back(*part);
  }
  if (!has_data) return upload_gone(upload);
  std::ranges::sort(parts, {}, &StagedPart::n);
  return parts;
}

Result<FileEntry> Staging::commit(const StagedUpload& upload, const std::vector<StagedPart>& parts_wanted,
                                  bool may_replace) {
  auto data = tree_.stat(data_of(upload));
  if (!data && data.error().code == Code::not_found) return find_committed(upload);
  auto entry = TRY(std::move(data));
  std::uint64_t size = 0;
  for (const auto& part : parts_wanted) size += part.size;
  if (entry.size != size)
    return fail(Code::integrity, "the upload of '{}' has {} bytes instead of {}; begin it again", upload.key,
                entry.size, size);
  if (upload.is_at_once)
    TRY(tree_.sync(data_of(upload)));
  else
    TRY(tree_.write(fmt::format("{}/{}{}", folder_of(upload), kCommitted, entry.version), 0, ""));
  TRY(place(data_of(upload), upload.key, may_replace));
  return tree_.stat(upload.key);
}

Result<FileEntry> Staging::find_committed(const StagedUpload& upload) {
  auto made = tree_.stat(upload.key);
  if (!made) return upload_gone(upload);
  auto marker = tree_.stat(fmt::format("{}/{}{}", folder_of(upload), kCommitted, made->version));
  if (!marker) return upload_gone(upload);
  return made;
}

// The data goes first: without it, nothing can be staged or committed any more.
Result<void> Staging::abort(const StagedUpload& upload) {
  auto removed = tree_.remove(data_of(upload));
  if (!removed && removed.error().code == Code::not_found) return upload_gone(upload);
  TRY(std::move(removed));
  if (upload.is_at_once) return {};
  return drop(folder_of(upload));
}

Result<void> Staging::drop(const std::string& path) {
  for (const auto& entry : TRY(tree_.list(path))) TRY(tree_.remove(path + "/" + entry.name));
  return tree_.remove_folder(path);
}

Result<std::uint64_t> Staging::staged_bytes(const std::string& path) {
  std::uint64_t bytes = 0;
  for (const auto& entry : TRY(tree_.list(path))) bytes += entry.size;
  return bytes;
}

Result<std::vector<Leftover>> Staging::leftovers(Time older_than, Time newer_than) {
  std::vector<Leftover> found;
  auto entries = tree_.list(std::string(kStagingFolder));
  if (!entries && entries.error().code == Code::not_found) return found;
  for (const auto& entry : TRY(std::move(entries))) {
    if (entry.modified >= older_than && entry.modified <= newer_than) continue;
    if (is_of_a_replacement(entry.name)) continue;
    auto path = fmt::format("{}/{}", kStagingFolder, entry.name);
    auto bytes = entry.kind == FileKind::folder ? staged_bytes(path) : Result<std::uint64_t>(entry.size);
    if (!bytes && bytes.error().code == Code::not_found) continue;  // ended meanwhile
    auto size = TRY(std::move(bytes));
    found.push_back({path, entry.modified, size, ""});
  }
  return found;
}

Result<void> Staging::drop_leftover(const Leftover& leftover) {
  auto entry = TRY(tree_.stat(leftover.key));
  if (entry.modified > leftover.began + kMaxClockSkew)
    return fail(Code::conflict, "'{}' was written since it was listed", leftover.key);
  return entry.kind == FileKind::folder ? drop(leftover.key) : tree_.remove(leftover.key);
}

Result<void> Staging::sweep(Time older_than, Time newer_than) {
  for (const auto& leftover : TRY(leftovers(older_than, newer_than))) {
    auto dropped = drop_leftover(leftover);
    if (!dropped && dropped.error().code != Code::not_found && dropped.error().code != Code::conflict)
      return dropped;
  }
  return {};
}

Result<void> Staging::check_clock(const Clock& clock) {
  auto path = TRY(write_file(""));
  auto written = tree_.stat(path);
  TRY(remove_if_exists(path));
  auto apart = TRY(std::move(written)).modified - clock.now();
  if (apart < kMaxClockSkew && -apart < kMaxClockSkew) return {};
  return fail(Code::upstream,
              "nothing was swept, because ages are unknown; the clock of the files is {} minutes {} this "
              "program's: set it right",
              std::chrono::duration_cast<std::chrono::minutes>(std::chrono::abs(apart)).count(),
              apart < Time::duration::zero() ? "behind" : "ahead of");
}

}  // namespace dash::storage::local
