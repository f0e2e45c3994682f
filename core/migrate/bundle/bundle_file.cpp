#include "core/migrate/bundle/bundle_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "core/base/fd.hpp"
#include "core/base/file.hpp"
#include "core/crypto/hash.hpp"
#include "core/migrate/bundle/bundle.hpp"

namespace dash::migrate {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOthers = S_IRWXG | S_IRWXO;
constexpr int kMaxSameSecond = 100;
constexpr auto kStale = std::chrono::hours(24);

Result<void> make_default_folder(const std::string& folder) {
  TRY(make_folder(folder, 0700));
  struct stat st {};
  if (::lstat(folder.c_str(), &st) != 0)
    return fail(Code::internal, "cannot look at {}: {}", folder, std::strerror(errno));
  if (!S_ISDIR(st.st_mode) || st.st_uid != ::geteuid())
    return fail(Code::integrity,
                "{} must be a folder of your own, not a link or somebody else's: name a file with --out",
                folder);
  if ((st.st_mode & kOthers) != 0 && ::chmod(folder.c_str(), 0700) != 0)
    return fail(Code::internal, "cannot close {} to others: {}", folder, std::strerror(errno));
  return {};
}

// "a/b.json", 2 → "a/b-2.json"
std::string numbered(const std::string& path, int n) {
  if (n == 1) return path;
  fs::path p(path);
  return (p.parent_path() / fmt::format("{}-{}{}", p.stem().string(), n, p.extension().string())).string();
}

bool is_in_default_folder(const std::string& path) {
  return fs::path(path).parent_path() == default_bundle_folder();
}

}  // namespace

std::string default_bundle_folder() { return home_folder() + "/.dashboard-migrate"; }

Result<std::string> choose_bundle_path(const std::string& out, Time now, std::string_view kind) {
  std::error_code ec;
  if (out.empty()) {
    auto folder = default_bundle_folder();
    TRY(make_default_folder(folder));
    return fmt::format("{}/{}-{}.json", folder, kind, format_compact(now));
  }
  if (fs::is_directory(fs::symlink_status(out, ec)))
    return fail(Code::invalid, "{} is a folder: name a file in it", out);
  if (fs::is_other(fs::status(out, ec))) return out;  // a device or a pipe
  auto parent = fs::path(out).parent_path().string();
  if (!parent.empty()) TRY(make_folder(parent, 0700));
  if (::access(parent.empty() ? "." : parent.c_str(), W_OK) != 0)
    return fail(Code::invalid, "cannot write to {}: {}", out, std::strerror(errno));
  return out;
}

Result<std::string> write_bundle_file(const std::string& path, std::string_view text) {
  if (!is_in_default_folder(path)) {
    TRY(write_file(path, text, 0600));
    return path;
  }
  for (int n = 1;; ++n) {
    auto name = numbered(path, n);
    auto done = write_file(name, text, 0600, IfPresent::keep);
    if (done) return name;
    if (done.error().code != Code::conflict || n == kMaxSameSecond) return Failure(std::move(done).error());
  }
}

Result<BundleText> read_bundle_file(const std::string& path) {
  BundleText out;
  auto text = read_input(path, kMaxBundleBytes);
  if (!text) return fail(Code::integrity, "the bundle cannot be read: {}", text.error().message);
  out.text = *std::move(text);
  struct stat st {};
  if (path != "-" && ::stat(path.c_str(), &st) == 0 && S_ISREG(st.st_mode))
    out.others_can_read = (st.st_mode & (S_IRGRP | S_IROTH)) != 0;
  return out;
}

std::vector<std::string> stale_bundles(Time now) {
  std::vector<std::string> out;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(default_bundle_folder(), ec)) {
    auto name = entry.path().filename().string();
    struct stat st {};
    bool is_ours = name.starts_with("bundle-") || name.starts_with("rollback-");
    if (!is_ours || ::lstat(entry.path().c_str(), &st) != 0 || !S_ISREG(st.st_mode)) continue;
    if (now - std::chrono::system_clock::from_time_t(st.st_mtime) > kStale)
      out.push_back(entry.path().string());
  }
  std::ranges::sort(out);
  return out;
}

Result<void> shred_file(const std::string& path) {
  Fd fd(::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  struct stat st {};
  if (fd.get() < 0 || ::fstat(fd.get(), &st) != 0) {
    auto code = errno == ENOENT ? Code::not_found : Code::invalid;
    return fail(code, "cannot shred {}: {}", path,
                errno == ELOOP ? "it is a symbolic link" : std::strerror(errno));
  }
  if (!S_ISREG(st.st_mode)) return fail(Code::invalid, "cannot shred {}: it is not a file", path);
  if (st.st_nlink > 1) return fail(Code::invalid, "cannot shred {}: it has {} names", path, st.st_nlink);
  auto left = static_cast<std::size_t>(st.st_size);
  while (left > 0) {
    auto noise = crypto::random_bytes(std::min<std::size_t>(left, 1u << 20));
    auto n = ::write(fd.get(), noise.data(), noise.size());
    if (n <= 0) return fail(Code::internal, "cannot overwrite {}: {}", path, std::strerror(errno));
    left -= static_cast<std::size_t>(n);
  }
  if (::fsync(fd.get()) != 0 || ::unlink(path.c_str()) != 0)
    return fail(Code::internal, "cannot remove {}: {}", path, std::strerror(errno));
  return {};
}

}  // namespace dash::migrate
