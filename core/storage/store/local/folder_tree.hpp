// A folder of this machine as a FileTree. Every path is resolved by the kernel beneath the root and without
// symbolic links (openat2, Linux 5.6); the root itself may be reached through one. Called by registry.cpp.
#pragma once
#include <memory>
#include <string>

#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/local/root_rules.hpp"

namespace dash::storage::local {

// Opens `root`, an absolute path, which need not exist yet. Code::invalid for a folder that `rules` refuses.
// A folder that appears at the path later is checked at its first use (Code::upstream). Without rules the
// folder is the program's own. The rules must outlive the tree.
Result<std::unique_ptr<FileTree>> open_folder_tree(const std::string& root, const RootRules* rules);

}  // namespace dash::storage::local
