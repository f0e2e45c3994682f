// All paths of one folder. A bind mount shows it at a second path, and the folders above that path say
// nothing about its other positions. Called by folder_position.cpp.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace dash::storage::local {

struct Mount {
  std::string id;
  std::string device;  // "8:1"
  std::string root;    // the mounted folder of the file system
  std::string point;   // the mount point
};
// Parses lines of /proc/self/mountinfo (proc(5)).
std::vector<Mount> read_mounts(std::string_view text);

// Returns the paths at which `mounts` show `path` of the mount with this id, without `path` itself.
std::vector<std::string> other_paths(const std::vector<Mount>& mounts, std::string_view mount_id,
                                     std::string_view path);

// Does the same for an open folder with the kernel's path. Empty where /proc is not mounted.
std::vector<std::string> other_paths_of(int folder, std::string_view path);

}  // namespace dash::storage::local
