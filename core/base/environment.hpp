// The environment of this process. Read before threads change it, which none does.
#pragma once
#include <cstdlib>
#include <string>

namespace dash {

// Empty when the variable is not set.
inline std::string environment_variable(const char* name) {
  const char* text = std::getenv(name);
  return text ? text : "";
}

}  // namespace dash
