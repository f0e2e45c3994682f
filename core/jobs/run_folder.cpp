#include "core/jobs/run_folder.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "core/base/environment.hpp"
#include "core/base/file.hpp"
#include "core/base/log.hpp"
#include "core/crypto/hash.hpp"

namespace dash::jobs {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPrivate = 0700;
constexpr const char* kMountOptions = "mode=0700,size=16m";  // far more than keys and passwords take

std::string work_root(const std::string& data_dir) { return data_dir + "/work"; }
std::string mount_root(const std::string& data_dir) { return data_dir + "/secrets"; }

bool is_in_memory(const std::string& path) {
  struct statfs info {};
  return ::statfs(path.c_str(), &info) == 0 && (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC);
}

// $RUNTIME_DIRECTORY may list several folders.
std::string first_runtime_directory() {
  auto list = environment_variable("RUNTIME_DIRECTORY");
  return list.substr(0, list.find(':'));
}

// Returns a folder of this data folder's own on a tmpfs that exists, made when it was missing.
std::optional<std::string> runtime_root(const std::string& data_dir) {
  auto name = "dashctl-runs-" + crypto::to_hex(crypto::sha256(fs::absolute(data_dir).string())).substr(0, 16);
  for (const auto& folder :
       {first_runtime_directory(), fmt::format("/run/user/{}", ::geteuid()), std::string("/run")}) {
    if (folder.empty() || folder[0] != '/' || !is_in_memory(folder)) continue;
    auto root = folder + "/" + name;
    struct stat info {};
    bool is_made = ::mkdir(root.c_str(), kPrivate) == 0 || errno == EEXIST;
    if (!is_made || ::lstat(root.c_str(), &info) != 0) continue;
    // Somebody else may have made it.
    if (S_ISDIR(info.st_mode) && info.st_uid == ::geteuid() && (info.st_mode & 077) == 0) return root;
  }
  return std::nullopt;
}

Error no_memory_folder(int error) {
  return make_error(
      Code::conflict,
      "no folder in memory can be had for the secrets of a run (mount: {}). Start the server with "
      "RuntimeDirectory= of systemd, or where /run is a tmpfs that it may write",
      ::strerrordesc_np(error));
}

Result<void> mount_memory(const std::string& path) {
  if (::mount("tmpfs", path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, kMountOptions) == 0)
    return {};
  return Failure(no_memory_folder(errno));
}

// A run may have taken its own rights from folders.
void remove_tree(const std::string& path) {
  std::error_code ec;
  fs::remove_all(path, ec);
  if (!ec) return;
  auto options = fs::directory_options::none;
  ::chmod(path.c_str(), kPrivate);
  for (fs::recursive_directory_iterator it(path, options, ec), end; !ec && it != end; it.increment(ec))
    if (it->symlink_status(ec).type() == fs::file_type::directory) ::chmod(it->path().c_str(), kPrivate);
  fs::remove_all(path, ec);
  if (ec) log::warning("runs.not_removed", {{"folder", path}, {"error", ec.message()}});
}

void remove_secrets(const std::string& path, bool is_mounted) {
  if (is_mounted) ::umount2(path.c_str(), MNT_DETACH);
  remove_tree(path);
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec))
    out.push_back(it->path().filename());
  return out;
}

Fd open_folder(const std::string& path) {
  return Fd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

// While it is shared, folders may be made that are not locked yet; whoever looks for leftovers excludes that.
Result<Fd> lock_all(const std::string& data_dir, int operation) {
  TRY(make_folder(work_root(data_dir), kPrivate));
  auto all = open_folder(work_root(data_dir));
  if (all.get() < 0 || ::flock(all.get(), operation) != 0)
    return fail(Code::internal, "cannot lock {}: {}", work_root(data_dir), ::strerrordesc_np(errno));
  return all;
}

// A run that ended meanwhile counts as in use: its own process removes it.
bool is_in_use(const std::string& work) {
  auto folder = open_folder(work);
  if (folder.get() < 0) return errno == ENOENT;
  return ::flock(folder.get(), LOCK_EX | LOCK_NB) != 0;
}

}  // namespace

RunFolder::RunFolder(std::string data_dir, std::string job_id, std::string work, Fd lock)
    : data_dir_(std::move(data_dir)),
      job_id_(std::move(job_id)),
      work_(std::move(work)),
      lock_(std::move(lock)) {}

