// The canonical form of any path, query and header: one line each where the form has one, the query in order
// and free of anything that would need escaping.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/storage/store/s3/sign.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dash;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto cut = [&] {
    auto end = std::min(text.find('\n'), text.size());
    std::string piece(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return piece;
  };
  auto key = cut();
  auto header = cut();
  storage::s3::Query query;
  while (!text.empty()) {
    auto name = cut();
    query.emplace_back(std::move(name), cut());
  }
  auto canonical = storage::s3::canonical_query(query);
  for (char c : canonical)
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f || c == '/' || c == '+')
      __builtin_trap();
  std::ranges::reverse(query);
  if (storage::s3::canonical_query(query) != canonical) __builtin_trap();
  auto path = "/" + net::percent_encode(key, true);
  if (net::percent_decode(path) != "/" + key) __builtin_trap();
  net::Headers headers{{"host", "h"}, {"x-amz-date", "d"}, {"x-any", header}};
  auto form = storage::s3::canonical_request({"GET", path, canonical, headers, "hash"});
  if (std::ranges::count(form, '\n') != 8) __builtin_trap();
  return 0;
}
