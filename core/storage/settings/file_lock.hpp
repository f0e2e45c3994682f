// Asks whether a program holds a lock on a file of this machine: an open-file-description lock, or one of
// POSIX.
#pragma once
#include <string>

#include "core/base/error.hpp"

namespace dash::storage {

// Returns false for an absent file. Takes no lock. Code::upstream when the file cannot be opened.
Result<bool> is_file_locked(const std::string& path);

}  // namespace dash::storage
