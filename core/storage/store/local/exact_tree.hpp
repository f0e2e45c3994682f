// A tree that knows its files by their own spelling alone. Many file systems answer to others too (another
// case, a short name, an accent written apart): to them "WEB.yml" is "web.yml", while a scope is kept for one
// of the two. Called by file_store.cpp.
#pragma once
#include <memory>

#include "core/storage/store/local/file_tree.hpp"

namespace dash::storage::local {

// In `tree`, a file looked up by another spelling than its own is absent (Code::not_found), and nothing is
// put in the place of one (Code::conflict). Paths that begin with a dot are the store's own and pass unseen.
std::unique_ptr<FileTree> make_exact_tree(std::unique_ptr<FileTree> tree);

}  // namespace dash::storage::local
