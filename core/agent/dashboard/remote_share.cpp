#include "core/agent/dashboard/remote_share.hpp"

#include <algorithm>

#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"
#include "core/storage/store/backends.hpp"

namespace dash::agent {
namespace {

using storage::agent::ShareFile;
using storage::agent::ShareRead;

static_assert(storage::kMaxAgentBytes == kMaxContentBytes, "the backend's ceiling is what a job carries");

// More pages than any folder has that a share should be: the agent's cursors lead nowhere.
constexpr int kMaxPages = 2000;

ShareFolder folder_of(const GrantedShare& granted) {
  return {granted.agent.id, granted.settings.share, granted.settings.subpath};
}

StorageJob job_of(StorageOp op, const std::string& name = "") {
  StorageJob job;
  job.op = op;
  job.name = name;
  return job;
}

// An answer that is none is the agent's failure, not the caller's.
template <class T>
Result<T> from_agent(const Agent& agent, Result<T> read) {
  if (read) return read;
  return fail(Code::upstream, "the agent '{}' sent an answer that cannot be read: {}", agent.name,
              read.error().message);
}

ShareFile to_share_file(const SharedFile& file) { return {file.name, file.size, file.etag}; }

// Of an agent that has no etags.
std::string etag_of(std::string_view bytes) { return crypto::to_hex(crypto::sha256(bytes)); }

Failure absent(const std::string& name) { return fail(Code::not_found, "the share has no file '{}'", name); }

void sort_by_name(std::vector<SharedFile>& files) {
  std::ranges::sort(files, {}, &SharedFile::name);
  auto same = std::ranges::unique(files, {}, &SharedFile::name);
  files.erase(same.begin(), same.end());
}

}  // namespace

ListingsUnderWay::Listing ListingsUnderWay::share(const std::string& which, ShareCallers& callers,
                                                  const std::function<Listing()>& make) {
  std::unique_lock lock(mutex_);
  if (auto found = entries_.find(which); found != entries_.end()) {
    auto entry = found->second;
    return callers.wait([&] {
      changed_.wait(lock, [&] { return entry->listing.has_value(); });
      return *entry->listing;
    });
  }
  auto entry = std::make_shared<Entry>();
  entries_[which] = entry;
  lock.unlock();
  auto listing = make();
  lock.lock();
  entry->listing = listing;
  entries_.erase(which);
  lock.unlock();
  changed_.notify_all();
  return listing;
}

Result<GrantedShare> RemoteShare::check() const { return check_storage_grant(deps_.jobs.deps(), settings_); }

Result<Json> RemoteShare::run(const GrantedShare& granted, StorageJob job) {
  job.share = granted.settings.share;
  job.subpath = granted.settings.subpath;
  AgentJobRequest request;
  request.agent_id = granted.agent.id;
  request.job_type = kStorageJobType;
  request.payload = to_json(job);
  request.summary = {
      {"op", to_text(job.op)}, {"share", job.share}, {"subpath", job.subpath}, {"name", job.name}};
  request.created_by = "storage";
  auto done = deps_.callers.wait([&] { return deps_.jobs.run(request); });
  if (done) return std::move(done->result);
  auto error = std::move(done).error();
  if (error.code == Code::busy) return Failure(std::move(error));
  if (error.code == Code::upstream && error.message.starts_with(kFileNotFound)) return absent(job.name);
  return Failure(std::move(error).within(fmt::format("agent '{}'", granted.agent.name)));
}

Result<std::vector<SharedFile>> RemoteShare::list_pages(const GrantedShare& granted) {
  auto job = job_of(StorageOp::list);
  bool has_pages = granted.agent.has_feature(kPagesFeature);
  if (has_pages) job.cursor = "";
  std::vector<SharedFile> files;
  for (int page = 0; page < kMaxPages; ++page) {
    auto result = run(granted, job);
    if (!result && !has_pages)
      result.error().message += fmt::format(
          " (this agent sends a folder in one answer of {} bytes at most; an agent of this dashboard's "
          "release "
          "lists larger ones)",
          kMaxResultBytes);
    auto listed = TRY(from_agent(granted.agent, read_list_result(TRY(std::move(result)))));
    std::ranges::move(listed.files, std::back_inserter(files));
    if (!has_pages || listed.cursor.empty()) {
      sort_by_name(files);
      return files;
    }
    if (listed.cursor == job.cursor) break;
    job.cursor = std::move(listed.cursor);
  }
  return fail(Code::upstream, "the agent '{}' lists the share without an end", granted.agent.name);
}

Result<std::vector<SharedFile>> RemoteShare::list_now(const GrantedShare& granted, const ShareFolder& folder,
                                                      std::int64_t generation) {
  auto began = deps_.jobs.deps().clock.now();
  auto files = TRY(list_pages(granted));
  TRY(deps_.listings.keep(folder, generation, began, files));
  return files;
}

// Callers join a listing only of the generation that they saw: one that began before a change is another.
Result<std::vector<SharedFile>> RemoteShare::list_kept(const GrantedShare& granted) {
  auto folder = folder_of(granted);
  auto kept = TRY(deps_.listings.find(folder));
  if (kept.files) return *std::move(kept.files);
  auto which = fmt::format("{}\n{}\n{}\n{}", folder.agent_id, folder.share, folder.subpath, kept.generation);
  return deps_.under_way.share(which, deps_.callers,
                               [&] { return list_now(granted, folder, kept.generation); });
}

Result<std::vector<ShareFile>> RemoteShare::list() {
  auto granted = TRY(check());
  auto files = TRY(list_kept(granted));
  std::vector<ShareFile> out;
  out.reserve(files.size());
  for (const auto& file : files) out.push_back(to_share_file(file));
  return out;
}

Result<void> RemoteShare::forget_listing() { return deps_.listings.drop(folder_of(TRY(check()))); }

Result<ShareRead> RemoteShare::read_range(const GrantedShare& granted, const std::string& name,
                                          std::uint64_t offset, std::uint64_t size) {
  auto job = job_of(StorageOp::fetch, name);
  job.offset = offset;
  job.length = std::min<std::uint64_t>(size, kRangeBytes);
  auto piece = TRY(from_agent(granted.agent, read_fetch_result(TRY(run(granted, job)))));
  if (!piece.size || piece.etag.empty() || piece.content.size() > *job.length)
    return fail(Code::upstream, "the agent '{}' sent another range of '{}' than it was asked for",
                granted.agent.name, name);
  return ShareRead{{name, *piece.size, std::move(piece.etag)}, std::move(piece.content)};
}

// An agent without ranges. Its error does not say whether the file is absent, so its listing is asked.
Result<ShareRead> RemoteShare::read_whole(const GrantedShare& granted, const std::string& name) {
  auto fetched = run(granted, job_of(StorageOp::fetch, name));
  if (fetched) {
    auto content = TRY(from_agent(granted.agent, read_fetch_result(*fetched))).content;
    ShareFile file{name, content.size(), etag_of(content)};
    return ShareRead{std::move(file), std::move(content)};
  }
  if (fetched.error().code != Code::upstream) return Failure(std::move(fetched).error());
  auto files = list_pages(granted);
  if (!files) return Failure(std::move(fetched).error());
  auto listed = std::ranges::find(*files, name, &SharedFile::name);
  if (listed == files->end()) return absent(name);
  if (listed->size > kMaxReadBytes)
    return Failure(
        too_large("'{}' has {} bytes, and the agent '{}' sends {} at most; an agent of this dashboard's "
                  "release reads larger files",
                  name, listed->size, granted.agent.name, kMaxReadBytes));
  return Failure(std::move(fetched).error());
}

Result<ShareRead> RemoteShare::read(const std::string& name, std::uint64_t offset, std::uint64_t size) {
  auto granted = TRY(check());
  if (granted.agent.has_feature(kRangesFeature)) return read_range(granted, name, offset, size);
  auto whole = TRY(read_whole(granted, name));
  auto from = static_cast<std::size_t>(std::min<std::uint64_t>(offset, whole.bytes.size()));
  return ShareRead{std::move(whole.file), whole.bytes.substr(from, static_cast<std::size_t>(size))};
}

Result<ShareFile> RemoteShare::head(const std::string& name) { return TRY(read(name, 0, 0)).file; }

// The agent's answer has dropped the listing (drop_listing_of()). Without one the change may have happened too.
Result<Json> RemoteShare::change(const GrantedShare& granted, StorageJob job) {
  auto result = run(granted, std::move(job));
  if (result) return result;
  if (auto dropped = deps_.listings.drop(folder_of(granted)); !dropped)
    log::warning("agent.listing_not_dropped", {{"error", dropped.error().message}});
  return result;
}

Result<ShareFile> RemoteShare::write(const std::string& name, std::string_view bytes) {
  if (bytes.size() > kMaxContentBytes)
    return Failure(too_large("'{}' has {} bytes, and a remote agent's share takes {} at most", name,
                             bytes.size(), kMaxContentBytes));
  auto granted = TRY(check());
  auto job = job_of(StorageOp::upload, name);
  job.content = std::string(bytes);
  auto stored = TRY(from_agent(granted.agent, read_upload_result(TRY(change(granted, std::move(job))))));
  bool has_etags = granted.agent.has_feature(kRangesFeature);
  return ShareFile{name, stored.size, has_etags ? std::move(stored.etag) : etag_of(bytes)};
}

Result<void> RemoteShare::remove(const std::string& name) {
  auto granted = TRY(check());
  auto result = TRY(change(granted, job_of(StorageOp::remove, name)));
  if (!TRY(from_agent(granted.agent, read_remove_result(result))).existed) return absent(name);
  return {};
}

Result<void> drop_listing_of(db::Transaction& tx, const AgentJob& job) {
  if (job.job_type != kStorageJobType) return {};
  auto text = [&](std::string_view name) { return string_member(job.summary, name).value_or(""); };
  bool is_change = text("op") == to_text(StorageOp::upload) || text("op") == to_text(StorageOp::remove);
  if (!is_change) return {};
  return ListingCache::drop(tx, {job.agent_id, text("share"), text("subpath")});
}

}  // namespace dash::agent
