// Asks whether a program holds a lock on a file of this machine: an open-file-description lock, or one of
// POSIX.
#pragma once
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace dash::storage {

// Takes the lock of an open file, until it is closed. Returns false when another holds it, or errno says why not.
bool lock_file(int fd);

// Returns false for an absent file. Takes no lock. Code::upstream when the file cannot be opened.
Result<bool> is_file_locked(const std::string& path);

// Removes the file `info` of `folder` that a program left beside a state when it ended, while it has exactly
// these bytes. The state's own lock is held meanwhile, so that no program can take it. Code::conflict while one
// holds it, or when the file is another's by now; Code::not_found when it is gone.
Result<void> remove_lock_info(const std::string& state, const std::string& info, std::string_view bytes);

}  // namespace dash::storage
