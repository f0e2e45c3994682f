#include "core/storage/client/send.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "core/config/clouds.hpp"
#include "core/storage/client/journal.hpp"
#include "core/storage/client/patience.hpp"
#include "core/storage/names.hpp"
#include "core/storage/upload/plan.hpp"

namespace dash::storage {
namespace {

Failure os_error(const std::string& path) {
  return fail(errno == ENOENT ? Code::not_found : Code::internal, "cannot read {}: {}", path,
              std::strerror(errno));
}

// An open file whose identity was taken when it was opened.
class Source {
 public:
  static Result<Source> open(const std::string& path) {
    Source source;
    source.path_ = path;
    source.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (source.fd_ < 0) return os_error(path);
    source.identity_ = TRY(source.look());
    return source;
  }
  Source(Source&& other) noexcept
      : path_(std::move(other.path_)),
        fd_(std::exchange(other.fd_, -1)),
        identity_(std::move(other.identity_)) {}
  Source& operator=(Source&&) = delete;
  ~Source() {
    if (fd_ >= 0) ::close(fd_);
  }

  const FileIdentity& identity() const { return identity_; }

  // Exactly the bytes of a range; the file must still be what it was.
  Result<void> read(std::uint64_t offset, std::span<char> into) const {
    while (!into.empty()) {
      auto n = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return os_error(path_);
      if (n == 0) return changed();
      offset += static_cast<std::uint64_t>(n);
      into = into.subspan(static_cast<std::size_t>(n));
    }
    return {};
  }
  Result<void> require_same() const {
    auto now = TRY(look());
    if (now.size != identity_.size || now.modified_ns != identity_.modified_ns) return changed();
    return {};
  }

 private:
  Source() = default;
  Failure changed() const {
    return fail(Code::drift, "{} changed while it was read; upload it again", path_);
  }
  Result<FileIdentity> look() const {
    struct stat st {};
    if (::fstat(fd_, &st) != 0) return os_error(path_);
    if (!S_ISREG(st.st_mode)) return fail(Code::invalid, "{} is not a regular file", path_);
    std::error_code ec;
    auto absolute = std::filesystem::absolute(path_, ec).string();
    return FileIdentity{absolute, st.st_dev, st.st_ino, static_cast<std::uint64_t>(st.st_size),
                        std::int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec};
  }
  std::string path_;
  int fd_ = -1;
  FileIdentity identity_;
};

Result<Json> send_whole(const SendPlan& plan, const SendSeams& s) {
  auto source = TRY(Source::open(plan.path));
  std::string bytes(source.identity().size, '\0');
  TRY(source.read(0, bytes));
  TRY(source.require_same());
  Json answer;
  TRY(with_patience([&]() -> Result<void> {
    answer = TRY(s.desk.upload(plan.name, bytes));
    return {};
  }));
  s.progress.update(plan.name, plan.size, plan.size);
  return answer;
}

// One chunked upload: what is staged, and what is told about it on disk.
class ChunkedSend {
 public:
  ChunkedSend(const SendPlan& plan, const SendSeams& seams, Source source)
      : plan_(plan),
        s_(seams),
        source_(std::move(source)),
        journal_(s_.journal_folder, s_.desk.name(), s_.user, source_.identity()) {}

  Result<Json> run() {
    TRY(resume_or_begin());
    auto sent = send_parts();
    if (!sent) return give_up(std::move(sent).error());
    auto answer = commit();
    if (!answer) return give_up(std::move(answer).error());
    journal_.remove();
    if (resumed_ > 0) (*answer)["resumed_parts"] = resumed_;
    return answer;
  }

