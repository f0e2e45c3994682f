#include "core/policy/snapshot.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "core/base/file.hpp"
#include "core/base/text.hpp"

namespace dash::policy {
namespace {

// Coarser than the tick of any kernel (4 ms at CONFIG_HZ=250, 10 ms at 100), which is the resolution of file
// stamps.
constexpr std::int64_t kStampGrainNs = 50'000'000;
constexpr int kMaxDepth = 16;  // also ends a loop of symbolic links
constexpr int kAttempts = 5;

struct CloseDir {
  void operator()(DIR* d) const { ::closedir(d); }
};
using Dir = std::unique_ptr<DIR, CloseDir>;

std::int64_t nanos(const timespec& t) { return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; }

std::int64_t now_ns() {
  timespec t{};
  ::clock_gettime(CLOCK_REALTIME, &t);
  return nanos(t);
}

bool is_data(std::string_view path) {
  return path.ends_with(".json") || path.ends_with(".yaml") || path.ends_with(".yml");
}

bool is_policy_file(std::string_view name) { return is_rego(name) || is_data(name); }

Failure unreadable(const std::string& path) {
  return fail(Code::policy_unavailable, "{} cannot be read: {}", path, ::strerrordesc_np(errno));
}

FileStamp stamp_of(std::string path, const struct stat& st) {
  return {std::move(path),   st.st_dev,        st.st_ino, static_cast<std::uint64_t>(st.st_size),
          nanos(st.st_mtim), nanos(st.st_ctim)};
}

class DirectoryWalk {
 public:
  explicit DirectoryWalk(std::string root) : root_(std::move(root)) {}

  Result<Fingerprint> run() {
    TRY(add_folder(root_, "", 0));
    std::ranges::sort(out_.files, {}, &FileStamp::path);
    std::ranges::sort(out_.folders, {}, &FileStamp::path);
    return std::move(out_);
  }

 private:
  Result<void> add_folder(const std::string& path, const std::string& prefix, int depth) {
    if (depth > kMaxDepth)
      return fail(Code::policy_unavailable, "{} lies deeper than {} folders", path, kMaxDepth);
    int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return unreadable(path);
    Dir dir(::fdopendir(fd));
    struct stat st {};
    if (::fstat(fd, &st) != 0) return unreadable(path);
    out_.folders.push_back(stamp_of(prefix.substr(0, prefix.size() - (prefix.empty() ? 0 : 1)), st));
    while (auto* entry = ::readdir(dir.get())) {
      std::string_view name = entry->d_name;
      if (name == "." || name.starts_with("..") || name.starts_with(".#")) continue;
      TRY(check_spelling(path, name));
      bool may_be_folder = entry->d_type != DT_REG;
      if (!may_be_folder && !is_policy_file(name)) continue;
      TRY(add_entry(fd, path, prefix + std::string(name), name, depth));
    }
    return {};
  }

  // The engine would skip "caps.REGO" silently, and what it denies would be allowed.
  static Result<void> check_spelling(const std::string& folder_path, std::string_view name) {
    if (is_policy_file(name) || !is_policy_file(lower(name))) return {};
    return fail(Code::policy_unavailable,
                "{}/{} is not a rule to the engine; write its ending in small letters", folder_path, name);
  }

  Result<void> add_entry(int fd, const std::string& folder_path, const std::string& relative,
                         std::string_view name, int depth) {
    struct stat st {};
    if (::fstatat(fd, name.data(), &st, 0) != 0) {
      struct stat link {};
      if (errno == ENOENT && ::fstatat(fd, name.data(), &link, AT_SYMLINK_NOFOLLOW) != 0)
        return {};            // just removed
      out_.is_plain = false;  // its target may appear later
      if (!is_policy_file(name)) return {};
      return unreadable(folder_path + "/" + std::string(name));
    }
    // A mount of a missing file makes a folder of its name: the rule is missing, not absent.
    if (is_policy_file(name) && !S_ISREG(st.st_mode))
      return fail(Code::policy_unavailable, "{}/{} is not a regular file", folder_path, name);
    if (S_ISDIR(st.st_mode))
      return add_folder(folder_path + "/" + std::string(name), relative + "/", depth + 1);
    if (!is_policy_file(name)) {
      out_.is_plain = false;
      return {};
    }
    out_.files.push_back(stamp_of(relative, st));
    if (out_.files.size() > kMaxPolicyFiles)
      return fail(Code::policy_unavailable, "{} holds more than {} files", root_, kMaxPolicyFiles);
    return {};
  }

  std::string root_;
  Fingerprint out_;
};

Result<std::vector<PolicyFile>> read_all(const std::string& directory, const Fingerprint& stamps) {
  std::vector<PolicyFile> out;
  std::size_t left = kMaxPolicyBytes;
  for (const auto& stamp : stamps.files) {
    auto text = read_file(directory + "/" + stamp.path, left);
    if (!text) return fail(Code::policy_unavailable, "{}", text.error().message);
    left -= text->size();
    out.push_back({stamp.path, *std::move(text)});
  }
  return out;
}

}  // namespace

bool is_rego(std::string_view path) { return path.ends_with(".rego"); }
bool is_test(std::string_view path) { return path.ends_with("_test.rego"); }
std::string_view base_name(std::string_view path) {
  auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool Fingerprint::is_fresh_at(std::int64_t at_ns) const {
  auto is_fresh = [&](const FileStamp& f) {
    return std::max(f.mtime_ns, f.ctime_ns) > at_ns - kStampGrainNs;
  };
  return std::ranges::any_of(files, is_fresh) || std::ranges::any_of(folders, is_fresh);
}

Result<Fingerprint> fingerprint(const std::string& directory) { return DirectoryWalk(directory).run(); }

bool is_unchanged(const std::string& directory, const Fingerprint& known) {
  if (!known.is_plain) {
    auto now = fingerprint(directory);
    return now && *now == known;
  }
  auto is_same = [&](const FileStamp& stamp) {
    struct stat st {};
    return ::stat(stamp.path.empty() ? directory.c_str() : (directory + "/" + stamp.path).c_str(), &st) ==
               0 &&
           stamp_of(stamp.path, st) == stamp;
  };
  return std::ranges::all_of(known.folders, is_same) && std::ranges::all_of(known.files, is_same);
}

Result<Snapshot> read_snapshot(const std::string& directory) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto began = now_ns();
    auto before = TRY(fingerprint(directory));
    auto read = read_all(directory, before);
    auto after = TRY(fingerprint(directory));
    if (before != after) continue;  // it changed while it was read
    auto files = TRY(std::move(read));
    bool settled = !after.is_fresh_at(began);
    return Snapshot{std::move(after), std::move(files), settled};
  }
  return fail(Code::policy_unavailable, "{} keeps changing while it is read", directory);
}

}  // namespace dash::policy
