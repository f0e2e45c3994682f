// The Content-Digest header (RFC 9530): the client's hash of a body.
#pragma once
#include <string_view>

#include "core/base/error.hpp"

namespace dash::storage {

// Compares the header with `sha256`, 32 raw bytes. `header` is a Dictionary of byte sequences (RFC 8941
// §3.2): `sha-256=:base64:`, others are ignored. Code::invalid when its sha-256 differs or cannot be read.
Result<void> check_content_digest(std::string_view header, std::string_view sha256);

}  // namespace dash::storage
