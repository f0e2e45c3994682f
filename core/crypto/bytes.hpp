// Text in the types of OpenSSL. For the files of this module alone.
#pragma once
#include <string>
#include <string_view>

namespace dash::crypto {

inline const unsigned char* byte_ptr(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}
inline unsigned char* mutable_byte_ptr(std::string& s, std::size_t at = 0) {
  return reinterpret_cast<unsigned char*>(s.data() + at);
}

}  // namespace dash::crypto
