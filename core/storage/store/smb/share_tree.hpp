// An SMB share as a FileTree. Each call is a request to a child process of its own (worker.hpp), started at
// first use. A call that exceeds its deadline kills the child; the next one starts another. Calls run one
// after the other, because the library is not thread-safe. Called by registry.cpp.
#pragma once
#include <memory>
#include <string>

#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/smb/share.hpp"

namespace dash::storage::smb {

// `program` runs the hidden command "smb-worker": this binary.
std::unique_ptr<local::FileTree> open_share_tree(
    Share share, std::string program = "/proc/self/exe",
    std::chrono::milliseconds deadline = std::chrono::seconds(60));

}  // namespace dash::storage::smb
