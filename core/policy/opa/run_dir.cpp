#include "core/policy/opa/run_dir.hpp"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>

#include "core/net/process/exec_child.hpp"

namespace dash::policy {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "dashctl-engine-";
constexpr std::size_t kMaxRoot = 60;  // a socket's path is at most 107 bytes (unix(7))

std::string root() {
  std::error_code ec;
  auto temp = fs::temp_directory_path(ec).string();
  return ec || temp.size() > kMaxRoot ? "/tmp" : temp;
}

Failure os_error(std::string_view what) {
  return fail(Code::policy_unavailable, "{}: {}", what, ::strerrordesc_np(errno));
}

// The engine's user must be able to enter. When there is no such user nothing changes.
bool give_to_engine_user(const std::string& path) {
  int uid = net::unprivileged_uid();
  return uid < 0 ||
         ::chown(path.c_str(), static_cast<uid_t>(uid), static_cast<gid_t>(net::unprivileged_gid())) == 0;
}

bool is_ours(const fs::path& path) {
  struct stat st {};
  if (::lstat(path.c_str(), &st) != 0 || !S_ISDIR(st.st_mode)) return false;
  return st.st_uid == ::geteuid() || static_cast<int>(st.st_uid) == net::unprivileged_uid();
}

int lock_folder(const std::string& folder) {
  int fd = ::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0 && ::flock(fd, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd);
    return -1;
  }
  return fd;
}

// Removes folders whose owner no longer holds the lock, because it was killed.
void remove_stale() {
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(root(), ec)) {
    auto name = entry.path().filename().string();
    if (!name.starts_with(kPrefix) || !is_ours(entry.path()) || !fs::exists(entry.path() / "lock", ec))
      continue;
    int lock = lock_folder(entry.path().string());
    if (lock < 0) continue;
    RunDir::remove(entry.path().string());
    ::close(lock);
  }
}

}  // namespace

Result<RunDir> RunDir::make() {
  remove_stale();
  auto name = fmt::format("{}/{}XXXXXX", root(), kPrefix);
  if (::mkdtemp(name.data()) == nullptr)
    return os_error("no private folder for the policy engine in " + root());
  int lock = lock_folder(name);
  RunDir out(name, lock);
  if (lock < 0 || !give_to_engine_user(name)) return os_error("the private folder of the policy engine");
  return out;
}

RunDir::RunDir(RunDir&& other) noexcept
    : path_(std::exchange(other.path_, "")),
      lock_(std::exchange(other.lock_, -1)),
      folders_(other.folders_) {}

RunDir::~RunDir() {
  if (!path_.empty()) remove(path_);
  if (lock_ >= 0) ::close(lock_);
}

void RunDir::remove(const std::string& folder) {
  std::error_code ec;
  fs::remove_all(folder, ec);
}

Result<std::string> RunDir::folder() {
  auto path = fmt::format("{}/{}", path_, ++folders_);
  if (::mkdir(path.c_str(), 0700) != 0 || !give_to_engine_user(path)) return os_error(path);
  return path;
}

Result<void> RunDir::write(const std::string& folder, const std::vector<PolicyFile>& files) const {
  std::set<std::string> made;
  for (const auto& file : files) {
    for (auto slash = file.path.find('/'); slash != std::string::npos;
         slash = file.path.find('/', slash + 1)) {
      auto parent = folder + "/" + file.path.substr(0, slash);
      if (made.insert(parent).second &&
          ((::mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST) || !give_to_engine_user(parent)))
        return os_error(parent);
    }
    auto path = folder + "/" + file.path;
    int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    bool ok = fd >= 0;
    for (std::string_view rest = file.text; ok && !rest.empty();) {
      auto n = ::write(fd, rest.data(), rest.size());
      ok = n > 0;
      if (ok) rest.remove_prefix(static_cast<std::size_t>(n));
    }
    if (fd >= 0) ok = ::fchmod(fd, 0644) == 0 && ok;
    if (fd >= 0) ::close(fd);
    if (!ok) return os_error(path);
  }
  return {};
}

}  // namespace dash::policy
