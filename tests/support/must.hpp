// Returns the value of a result that a test relies on. A failure ends the test with its message.
#pragma once
#include <stdexcept>

#include "core/base/error.hpp"

namespace dash {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message + " [" + result.error().detail + "]");
  return take(std::move(result));
}

}  // namespace dash
