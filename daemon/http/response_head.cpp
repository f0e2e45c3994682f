#include "daemon/http/response_head.hpp"

#include <time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/log.hpp"

namespace dash::daemon {
namespace {

constexpr std::array kReasons = {
    std::pair{200, "OK"},
    std::pair{201, "Created"},
    std::pair{202, "Accepted"},
    std::pair{204, "No Content"},
    std::pair{206, "Partial Content"},
    std::pair{304, "Not Modified"},
    std::pair{307, "Temporary Redirect"},
    std::pair{308, "Permanent Redirect"},
    std::pair{400, "Bad Request"},
    std::pair{401, "Unauthorized"},
    std::pair{403, "Forbidden"},
    std::pair{404, "Not Found"},
    std::pair{405, "Method Not Allowed"},
    std::pair{408, "Request Timeout"},
    std::pair{409, "Conflict"},
    std::pair{411, "Length Required"},
    std::pair{412, "Precondition Failed"},
    std::pair{413, "Content Too Large"},
    std::pair{416, "Range Not Satisfiable"},
    std::pair{417, "Expectation Failed"},
    std::pair{422, "Unprocessable Content"},
    std::pair{429, "Too Many Requests"},
    std::pair{431, "Request Header Fields Too Large"},
    std::pair{500, "Internal Server Error"},
    std::pair{501, "Not Implemented"},
    std::pair{502, "Bad Gateway"},
    std::pair{503, "Service Unavailable"},
    std::pair{504, "Gateway Timeout"},
};

std::string_view reason(int status) {
  const auto* found =
      std::find_if(kReasons.begin(), kReasons.end(), [&](auto& row) { return row.first == status; });
  return found == kReasons.end() ? "Status" : found->second;
}

// RFC 9110 §5.6.7, formatted once a second and thread.
const std::string& http_date() {
  thread_local time_t formatted_at = 0;
  thread_local std::string date;
  time_t now = ::time(nullptr);
  if (now != formatted_at) {
    std::array<char, 40> text{};
    tm utc{};
    ::gmtime_r(&now, &utc);
    date.assign(text.data(), ::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &utc));
    formatted_at = now;
  }
  return date;
}

bool fits_a_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\t'; });
}

void append(std::string& out, std::string_view name, std::string_view value) {
  if (name.empty() || !fits_a_line(name) || !fits_a_line(value)) {
    log::error("http.header_dropped", {{"name", fits_a_line(name) ? name : "?"}});
    return;
  }
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

bool status_has_body(int status) { return status >= 200 && status != 204 && status != 304; }

std::string response_head(const Response& response, const Framing& framing) {
  std::string out;
  out.reserve(512);
  out = fmt::format("HTTP/1.1 {} {}\r\n", response.status, reason(response.status));
  append(out, "Date", http_date());
  if (status_has_body(response.status)) {
    if (!response.content_type.empty()) append(out, "Content-Type", response.content_type);
    if (framing.length) append(out, "Content-Length", std::to_string(*framing.length));
    if (framing.chunked) append(out, "Transfer-Encoding", "chunked");
  }
  for (const auto& [name, value] : response.headers) append(out, name, value);
  if (!framing.connection.empty()) append(out, "Connection", framing.connection);
  return out + "\r\n";
}

std::string chunk_head(std::size_t size) { return fmt::format("{:x}\r\n", size); }

}  // namespace dash::daemon
