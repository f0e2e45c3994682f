#include "core/client/open_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace dash::client {
namespace {

Failure os_error(const std::string& path) {
  return fail(errno == ENOENT ? Code::not_found : Code::internal, "cannot read {}: {}", path,
              std::strerror(errno));
}

}  // namespace

Result<OpenFile> OpenFile::open(const std::string& path) {
  OpenFile file;
  file.path_ = path;
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe must not block
  if (file.fd_ < 0) return os_error(path);
  file.identity_ = TRY(file.stat_file());
  return file;
}

OpenFile::OpenFile(OpenFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      identity_(std::move(other.identity_)) {}

OpenFile::~OpenFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> OpenFile::fill(std::uint64_t offset, std::span<char> into) const {
  while (!into.empty()) {
    auto n = ::pread(fd_, into.data(), into.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os_error(path_);
    if (n == 0) return changed_error();
    offset += static_cast<std::uint64_t>(n);
    into = into.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> OpenFile::check_unchanged() const {
  auto now = TRY(stat_file());
  if (now.size != identity_.size || now.modified_ns != identity_.modified_ns) return changed_error();
  return {};
}

Failure OpenFile::changed_error() const {
  return fail(Code::drift, "{} changed while it was read; upload it again", path_);
}

Result<FileIdentity> OpenFile::stat_file() const {
  struct stat st {};
  if (::fstat(fd_, &st) != 0) return os_error(path_);
  if (!S_ISREG(st.st_mode)) return fail(Code::invalid, "{} is not a regular file", path_);
  std::error_code ec;
  auto absolute = std::filesystem::absolute(path_, ec).string();
  return FileIdentity{absolute, st.st_dev, st.st_ino, static_cast<std::uint64_t>(st.st_size),
                      std::int64_t{st.st_mtim.tv_sec} * 1'000'000'000 + st.st_mtim.tv_nsec};
}

}  // namespace dash::client
