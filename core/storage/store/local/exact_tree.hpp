// A tree that finds a file by its exact spelling alone. Many file systems accept others too (another case, a
// short name, a decomposed accent): to them "WEB.yml" is "web.yml", while a scope belongs to one of the two.
// Called by file_store.cpp.
#pragma once
#include <memory>

#include "core/storage/store/local/file_tree.hpp"

namespace dash::storage::local {

// Wraps `tree`: a file looked up by another spelling is absent (Code::not_found), and nothing replaces it
// (Code::conflict). Paths that begin with a dot are the store's own and are not checked.
std::unique_ptr<FileTree> make_exact_tree(std::unique_ptr<FileTree> tree);

}  // namespace dash::storage::local
