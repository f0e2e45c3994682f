// Text as OpenSSL takes it. For the files of this room alone.
#pragma once
#include <string>
#include <string_view>

namespace dash::crypto {

inline const unsigned char* raw(std::string_view s) {
  return reinterpret_cast<const unsigned char*>(s.data());
}
inline unsigned char* mut(std::string& s, std::size_t at = 0) {
  return reinterpret_cast<unsigned char*>(s.data() + at);
}

}  // namespace dash::crypto
