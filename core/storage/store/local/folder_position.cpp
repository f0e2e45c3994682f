#include "core/storage/store/local/folder_position.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>

#include "core/base/fd.hpp"
#include "core/storage/store/local/mounts.hpp"

namespace dash::storage::local {
namespace {

constexpr std::size_t kMaxAncestors = 1024;  // folders above one another; PATH_MAX allows twice as many
constexpr int kFolderFlags = O_PATH | O_DIRECTORY | O_CLOEXEC;

Failure invalid_folder(std::string_view what, std::string_view path) {
  return fail(Code::invalid, "cannot {} '{}': {}", what, path, std::strerror(errno));
}

std::string kernel_path(int folder) {
  std::array<char, PATH_MAX> text{};
  auto size = ::readlink(fmt::format("/proc/self/fd/{}", folder).c_str(), text.data(), text.size());
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : std::string();
}

std::vector<std::string> names_in(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    auto end = std::min(path.find('/'), path.size());
    if (auto name = path.substr(0, end); !name.empty() && name != ".") names.emplace_back(name);
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return names;
}

// The nearest folder on the way to `path` that can be opened, and the names after it.
struct NearestFolder {
  Fd folder;
  std::vector<std::string> absent;
};
Result<NearestFolder> open_nearest(const std::string& path) {
  auto existing = path;
  for (;;) {
    Fd folder(::open(existing.empty() ? "/" : existing.c_str(), kFolderFlags));
    if (folder.get() >= 0) {
      auto absent = names_in(std::string_view(path).substr(existing.size()));
      if (std::ranges::find(absent, "..") != absent.end())
        return fail(Code::invalid, "'{}' has '..' behind a folder that is not there; write the path without",
                    path);
      return NearestFolder{std::move(folder), std::move(absent)};
    }
    if (existing.empty()) return invalid_folder("open", "/");
    existing.resize(existing.find_last_not_of('/') == existing.npos ? 0 : existing.find_last_not_of('/') + 1);
    existing.resize(existing.empty() ? 0 : existing.rfind('/'));
  }
}

}  // namespace

Result<FolderId> id_of(int folder) {
  struct stat st {};
  if (::fstat(folder, &st) != 0) return invalid_folder("look at", kernel_path(folder));
  return FolderId{st.st_dev, st.st_ino};
}

Result<Position> position_of(int folder) {
  Position position;
  position.path = kernel_path(folder);
  Fd root(::open("/", kFolderFlags));
  auto top = TRY(id_of(root.get()));
  Fd current(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
  while (position.chain.size() < kMaxAncestors) {
    position.chain.push_back(TRY(id_of(current.get())));
    if (position.chain.back() == top) return position;
    current = Fd(::openat(current.get(), "..", kFolderFlags));
    if (current.get() < 0) return invalid_folder("look above", position.path);
  }
  return fail(Code::invalid, "'{}' lies too deep beneath other folders", position.path);
}

Result<Position> position_of(const std::string& path) {
  auto nearest = TRY(open_nearest(path));
  auto position = TRY(position_of(nearest.folder.get()));
  position.absent = std::move(nearest.absent);
  return position;
}

Result<std::vector<Position>> all_positions_of(int folder) {
  std::vector<Position> positions{TRY(position_of(folder))};
  auto id = positions.front().chain.front();
  for (const auto& path : other_paths_of(folder, positions.front().path)) {
    Fd other(::open(path.c_str(), kFolderFlags));
    // A mount over that path hides the folder there.
    if (other.get() < 0 || TRY(id_of(other.get())) != id) continue;
    positions.push_back(TRY(position_of(other.get())));
  }
  return positions;
}

Result<std::vector<Position>> all_positions_of(const std::string& path) {
  auto nearest = TRY(open_nearest(path));
  auto positions = TRY(all_positions_of(nearest.folder.get()));
  for (auto& position : positions) position.absent = nearest.absent;
  return positions;
}

bool is_same(const Position& one, const Position& other) {
  return one.chain.front() == other.chain.front() && one.absent == other.absent;
}

bool is_within(const Position& inner, const Position& outer) {
  if (outer.absent.empty()) return std::ranges::count(inner.chain, outer.chain.front()) > 0;
  return inner.chain.front() == outer.chain.front() && inner.absent.size() >= outer.absent.size() &&
         std::equal(outer.absent.begin(), outer.absent.end(), inner.absent.begin());
}

}  // namespace dash::storage::local