RunFolder::RunFolder(RunFolder&& other) noexcept
    : data_dir_(std::move(other.data_dir_)),
      job_id_(std::move(other.job_id_)),
      work_(std::exchange(other.work_, {})),
      secrets_(std::exchange(other.secrets_, {})),
      is_mounted_(other.is_mounted_),
      lock_(std::move(other.lock_)) {}

RunFolder::~RunFolder() {
  if (!secrets_.empty()) remove_secrets(secrets_, is_mounted_);
  if (!work_.empty()) remove_tree(work_);
}

Result<RunFolder> RunFolder::make(const std::string& data_dir, const std::string& job_id) {
  auto all = TRY(lock_all(data_dir, LOCK_SH));
  auto work = fs::absolute(work_root(data_dir)).string() + "/" + job_id;
  remove_tree(work);
  if (::mkdir(work.c_str(), kPrivate) != 0)
    return fail(Code::internal, "cannot make the work folder of the run: {}", ::strerrordesc_np(errno));
  auto lock = open_folder(work);
  ::flock(lock.get(), LOCK_SH);
  return RunFolder(data_dir, job_id, std::move(work), std::move(lock));
}

Result<std::string> RunFolder::secrets() {
  if (!secrets_.empty()) return secrets_;
  auto root = runtime_root(data_dir_);
  bool needs_mount = !root;
  if (needs_mount) {
    root = fs::absolute(mount_root(data_dir_));
    TRY(make_folder(*root, kPrivate));
  }
  auto path = *root + "/" + job_id_;
  if (::mkdir(path.c_str(), kPrivate) != 0 && errno != EEXIST)
    return fail(Code::internal, "cannot make the secrets folder of the run: {}", ::strerrordesc_np(errno));
  if (needs_mount) {
    if (auto mounted = mount_memory(path); !mounted) {
      ::rmdir(path.c_str());
      return Failure(mounted.error());
    }
  }
  is_mounted_ = needs_mount;
  secrets_ = path;
  return secrets_;
}

Result<std::string> RunFolder::add_secret(std::string_view name, std::string_view secret) {
  auto path = TRY(secrets()) + "/" + std::string(name);
  Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
  while (file.get() >= 0 && !secret.empty()) {
    auto n = ::write(file.get(), secret.data(), secret.size());
    if (n < 0 && errno != EINTR) break;
    if (n > 0) secret.remove_prefix(static_cast<std::size_t>(n));
  }
  if (file.get() < 0 || !secret.empty())
    return fail(Code::internal, "cannot write a secret of the run: {}", ::strerrordesc_np(errno));
  return path;
}

Result<void> can_keep_secrets(const std::string& data_dir) {
  if (runtime_root(data_dir)) return {};
  auto all = TRY(lock_all(data_dir, LOCK_SH));
  auto probe = mount_root(data_dir) + fmt::format("/probe-{}", ::gettid());
  TRY(make_folder(probe, kPrivate));
  auto mounted = mount_memory(probe);
  if (mounted) ::umount2(probe.c_str(), MNT_DETACH);
  ::rmdir(probe.c_str());
  return mounted;
}

void remove_leftover_runs(const std::string& data_dir) {
  auto all = lock_all(data_dir, LOCK_EX);
  if (!all) return log::warning("runs.leftovers_unread", {{"error", all.error().message}});
  for (const auto& job_id : names_in(work_root(data_dir))) {
    auto work = work_root(data_dir) + "/" + job_id;
    if (is_in_use(work)) continue;
    remove_tree(work);
    log::info("runs.leftover_removed", {{"job", job_id}});
  }
  auto is_gone = [&](const std::string& job_id) { return !fs::exists(work_root(data_dir) + "/" + job_id); };
  for (const auto& job_id : names_in(mount_root(data_dir)))
    if (is_gone(job_id)) remove_secrets(mount_root(data_dir) + "/" + job_id, true);
  auto root = runtime_root(data_dir);
  if (!root) return;
  for (const auto& job_id : names_in(*root))
    if (is_gone(job_id)) remove_secrets(*root + "/" + job_id, false);
}

}  // namespace dash::jobs
