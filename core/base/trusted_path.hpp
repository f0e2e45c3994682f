// Checks that only root and one user can change what a path names, from the root folder down to the file.
// Such a file may be run or read by its path.
#pragma once
#include <sys/types.h>

#include <string>

#include "core/base/error.hpp"

namespace dash {

// Follows links; `path` is absolute. Code::forbidden names the first folder, link or file that a third user
// owns or may write, and the mode that would be safe. A sticky folder of root (/tmp) is safe. Code::not_found
// when nothing is there, Code::invalid when it is no regular file.
Result<void> check_trusted_file(const std::string& path, uid_t user);
// The same of a folder. What lies in it is not checked.
Result<void> check_trusted_folder(const std::string& path, uid_t user);

}  // namespace dash
