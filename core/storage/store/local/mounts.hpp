// The places at which one folder can be seen: a bind mount shows it again, and the folders above it there say
// nothing about where else it lies. Called by folder_position.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dash::storage::local {

struct Mount {
  std::string id;
  std::string device;  // "8:1"
  std::string root;    // the folder of the file system that is mounted
  std::string point;   // where
};
// Lines of /proc/self/mountinfo (proc(5)).
std::vector<Mount> read_mounts(std::string_view text);

// The paths at which `mounts` show what lies at `path` of the mount with this id, but `path` itself.
std::vector<std::string> other_paths(const std::vector<Mount>& mounts, std::string_view mount_id,
                                     std::string_view path);

// Of an opened folder whose path the kernel names so. Empty where /proc is not mounted.
std::vector<std::string> other_paths_of(int folder, std::string_view path);

}  // namespace dash::storage::local
