// The JSON of the two sides' messages: a share, an entry. Pure.
#pragma once
#include "core/base/json.hpp"
#include "core/storage/store/local/file_tree.hpp"
#include "core/storage/store/smb/share.hpp"

namespace dash::storage::smb {

// Writes a share with its password. It goes through a pipe between two processes of one user, never to a log.
OrderedJson write_share(const Share& share);
Result<Share> read_share(const Json& json);

OrderedJson write_entry(const local::FileEntry& entry);
Result<local::FileEntry> read_entry(const Json& json);

}  // namespace dash::storage::smb
