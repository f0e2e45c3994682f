#include "core/client/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "core/crypto/hash.hpp"

namespace dash::client {
namespace {

constexpr unsigned kMode = 0644;

std::string spare_name(const std::string& target) {
  return fmt::format("{}.{}.part", target, crypto::random_hex(4));
}

}  // namespace

Result<AtomicFile> AtomicFile::create(const std::string& path) {
  AtomicFile file;
  file.target_ = path;
  auto folder = std::filesystem::path(path).parent_path().string();
  file.fd_ = ::open(folder.empty() ? "." : folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, kMode);
  if (file.fd_ < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    auto name = spare_name(path);
    file.fd_ = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, kMode);
    if (file.fd_ >= 0) file.name_ = std::move(name);
  }
  if (file.fd_ < 0) return file.os_error();
  file.writer_.emplace(file.fd_);
  return file;
}

AtomicFile::AtomicFile(AtomicFile&& other) noexcept
    : target_(std::move(other.target_)),
      name_(std::exchange(other.name_, "")),
      fd_(std::exchange(other.fd_, -1)),
      writer_(std::move(other.writer_)) {}

AtomicFile::~AtomicFile() {
  if (fd_ >= 0) ::close(fd_);
  if (!name_.empty()) ::unlink(name_.c_str());
}

Result<void> AtomicFile::reserve(std::uint64_t size) {
  auto has_space = size == 0 || ::fallocate(fd_, 0, 0, static_cast<off_t>(size)) == 0;
  if (has_space || errno == EOPNOTSUPP || errno == ENOSYS) return {};
  return os_error();
}

Result<void> AtomicFile::write(std::uint64_t offset, std::string_view bytes) {
  if (!writer_->write(offset, bytes)) return os_error();
  return {};
}

Result<void> AtomicFile::commit_file() {
  if (::fsync(fd_) != 0) return os_error();
  if (name_.empty()) {
    auto name = spare_name(target_);
    auto self = fmt::format("/proc/self/fd/{}", fd_);
    if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) != 0) return os_error();
    name_ = std::move(name);
  }
  if (::rename(name_.c_str(), target_.c_str()) != 0) return os_error();
  name_.clear();
  return {};
}

Failure AtomicFile::os_error() const {
  return fail(Code::internal, "cannot write {}: {}", target_, std::strerror(errno));
}

}  // namespace dash::client
