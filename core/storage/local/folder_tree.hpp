// A folder of this machine as a FileTree. Every path is resolved by the kernel beneath the root and without
// symbolic links (openat2, Linux 5.6); the root itself may be reached through one. Called by registry.cpp.
#pragma once
#include <memory>
#include <string>

#include "core/storage/local/file_tree.hpp"

namespace dash::storage::local {

// `root` is absolute; it need not exist yet. Code::invalid otherwise.
Result<std::unique_ptr<FileTree>> open_folder_tree(const std::string& root);

}  // namespace dash::storage::local