 private:
  // An upload that the instance no longer takes is simply begun again.
  Result<void> resume_or_begin() {
    if (auto kept = journal_.read()) {
      auto status = s_.desk.status(kept->handle);
      if (!status && status.error().code != Code::invalid) return Failure(std::move(status).error());
      if (status && status->value("filename", "") == plan_.name) {
        open_ = std::move(*kept);
        resumed_ = status->value("staged", Json::array()).size();
        // The last part may be sent again: when only its answer was lost, that brings its ref back.
        if (resumed_ == open_.refs.size() + 1) --resumed_;
        open_.refs.resize(resumed_);
        return {};
      }
    }
    auto begun = TRY(s_.desk.begin(plan_.name, plan_.size));
    open_ = {begun.value("handle", ""), {}};
    return journal_.write(open_);
  }

  Result<void> send_parts() {
    auto buffer = std::make_unique<char[]>(kPartBytes);
    for (auto n = static_cast<std::uint32_t>(open_.refs.size() + 1); n <= part_count(plan_.size); ++n) {
      s_.progress.update(plan_.name, part_offset(n), plan_.size);
      std::span<char> bytes(buffer.get(), part_length(plan_.size, n));
      TRY(source_.read(part_offset(n), bytes));
      TRY(with_patience([&]() -> Result<void> {
        auto staged = TRY(s_.desk.put_part(open_.handle, n, {bytes.data(), bytes.size()}));
        open_.refs.push_back(staged.value("ref", ""));
        return {};
      }));
      TRY(journal_.write(open_));
    }
    s_.progress.update(plan_.name, plan_.size, plan_.size);
    return source_.require_same();
  }

  Result<Json> commit() {
    auto parts = Json::array();
    for (std::size_t i = 0; i < open_.refs.size(); ++i) {
      Json part{{"part", i + 1}};
      if (!open_.refs[i].empty()) part["ref"] = open_.refs[i];
      parts.push_back(std::move(part));
    }
    Json answer;
    TRY(with_patience([&]() -> Result<void> {
      answer = TRY(s_.desk.commit(open_.handle, parts));
      return {};
    }));
    return answer;
  }

  // What may pass is kept for the next run; everything else is discarded in the store too.
  Failure give_up(Error error) {
    if (error.code == Code::unreachable || error.code == Code::timeout || error.code == Code::busy) {
      error.message += "; run the same command again to go on where it stopped";
      return Failure(std::move(error));
    }
    if (auto aborted = s_.desk.abort(open_.handle); aborted) journal_.remove();
    return Failure(std::move(error));
  }

  const SendPlan& plan_;
  const SendSeams& s_;
  Source source_;
  Journal journal_;
  OpenUpload open_;
  std::size_t resumed_ = 0;
};

}  // namespace

Result<Target> active_target(const Json& backends, const std::string& wanted) {
  for (const auto& row : backends.value("backends", Json::array())) {
    if (!row.value("active", false)) continue;
    auto id = row.value("id", "");
    if (!wanted.empty() && config::canonical_backend(wanted) != config::canonical_backend(id))
      return fail(Code::invalid, "uploads go to the active backend, which is '{}' and not '{}'", id, wanted);
    return Target{id, row.value("chunked_upload", false), row.value("inline_upload_bytes", kInlineCeiling),
                  row.value("max_upload_bytes", kInlineCeiling), row.value("upload_limit_reason", "")};
  }
  return fail(Code::invalid, "No active storage backend. Configure one and select it as active.");
}

Result<SendPlan> plan_send(const std::string& path, const Target& target) {
  auto source = TRY(Source::open(path));
  SendPlan plan{path, std::filesystem::path(path).filename().string(), source.identity().size, "inline"};
  TRY(check_upload_name(plan.name));
  if (plan.size > target.ceiling)
    return fail(Code::too_large, "{} has {} bytes; '{}' takes {}. {}", path, plan.size, target.backend,
                target.ceiling, target.limit_reason);
  // A file of one part costs one request inline and three chunked.
  if (target.is_chunked && plan.size > kPartBytes) plan.lane = "chunked";
  return plan;
}

Result<Json> send_file(const SendPlan& plan, const SendSeams& seams) {
  if (plan.lane == "inline") return send_whole(plan, seams);
  return ChunkedSend(plan, seams, TRY(Source::open(plan.path))).run();
}

}  // namespace dash::storage
