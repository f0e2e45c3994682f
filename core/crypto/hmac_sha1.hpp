// HMAC-SHA1 (RFC 2104). Only the hashed host names of OpenSSH's known_hosts need it.
#pragma once
#include <string>
#include <string_view>

namespace dash::crypto {

std::string hmac_sha1(std::string_view key, std::string_view bytes);

}  // namespace dash::crypto
