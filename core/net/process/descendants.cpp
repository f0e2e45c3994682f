#include "core/net/process/descendants.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/fd.hpp"

namespace dash::net {
namespace {

constexpr auto kKillTimeout = std::chrono::seconds(1);

struct ProcessEntry {
  pid_t parent = 0;
  bool is_zombie = false;
};

// Reads "<pid> (<name>) <state> <parent> …"; the name may contain anything.
bool read_entry(const std::string& pid, ProcessEntry& entry) {
  Fd file(::open(("/proc/" + pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 512> buffer;
  auto n = file.get() < 0 ? -1 : ::read(file.get(), buffer.data(), buffer.size() - 1);
  if (n <= 0) return false;
  std::string_view text(buffer.data(), static_cast<std::size_t>(n));
  auto end = text.rfind(')');
  if (end == text.npos || end + 4 >= text.size()) return false;
  entry.is_zombie = text[end + 2] == 'Z' || text[end + 2] == 'X';
  entry.parent = static_cast<pid_t>(std::strtol(std::string(text.substr(end + 4)).c_str(), nullptr, 10));
  return true;
}

std::multimap<pid_t, std::pair<pid_t, bool>> processes_by_parent() {
  std::multimap<pid_t, std::pair<pid_t, bool>> out;
  std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  while (folder) {
    const auto* entry = ::readdir(folder.get());
    if (!entry) break;
    std::string name(entry->d_name);
    ProcessEntry found;
    if (name.find_first_not_of("0123456789") != name.npos || !read_entry(name, found)) continue;
    out.emplace(found.parent, std::pair(static_cast<pid_t>(std::stol(name)), found.is_zombie));
  }
  return out;
}

}  // namespace

std::vector<pid_t> descendants_of(pid_t root) {
  auto by_parent = processes_by_parent();
  std::vector<pid_t> out, left{root};
  while (!left.empty()) {
    auto parent = left.back();
    left.pop_back();
    auto [begin, end] = by_parent.equal_range(parent);
    for (auto it = begin; it != end; ++it) {
      left.push_back(it->second.first);
      if (!it->second.second) out.push_back(it->second.first);
    }
    by_parent.erase(begin, end);  // no process twice, whatever numbers are used again
  }
  return out;
}

void kill_descendants(pid_t root) {
  auto due = std::chrono::steady_clock::now() + kKillTimeout;
  // A stopped process starts no other one, so a second look finds what the first one missed.
  for (auto pid : descendants_of(root)) ::kill(pid, SIGSTOP);
  for (auto left = descendants_of(root); !left.empty(); left = descendants_of(root)) {
    for (auto pid : left) ::kill(pid, SIGKILL);
    if (std::chrono::steady_clock::now() >= due) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace dash::net
