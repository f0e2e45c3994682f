// Where a folder of this machine lies: the folder and every folder above it by device and inode, so that
// links,
// "..", slashes and the spelling of a path do not matter. A folder that is not there yet lies beneath the
// nearest one that is. Called by root_rules.cpp.
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
  std::vector<FolderId> chain;      // the nearest folder that is there, then what lies above it, "/" last
  std::vector<std::string> absent;  // names beneath it that are not there yet
  std::string path;                 // of the nearest folder, as the kernel names it
};

Result<FolderId> id_of(int folder);
// Of an opened folder. Code::invalid when the folders above it cannot be read.
Result<Position> position_of(int folder);
// `path` is absolute. Code::invalid when '..' stands behind a name that is not there.
Result<Position> position_of(const std::string& path);

// Every position of an opened folder: one more for each mount that shows the same folder elsewhere.
Result<std::vector<Position>> all_positions_of(int folder);
// The nearest folder's positions, each with what is absent beneath it.
Result<std::vector<Position>> all_positions_of(const std::string& path);

bool is_same(const Position& one, const Position& other);
// Whether `inner` is `outer` or lies beneath it.
bool is_within(const Position& inner, const Position& outer);

}  // namespace dash::storage::local
