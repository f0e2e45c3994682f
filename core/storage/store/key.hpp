// The one rule for keys of all stores. A key that is no plain path (climbing, absolute, unprintable, not
// UTF-8) reaches no store, so the same key means the same object in a bucket, a folder and a share.
#pragma once
#include <string_view>

#include "core/base/error.hpp"

namespace dash::storage {

// Code::invalid with what is wrong: empty, above 1,024 bytes, not UTF-8, a control character, or a segment
// between slashes that is empty, "." or "..".
Result<void> check_key(std::string_view key);

}  // namespace dash::storage
