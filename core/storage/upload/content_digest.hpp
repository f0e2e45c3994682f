// The Content-Digest header (RFC 9530): what a client says a body hashes to.
#pragma once
#include <string_view>

#include "core/base/error.hpp"

namespace dash::storage {

// `header` is a Dictionary of byte sequences (RFC 8941 §3.2): `sha-256=:base64:`, others are passed over.
// `sha256`: 32 raw bytes. Code::invalid when it has a sha-256 that differs, or cannot be read.
Result<void> check_content_digest(std::string_view header, std::string_view sha256);

}  // namespace dash::storage
