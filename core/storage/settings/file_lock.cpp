#include "core/storage/settings/file_lock.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"

namespace dash::storage {
namespace {

constexpr std::size_t kMaxInfoBytes = 64u << 10;

struct flock whole_file_lock() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Holds the lock of a file until the end of the block. An absent file needs none: its program makes it first.
class HeldFile {
 public:
  explicit HeldFile(const std::string& path)
      : fd_(::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)), error_(fd_ < 0 ? errno : 0) {
    if (fd_ >= 0 && !lock_file(fd_)) error_ = errno;
  }
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;
  ~HeldFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool is_held_by_another() const { return fd_ >= 0 && (error_ == EAGAIN || error_ == EACCES); }
  bool has_failed() const { return error_ != 0 && error_ != ENOENT; }
  const char* reason() const { return std::strerror(error_); }

 private:
  int fd_;
  int error_;
};

}  // namespace

bool lock_file(int fd) {
  auto lock = whole_file_lock();
  return ::fcntl(fd, F_OFD_SETLK, &lock) == 0;
}

Result<bool> is_file_locked(const std::string& path) {
  // A link leads elsewhere, and a FIFO would block.
  int fd = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return false;
  if (fd < 0) return fail(Code::upstream, "the lock on '{}' cannot be read: {}", path, std::strerror(errno));
  auto lock = whole_file_lock();
  bool is_read = ::fcntl(fd, F_OFD_GETLK, &lock) == 0;
  int error = errno;
  ::close(fd);
  if (!is_read)
    return fail(Code::upstream, "the lock on '{}' cannot be read: {}", path, std::strerror(error));
  return lock.l_type != F_UNLCK;
}

// It is renamed before it is read: what is compared is then what is removed, even where the state does not
// exist yet and so cannot be locked.
Result<void> remove_lock_info(const std::string& state, const std::string& info, std::string_view bytes) {
  HeldFile held(state);
  if (held.is_held_by_another())
    return fail(Code::conflict,
                "A program that runs on this machine holds the lock on '{}'. Wait until it ends, or end it, "
                "then send this again.",
                state);
  if (held.has_failed())
    return fail(Code::upstream, "the lock on '{}' cannot be taken: {}", state, held.reason());
  auto aside = fmt::format("{}.{}", info, crypto::random_hex(8));
  if (::rename(info.c_str(), aside.c_str()) != 0) {
    auto code = errno == ENOENT ? Code::not_found : Code::upstream;
    return fail(code, "the lock file of '{}' cannot be removed: {}", state, std::strerror(errno));
  }
  auto found = read_file(aside, kMaxInfoBytes);
  if (found && *found == bytes) {
    ::unlink(aside.c_str());
    return {};
  }
  // It fails when the newer program has written another one by now.
  if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, info.c_str(), RENAME_NOREPLACE) != 0)
    ::unlink(aside.c_str());
  return fail(Code::conflict, "the lock on '{}' was taken by another program meanwhile", state);
}

}  // namespace dash::storage
