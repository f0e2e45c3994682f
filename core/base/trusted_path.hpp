// Whether a path can be trusted to name tomorrow what it names today: what only root and one user can change,
// from the root folder down to the file, may be run by its path.
#pragma once
#include <sys/types.h>

#include <string>

#include "core/base/error.hpp"

namespace dash {

// Follows links. Code::forbidden names the first folder, link or file that somebody else than root and `user`
// owns or may write, and the mode that would do; a sticky folder of root (/tmp) is safe. Code::not_found when
// nothing is there, Code::invalid when it is no regular file. `path` is absolute.
Result<void> check_trusted_file(const std::string& path, uid_t user);

}  // namespace dash
