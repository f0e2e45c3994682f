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
class Descent {
 public:
  Descent(const std::string& path, uid_t user) : user_(user) { push(path); }

  Result<void> run() {
    TRY(look(here_));
    for (bool folder = true; !names_.empty();) {
      auto name = std::move(names_.front());
      names_.pop_front();
      if (!folder) return fail(Code::invalid, "{} is no folder", here_.string());
      if (name == "..") {
        here_ = here_.parent_path();
        continue;
      }
      auto next = here_ / name;
      auto status = TRY(look(next));
      if (S_ISLNK(status.st_mode)) {
        TRY(follow(next));
        continue;
      }
      here_ = std::move(next);
      folder = S_ISDIR(status.st_mode);
      is_file_ = S_ISREG(status.st_mode);
    }
    if (!is_file_) return fail(Code::invalid, "{} is no regular file", here_.string());
    return {};
  }

 private:
  void push(const std::filesystem::path& path) {
    std::deque<std::string> names;
    for (const auto& part : path)
      if (!part.empty() && part != "." && part != "/") names.push_back(part.string());
    names_.insert(names_.begin(), names.begin(), names.end());
  }

  Result<void> follow(const std::filesystem::path& link) {
    std::error_code ec;
    auto target = std::filesystem::read_symlink(link, ec);
    if (ec || ++links_ > kMaxLinks) return fail(Code::invalid, "{} leads nowhere", link.string());
    if (target.is_absolute()) here_ = "/";
    push(target);
    return {};
  }

  Result<struct stat> look(const std::filesystem::path& path) const {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0)
      return fail(errno == ENOENT ? Code::not_found : Code::forbidden, "cannot look at {}: {}", path.string(),
                  std::strerror(errno));
    if (status.st_uid != 0 && status.st_uid != user_)
      return fail(Code::forbidden, "{} belongs to {}; it has to belong to root{}: chown it", path.string(),
                  user_name(status.st_uid), user_ == 0 ? "" : " or to " + user_name(user_));
    bool shared = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0 && status.st_uid == 0;
    if (!S_ISLNK(status.st_mode) && !shared && (status.st_mode & kOthersWrite) != 0)
      return fail(Code::forbidden, "{0} may be written by others (mode {1:04o}): chmod {2:04o} {0}",
                  path.string(), status.st_mode & 07777u, status.st_mode & 07777u & ~kOthersWrite);
    return status;
  }

  uid_t user_;
  std::filesystem::path here_ = "/";  // checked, and free of links
  std::deque<std::string> names_;     // still to go
  int links_ = 0;
  bool is_file_ = false;
};

}  // namespace

Result<void> check_trusted_file(const std::string& path, uid_t user) { return Descent(path, user).run(); }

}  // namespace dash
