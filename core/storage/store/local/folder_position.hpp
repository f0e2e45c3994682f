// The position of a folder of this machine: the folder and every folder above it by device and inode, so that
// links, "..", slashes and the spelling of a path do not matter. A folder that does not exist yet is placed
// beneath the nearest one that does. Called by root_rules.cpp.
#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace dash::storage::local {

struct FolderId {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FolderId&) const = default;
};

struct Position {
  std::vector<FolderId> chain;      // the nearest existing folder, then those above it, "/" last
  std::vector<std::string> absent;  // names beneath it that do not exist yet
  std::string path;                 // of the nearest existing folder, as the kernel spells it
};

Result<FolderId> id_of(int folder);
// Returns the position of an open folder. Code::invalid when the folders above it cannot be read.
Result<Position> position_of(int folder);
// Returns the position of an absolute path. Code::invalid when '..' follows a name that does not exist.
Result<Position> position_of(const std::string& path);

// Returns every position of an open folder: one more for each mount that shows the same folder elsewhere.
Result<std::vector<Position>> all_positions_of(int folder);
// Returns the positions of the nearest existing folder, each with what is absent beneath it.
Result<std::vector<Position>> all_positions_of(const std::string& path);

bool is_same(const Position& one, const Position& other);
// Returns whether `inner` is `outer` or is beneath it.
bool is_within(const Position& inner, const Position& outer);

}  // namespace dash::storage::local
