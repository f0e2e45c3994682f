// An SMB share as a FileTree: each call is a question to a child process of its own (worker.hpp), started at
// first use. A call that takes longer than its deadline kills the child; the next one starts another. Calls
// go one after the other: the library beneath is not thread-safe. Called by registry.cpp.
#pragma once
#include <memory>
#include <string>

#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/smb/share.hpp"

namespace dash::storage::smb {

// `program` answers to "smb-worker": this binary.
std::unique_ptr<local::FileTree> open_share_tree(
    Share share, std::string program = "/proc/self/exe",
    std::chrono::milliseconds deadline = std::chrono::seconds(60));

}  // namespace dash::storage::smb
