#include "core/storage/client/receive.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "core/crypto/hash.hpp"
#include "core/storage/digest.hpp"

namespace dash::storage {
namespace {

// The digest of bytes that arrive in pieces.
class RunningDigest {
 public:
  void update(std::string_view bytes) {
    while (!bytes.empty()) {
      if (filled_ == kPartBytes) next_part();
      auto n = std::min(bytes.size(), kPartBytes - filled_);
      part_.update(bytes.substr(0, n));
      filled_ += n;
      bytes.remove_prefix(n);
    }
  }
  std::string finish() {
    next_part();
    return whole_.finish();
  }

 private:
  void next_part() {
    whole_.add(part_.finish());
    part_ = crypto::Sha256();
    filled_ = 0;
  }
  PartDigests whole_;
  crypto::Sha256 part_;
  std::size_t filled_ = 0;
};

// Removed again unless it was put in its place.
class TemporaryFile {
 public:
  static Result<TemporaryFile> beside(const std::string& path) {
    TemporaryFile file;
    file.target_ = path;
    file.name_ = fmt::format("{}.{}.part", path, crypto::random_hex(4));
    file.fd_ = ::open(file.name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (file.fd_ < 0) return fail(Code::internal, "cannot write {}: {}", path, std::strerror(errno));
    return file;
  }
  TemporaryFile(TemporaryFile&& other) noexcept
      : target_(std::move(other.target_)),
        name_(std::exchange(other.name_, "")),
        fd_(std::exchange(other.fd_, -1)) {}
  TemporaryFile& operator=(TemporaryFile&&) = delete;
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  Result<void> write(std::string_view bytes) const {
    while (!bytes.empty()) {
      auto n = ::write(fd_, bytes.data(), bytes.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return fail(Code::internal, "cannot write {}: {}", target_, std::strerror(errno));
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return {};
  }
  Result<void> put_in_place() {
    if (::fsync(fd_) != 0 || ::rename(name_.c_str(), target_.c_str()) != 0)
      return fail(Code::internal, "cannot write {}: {}", target_, std::strerror(errno));
    name_.clear();
    return {};
  }

 private:
  TemporaryFile() = default;
  std::string target_, name_;
  int fd_ = -1;
};

Result<Received> receive(Desk& desk, const std::string& backend, const std::string& name, const Sink& out,
                         Progress& progress) {
  RunningDigest digest;
  std::uint64_t received = 0;
  auto head = TRY(desk.fetch(backend, name, [&](std::string_view bytes) -> Result<void> {
    digest.update(bytes);
    received += bytes.size();
    progress.update(name, received, 0);
    return out(bytes);
  }));
  Received result{received, digest.finish(), !head.digest.empty()};
  if (received != head.size || (result.is_verified && result.digest != head.digest))
    return fail(Code::integrity,
                "what came of '{}' is not what was stored ({} of {} bytes, {}); fetch it again", name,
                received, head.size, result.digest);
  return result;
}

}  // namespace

Result<Received> receive_file(Desk& desk, const std::string& backend, const std::string& name,
                              const std::string& path, const Sink& out, Progress& progress) {
  if (path == "-") return receive(desk, backend, name, out, progress);
  auto file = TRY(TemporaryFile::beside(path));
  auto received = TRY(receive(
      desk, backend, name, [&](std::string_view bytes) { return file.write(bytes); }, progress));
  TRY(file.put_in_place());
  return received;
}

}  // namespace dash::storage
