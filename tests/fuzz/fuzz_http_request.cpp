// Everything that a client can send to the HTTP server, from the bytes of a connection to decoded names. The
// first byte cuts the input in pieces, because header sections and chunks must be parsed alike however they
// arrive.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "daemon/http/forwarded.hpp"
#include "daemon/http/parser.hpp"
#include "daemon/http/range.hpp"
#include "daemon/http/router.hpp"
#include "daemon/http/target.hpp"

namespace dash::daemon {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

// Size of the head when it arrives `stride` bytes at a time; 0: none or refused.
std::size_t head_size(std::string_view input, std::size_t stride) {
  HeaderScanner scan;
  for (std::size_t seen = 0; seen <= input.size(); seen += stride) {
    auto found = scan.find(input.substr(0, std::min(input.size(), seen + stride)), 16u << 10);
    if (!found) return 0;
    if (*found) return **found;
  }
  return 0;
}

// The decoded body, or "refused" with what came before it.
std::string decoded(std::string_view head, std::string_view input, std::size_t stride) {
  MessageParser parser;
  if (!parser.head(head)) return "refused";
  std::string body, pending;
  std::vector<char> out(stride);
  while (true) {
    auto step = parser.chunked(pending, out);
    if (!step) return "refused";
    require(step->consumed <= pending.size() && step->produced <= out.size());
    pending.erase(0, step->consumed);
    body.append(out.data(), step->produced);
    if (step->done) return body;
    if (step->consumed > 0 || step->produced > 0) continue;
    if (input.empty()) return "cut";
    auto next = input.substr(0, stride);
    pending += next;
    input.remove_prefix(next.size());
  }
}

void read_request(std::string_view input, std::size_t stride) {
  auto size = head_size(input, input.size() + 1);
  require(size == head_size(input, stride));
  if (size == 0) return;
  auto bytes = input.substr(0, size);
  MessageParser parser;
  auto head = parser.head(bytes);
  if (!head) return;
  require(!(head->chunked && head->content_length));
  if (head->chunked) {
    auto rest = input.substr(size);
    require(decoded(bytes, rest, stride) == decoded(bytes, rest, 4096));
  }
  static const auto proxies = TrustedProxies::parse({"10.0.0.1", "10.0.0.2"}).value();
  auto client = proxies.client_of("10.0.0.1", head->headers);
  require(canonical_address(client) == client);
}

void read_target(std::string_view text) {
  auto target = parse_target(text);
  if (!target) return;
  static const Router router({{.pattern = "/api/{id}/x", .auth = Auth::anybody},
                              {.pattern = "/files/{name...}", .auth = Auth::anybody}});
  auto match = router.match("GET", target->path);
  for (const auto& [name, value] : match.params) require(!value.empty() && value.find('\0') == value.npos);
}

void read_range(std::string_view text) {
  for (std::uint64_t size : {0u, 1u, 1000u}) {
    auto range = parse_range(text, size);
    if (range && *range) require((*range)->size > 0 && (*range)->end() <= size);
  }
}

}  // namespace
}  // namespace dash::daemon

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  dash::daemon::read_request(input, 1 + data[0] % 32);
  dash::daemon::read_target(input);
  dash::daemon::read_range(input);
  return 0;
}
