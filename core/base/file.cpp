#include "core/base/file.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/environment.hpp"
#include "core/base/fd.hpp"
#include "core/base/file_stream.hpp"

namespace dash {
namespace {

Failure os_error(std::string_view what, const std::string& path) {
  auto code = errno == ENOENT ? Code::not_found : errno == EEXIST ? Code::conflict : Code::internal;
  return fail(code, "cannot {} {}: {}", what, path, std::strerror(errno));
}

std::string folder_of(const std::string& path) {
  auto parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

Result<void> write_all(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    auto n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return os_error("write", path);
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<void> sync_folder(const std::string& folder) {
  Fd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0 || ::fsync(fd.get()) != 0) return os_error("write to the folder", folder);
  return {};
}

// A device or a pipe, or one of /dev's names for an open file. A file that replaced it would be of no use to
// its reader.
bool is_stream(const std::string& path) {
  struct stat target {};
  struct stat own {};
  if (::stat(path.c_str(), &target) != 0 || ::lstat(path.c_str(), &own) != 0) return false;
  if (S_ISLNK(own.st_mode) && path.starts_with("/dev/")) return true;
  return !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode);
}

using Fill = std::function<Result<void>(Sink&)>;

Result<void> fill_file(int fd, const std::string& path, const Fill& fill) {
  FunctionSink sink([&](std::string_view bytes) { return write_all(fd, bytes, path); });
  return fill(sink);
}

Result<void> write_stream(const std::string& path, const Fill& fill) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (fd.get() < 0) return os_error("write", path);
  return fill_file(fd.get(), path, fill);
}

// Fills `into` from the file unless it ends before.
Result<std::size_t> read_some(int fd, std::span<char> into, const std::string& path) {
  for (;;) {
    auto n = ::read(fd, into.data(), into.size());
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR) return os_error("read", path);
  }
}

Result<std::string> read_whole(int fd, const std::string& path, std::size_t max_bytes) {
  std::string out;
  std::string piece(1u << 16, '\0');
  for (;;) {
    auto n = TRY(read_some(fd, piece, path));
    if (n == 0) return out;
    out.append(piece, 0, n);
    if (out.size() > max_bytes) return fail(Code::too_large, "{} is larger than {} bytes", path, max_bytes);
  }
}

// Code::invalid for a folder.
Result<Fd> open_to_read(const std::string& path) {
  Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) return os_error("read", path);
  struct stat st {};
  if (::fstat(fd.get(), &st) != 0) return os_error("read", path);
  if (S_ISDIR(st.st_mode)) return fail(Code::invalid, "{} is a folder, not a file", path);
  return fd;
}

class FileSource final : public Source {
 public:
  FileSource(Fd fd, std::string path) : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<std::size_t> read(std::span<char> into) override { return read_some(fd_.get(), into, path_); }

 private:
  Fd fd_;
  std::string path_;
};

}  // namespace

std::string home_folder() {
  for (auto home : {environment_variable("HOME"), account_home()})
    if (!home.empty()) return home;
  return ".";
}

std::string account_home() {
  std::array<char, 16384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found && found->pw_dir ? found->pw_dir : "";
}

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  auto fd = TRY(open_to_read(path));
  return read_whole(fd.get(), path, max_bytes);
}

Result<std::string> read_stdin(std::size_t max_bytes) {
  return read_whole(STDIN_FILENO, "standard input", max_bytes);
}

Result<std::string> read_input(const std::string& path, std::size_t max_bytes) {
  return path == "-" ? read_stdin(max_bytes) : read_file(path, max_bytes);
}

Result<std::unique_ptr<Source>> open_file(const std::string& path) {
  return std::unique_ptr<Source>(new FileSource(TRY(open_to_read(path)), path));
}

Result<void> write_file(const std::string& path, std::string_view bytes, unsigned mode, IfPresent if_present,
                        Durable durable) {
  return write_file(
      path, [&](Sink& sink) { return sink.write(bytes); }, mode, if_present, durable);
}

Result<void> write_file(const std::string& path, const Fill& fill, unsigned mode, IfPresent if_present,
                        Durable durable) {
  if (if_present == IfPresent::replace && is_stream(path)) return write_stream(path, fill);
  std::string temporary = path + ".XXXXXX";
  // mkostemp makes the file 0600; a wider mode is set only once it is whole.
  Fd fd(::mkostemp(temporary.data(), O_CLOEXEC));
  if (fd.get() < 0) return os_error("write", path);
  auto write_temporary = [&]() -> Result<void> {
    TRY(fill_file(fd.get(), path, fill));
    if (durable == Durable::yes && ::fsync(fd.get()) != 0) return os_error("write", path);
    if (::fchmod(fd.get(), mode) != 0) return os_error("set the mode of", path);
    // link(2) fails where rename(2) would replace.
    if (if_present == IfPresent::keep) {
      if (::link(temporary.c_str(), path.c_str()) != 0) return os_error("write", path);
      ::unlink(temporary.c_str());
    } else if (::rename(temporary.c_str(), path.c_str()) != 0) {
      return os_error("write", path);
    }
    return {};
  };
  if (auto done = write_temporary(); !done) {
    ::unlink(temporary.c_str());
    return done;
  }
  if (durable == Durable::no) return {};
  return sync_folder(folder_of(path));
}

Result<void> make_folder(const std::string& path, unsigned mode) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec)) return {};
  std::filesystem::create_directories(folder_of(path), ec);
  if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) return os_error("make the folder", path);
  if (!std::filesystem::is_directory(path, ec))
    return fail(Code::invalid, "{} is a file, not a folder", path);
  return {};
}

}  // namespace dash
