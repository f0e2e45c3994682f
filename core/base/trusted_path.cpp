#include "core/base/trusted_path.hpp"

#include <pwd.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <filesystem>

namespace dash {
namespace {

constexpr int kMaxLinks = 40;  // as the kernel
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

std::string user_name(uid_t user) {
  std::array<char, 4096> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  ::getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found ? fmt::format("{} ({})", found->pw_name, user) : fmt::format("user {}", user);
}

// Goes down from the root folder, one name at a time, so that no folder is entered before it was checked.
class PathChecker {
 public:
  PathChecker(const std::string& path, uid_t user) : user_(user) { push(path); }

  enum class Kind { file, folder };
  Result<void> run(Kind wanted) {
    TRY(check_entry(current_));
    bool is_folder = true;
    while (!remaining_.empty()) {
      auto name = std::move(remaining_.front());
      remaining_.pop_front();
      if (!is_folder) return fail(Code::invalid, "{} is not a folder", current_.string());
      if (name == "..") {
        current_ = current_.parent_path();
        continue;
      }
      auto next = current_ / name;
      auto status = TRY(check_entry(next));
      if (S_ISLNK(status.st_mode)) {
        TRY(follow_link(next));
        continue;
      }
      current_ = std::move(next);
      is_folder = S_ISDIR(status.st_mode);
      is_file_ = S_ISREG(status.st_mode);
    }
    if (wanted == Kind::folder && !is_folder)
      return fail(Code::invalid, "{} is not a folder", current_.string());
    if (wanted == Kind::file && !is_file_)
      return fail(Code::invalid, "{} is not a regular file", current_.string());
    return {};
  }

 private:
  void push(const std::filesystem::path& path) {
    std::deque<std::string> names;
    for (const auto& part : path)
      if (!part.empty() && part != "." && part != "/") names.push_back(part.string());
    remaining_.insert(remaining_.begin(), names.begin(), names.end());
  }

  Result<void> follow_link(const std::filesystem::path& link) {
    std::error_code ec;
    auto target = std::filesystem::read_symlink(link, ec);
    if (ec || ++links_ > kMaxLinks) return fail(Code::invalid, "{} leads nowhere", link.string());
    if (target.is_absolute()) current_ = "/";
    push(target);
    return {};
  }

  Result<struct stat> check_entry(const std::filesystem::path& path) const {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
      return fail(errno == ENOENT ? Code::not_found : Code::forbidden, "cannot look at {}: {}", path.string(),
                  std::strerror(errno));
    if (status.st_uid != 0 && status.st_uid != user_)
      return fail(Code::forbidden, "{} belongs to {}; it has to belong to root{}: chown it", path.string(),
                  user_name(status.st_uid), user_ == 0 ? "" : " or to " + user_name(user_));
    bool is_sticky_root = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && status.st_uid == 0;
    if (!S_ISLNK(status.st_mode) && !is_sticky_root && (status.st_mode & kOthersWrite) != 0)
      return fail(Code::forbidden, "{0} may be written by others (mode {1:04o}): chmod {2:04o} {0}",
                  path.string(), status.st_mode & 07777u, status.st_mode & 07777u & ~kOthersWrite);
    return status;
  }

  uid_t user_;
  std::filesystem::path current_ = "/";  // checked, and free of links
  std::deque<std::string> remaining_;    // not walked yet
  int links_ = 0;
  bool is_file_ = false;
};

}  // namespace

Result<void> check_trusted_file(const std::string& path, uid_t user) {
  return PathChecker(path, user).run(PathChecker::Kind::file);
}

Result<void> check_trusted_folder(const std::string& path, uid_t user) {
  return PathChecker(path, user).run(PathChecker::Kind::folder);
}

}  // namespace dash
