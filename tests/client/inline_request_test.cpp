#include "core/client/inline_request.hpp"

#include <gtest/gtest.h>

#include "core/crypto/hash.hpp"
#include "core/storage/upload/inline_body.hpp"
#include "tests/support/must.hpp"

namespace dash::client {

TEST(InlineRequest, IsTheBodyThatTheInlineLaneReads) {
  for (std::size_t size : {0u, 1u, 2u, 3u, 48u << 10, (48u << 10) + 1, 200'000u}) {
    std::string content(size, 'x');
    for (std::size_t i = 0; i < size; ++i) content[i] = static_cast<char>(i * 31);
    std::size_t at = 0;
    FunctionSource source([&](std::span<char> into) -> Result<std::size_t> {
      auto n = content.copy(into.data(), std::min<std::size_t>(into.size(), 10'000), at);
      at += n;
      return n;
    });
    InlineRequest request("ü \"q\".yml", size, source);
    std::string body, piece(777, ' ');
    while (auto n = must(request.read(piece))) body.append(piece, 0, n);
    EXPECT_EQ(body.size(), request.size());
    StringSink decoded(size);
    storage::InlineBody reader(1 << 20, decoded);
    must(reader.write(body));
    must(reader.finish());
    EXPECT_EQ(reader.filename(), "ü \"q\".yml");
    EXPECT_TRUE(decoded.text() == content) << size;
  }
}

}  // namespace dash::client
