// Finds the program of a child process. Thread-safe.
#pragma once
#include <string>

#include "core/base/error.hpp"

namespace dash::net {

// Returns $PATH, or the usual folders where it is not set.
std::string search_path();

// Returns the program's path: `name` itself when it has a slash, else searched on PATH. Code::not_found names
// it.
Result<std::string> find_program(const std::string& name);

}  // namespace dash::net
