#include "core/net/http_date.hpp"

#include <time.h>

namespace dash::net {

std::optional<Time> parse_http_date(const std::string& text) {
  std::tm parts{};
  const char* end = ::strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (!end || *end) return std::nullopt;
  return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

}  // namespace dash::net
