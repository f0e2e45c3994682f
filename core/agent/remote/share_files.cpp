#include "core/agent/remote/share_files.hpp"

#include <algorithm>
#include <filesystem>

#include "core/agent/protocol/documents.hpp"
#include "core/base/log.hpp"
#include "core/storage/store/local/file_store.hpp"
#include "core/storage/store/local/folder_tree.hpp"
#include "core/storage/store/names.hpp"
#include "core/storage/store/smb/share_tree.hpp"

namespace dash::agent {
namespace {

// Of a page's JSON; what stands round it and the audit mode have the rest.
constexpr std::size_t kMaxPageBytes = kMaxResultBytes - 4096;
constexpr std::size_t kEntryBytes = 48;  // of an entry beside its name and its etag

std::size_t json_bytes(const SharedFile& file) { return kEntryBytes + file.name.size() + file.etag.size(); }

std::string key_of(const StorageJob& job) {
  return job.subpath.empty() ? job.name : fmt::format("{}/{}", job.subpath, job.name);
}

Result<void> check_extension(const std::string& name) {
  if (storage::asset_type(name)) return {};
  return fail(Code::invalid, "'{}' has none of the extensions {}", name, storage::kAllowedExtensions);
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  if (from.empty()) return text;
  for (auto at = text.find(from); at != text.npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// The store's words are those of the dashboard's own settings.
std::string share_words(const Share& share, std::string text) {
  auto name = fmt::format("the share '{}'", share.name);
  auto url = share.path;
  std::ranges::replace(url, '\\', '/');
  auto server = url.substr(0, url.find('/', 2));
  auto with_port = fmt::format("smb:{}:{}{}", server, share.port, url.substr(server.size()));
  text = replaced(std::move(text), "file://" + share.path, name);
  text = replaced(std::move(text), with_port, name);
  text = replaced(std::move(text), "smb:" + url, name);
  text = replaced(std::move(text), share.path, name);
  return replaced(std::move(text), "storage_local_", "the shares file's ");
}

config::Values smb_values(const Share& share, const Secret& password) {
  return {{"storage_local_path", share.path},
          {"storage_local_username", share.username},
          {"storage_local_password", password.expose()},
          {"storage_local_domain", share.domain},
          {"storage_local_port", std::to_string(share.port)}};
}

// Code::invalid where what is at the subpath, or above it, is a link or a file: that is no empty folder.
Result<void> check_absent(storage::local::FileTree& tree, const std::string& subpath) {
  for (auto end = subpath.find('/');; end = subpath.find('/', end + 1)) {
    auto folder = subpath.substr(0, end);
    auto entry = tree.stat(folder);
    if (!entry && entry.error().code == Code::not_found) return {};
    if (TRY(std::move(entry)).kind != storage::local::FileKind::folder)
      return fail(Code::invalid, "'{}' is no folder of the share; links are not followed", folder);
    if (end == subpath.npos) return {};
  }
}

}  // namespace

template <class T>
Result<T> ShareFiles::without_path(Result<T> result) const {
  if (result) return result;
  auto error = std::move(result).error();
  log::warning("agent.share_failed",
               {{"share", share_.name}, {"error", error.message}, {"detail", error.detail}});
  error.message = share_words(share_, std::move(error.message));
  return Failure(std::move(error));
}

Result<std::unique_ptr<storage::local::FileTree>> ShareFiles::open_tree() const {
  if (storage::smb::is_unc(share_.path))
    return storage::smb::open_share_tree(TRY(storage::smb::read_share(smb_values(share_, password_))),
                                         deps_.launcher);
  // A folder that is gone is a disk that is gone: nothing is made in its place.
  std::error_code ec;
  if (!std::filesystem::is_directory(share_.path, ec))
    return fail(Code::upstream, "the share '{}' is not there now: its folder does not exist on the agent",
                share_.name);
  return storage::local::open_folder_tree(share_.path, &deps_.rules);
}

Result<std::unique_ptr<storage::ObjectStore>> ShareFiles::open_store() const {
  return storage::local::make_file_store(TRY(open_tree()), deps_.clock);
}

Result<std::vector<SharedFile>> ShareFiles::files_of(const std::string& subpath) const {
  auto tree = TRY(open_tree());
  auto entries = tree->list(subpath);
  if (!entries && entries.error().code == Code::not_found && !subpath.empty()) {
    TRY(check_absent(*tree, subpath));
    return std::vector<SharedFile>();  // an upload makes it
  }
  std::vector<SharedFile> files;
  for (auto& entry : TRY(std::move(entries)))
    if (entry.kind == storage::local::FileKind::file && storage::asset_type(entry.name) &&
        check_job_file_name(entry.name))
      files.push_back({std::move(entry.name), entry.size, std::move(entry.version)});
  std::ranges::sort(files, {}, &SharedFile::name);
  return files;
}

Result<ListJobResult> ShareFiles::list(const std::string& subpath, const std::optional<std::string>& cursor) {
  auto files = TRY(without_path(files_of(subpath)));
  ListJobResult out;
  std::size_t bytes = 0;
  if (cursor) {
    auto first = std::ranges::upper_bound(files, *cursor, {}, &SharedFile::name);
    for (; first != files.end(); ++first) {
      bytes += json_bytes(*first);
      if (bytes > kMaxPageBytes) {
        out.cursor = out.files.back().name;
        break;
      }
      out.files.push_back(*first);
    }
    return out;
  }
  auto count = [&] {
    bytes = 0;
    for (const auto& file : files) bytes += json_bytes(file);
    return bytes;
  };
  // Who asks for no page may be a deployed dashboard, which uses names and sizes alone.
  if (count() > kMaxPageBytes)
    for (auto& file : files) file.etag.clear();
  if (count() > kMaxPageBytes)
    return fail(
        Code::too_large,
        "the share '{}' has {} files here, and their list exceeds the {} bytes of a result; use a subpath",
        share_.name, files.size(), kMaxResultBytes);
  out.files = std::move(files);
  return out;
}

Result<FetchJobResult> ShareFiles::fetch(const StorageJob& job) {
  TRY(check_extension(job.name));
  auto store = TRY(without_path(open_store()));
  auto object = TRY(without_path(store->head(key_of(job))));
  bool is_range = job.offset || job.length;
  auto offset = std::min(job.offset.value_or(0), object.size);
  auto size = std::min(job.length.value_or(object.size), object.size - offset);
  if (is_range) size = std::min<std::uint64_t>(size, kMaxReadBytes);
  if (size > kMaxReadBytes)
    return fail(Code::too_large, "'{}' has {} bytes, and a result carries {} at most", job.name, object.size,
                kMaxReadBytes);
  FetchJobResult out{std::string(size, '\0'), object.size, object.etag};
  if (size == 0) return out;
  auto n = TRY(without_path(store->read(key_of(job), offset, object.etag, std::span(out.content))));
  if (n != size) return fail(Code::precondition, "'{}' was changed while it was read", job.name);
  return out;
}

Result<UploadJobResult> ShareFiles::upload(const StorageJob& job) {
  TRY(check_extension(job.name));
  auto store = TRY(without_path(open_store()));
  auto object = TRY(without_path(store->put(key_of(job), storage::Payload(job.content), {})));
  return UploadJobResult{object.size, object.etag};
}

Result<RemoveJobResult> ShareFiles::remove(const StorageJob& job) {
  TRY(check_extension(job.name));
  auto store = TRY(without_path(open_store()));
  auto removed = store->remove(key_of(job));
  bool is_absent = !removed && removed.error().code == Code::not_found;
  if (!is_absent) TRY(without_path(std::move(removed)));
  return RemoveJobResult{job.name, !is_absent};
}

}  // namespace dash::agent
