#include "core/storage/store/local/mounts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/file.hpp"
#include "core/base/lines.hpp"
#include "core/base/text.hpp"

namespace dash::storage::local {
namespace {

constexpr std::size_t kMaxProcFile = 16u << 20;

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  while (!line.empty()) {
    auto end = std::min(line.find(' '), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return words;
}

bool is_octal(char c) { return c >= '0' && c <= '7'; }

// The kernel writes space, tab, line end and backslash as a backslash and three octal digits.
std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool is_escape =
        text[i] == '\\' && i + 3 < text.size() && std::ranges::all_of(text.substr(i + 1, 3), is_octal);
    if (!is_escape) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
    i += 3;
  }
  return out;
}

// Returns the rest of `path` beneath `folder`, with its slash; nullopt when it is not beneath.
std::optional<std::string> beneath(std::string_view path, std::string_view folder) {
  if (folder == "/") return path == "/" ? "" : std::string(path);
  if (!path.starts_with(folder)) return std::nullopt;
  auto rest = path.substr(folder.size());
  return rest.empty() || rest.front() == '/' ? std::optional(std::string(rest)) : std::nullopt;
}

std::string joined(std::string_view folder, std::string_view rest) {
  auto path = (folder == "/" ? std::string() : std::string(folder)) + std::string(rest);
  return path.empty() ? "/" : path;
}

}  // namespace

std::vector<Mount> read_mounts(std::string_view text) {
  std::vector<Mount> mounts;
  for (auto line : lines_of(text)) {
    auto words = words_of(line);
    if (words.size() < 5) continue;
    mounts.push_back(
        {std::string(words[0]), std::string(words[2]), unescaped(words[3]), unescaped(words[4])});
  }
  return mounts;
}

std::vector<std::string> other_paths(const std::vector<Mount>& mounts, std::string_view mount_id,
                                     std::string_view path) {
  auto own = std::ranges::find(mounts, mount_id, &Mount::id);
  auto rest = own == mounts.end() ? std::nullopt : beneath(path, own->point);
  if (!rest) return {};
  auto inside = joined(own->root, *rest);
  std::vector<std::string> paths;
  for (const auto& mount : mounts) {
    auto beneath_mount = mount.device == own->device ? beneath(inside, mount.root) : std::nullopt;
    if (!beneath_mount) continue;
    auto other = joined(mount.point, *beneath_mount);
    if (other != path && !std::ranges::count(paths, other)) paths.push_back(std::move(other));
  }
  return paths;
}

std::vector<std::string> other_paths_of(int folder, std::string_view path) {
  constexpr std::string_view kMountId = "mnt_id:";
  auto info = read_file(fmt::format("/proc/self/fdinfo/{}", folder), kMaxProcFile);
  auto mounts = read_file("/proc/self/mountinfo", kMaxProcFile);
  auto at = info ? info->find(kMountId) : std::string::npos;
  if (!mounts || at == std::string::npos) return {};
  auto id = info->substr(at + kMountId.size(), info->find('\n', at) - at - kMountId.size());
  return other_paths(read_mounts(*mounts), trim(id), path);
}

}  // namespace dash::storage::local
