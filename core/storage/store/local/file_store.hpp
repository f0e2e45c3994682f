// An ObjectStore over a tree of files. New content is written beneath the hidden folder kStagingFolder of the
// root and renamed to its name, so that no reader sees half a file. Names with a segment that begins with a
// dot are refused and never listed. An upload is a folder there: `data`, written at each part's offset; an
// empty file "<n>-<size>" for each staged part; and after the commit an empty file that names the version it
// made. One that begin_at_once() began is a file "<id>.new" there. Called by registry.cpp.
#pragma once
#include <memory>

#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/store.hpp"

namespace dash::storage::local {

inline constexpr std::string_view kStagingFolder = ".dashctl-uploads";

std::unique_ptr<ObjectStore> make_file_store(std::unique_ptr<FileTree> tree, const Clock& clock);

}  // namespace dash::storage::local
