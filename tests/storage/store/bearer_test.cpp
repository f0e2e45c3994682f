#include "core/storage/store/bearer.hpp"

#include <gtest/gtest.h>

#include "tests/support/fake_clock.hpp"
#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

TEST(Bearer, ReadsTheAnswerOfATokenEndpoint) {
  auto bearer = must(parse_bearer(R"({"access_token":"abc","expires_in":3599,"token_type":"Bearer"})"));
  EXPECT_EQ(bearer.token.expose(), "abc");
  EXPECT_EQ(bearer.lifetime, std::chrono::seconds(3599));
  EXPECT_EQ(must(parse_bearer(R"({"access_token":"abc","expires_in":"60"})")).lifetime,
            std::chrono::seconds(60));
}

TEST(Bearer, RefusesAnythingElse) {
  for (auto text :
       {"", "[]", "{}", R"({"access_token":""})", R"({"access_token":7})", R"({"access_token":"a b"})",
        R"({"access_token":"a\r\nX: y"})", R"({"access_token":"abc","token_type":"mac"})"})
    EXPECT_EQ(parse_bearer(text).error().code, Code::upstream) << text;
}

struct BearerCacheTest : testing::Test {
  FakeClock clock;
  int asked = 0;
  std::chrono::seconds lifetime{3600};
  BearerCache cache{clock, [this]() -> Result<BearerToken> {
                      return BearerToken{Secret("token-" + std::to_string(++asked)), lifetime};
                    }};
};

TEST_F(BearerCacheTest, AsksAgainShortlyBeforeTheEnd) {
  EXPECT_EQ(must(cache.get()).expose(), "token-1");
  clock.advance(std::chrono::seconds(3530));
  EXPECT_EQ(must(cache.get()).expose(), "token-1");
  clock.advance(std::chrono::seconds(15));
  EXPECT_EQ(must(cache.get()).expose(), "token-2");
}

TEST_F(BearerCacheTest, KeepsAShortLivedTokenForMostOfItsLife) {
  lifetime = std::chrono::seconds(10);
  must(cache.get());
  clock.advance(std::chrono::seconds(8));
  EXPECT_EQ(must(cache.get()).expose(), "token-1");
  clock.advance(std::chrono::milliseconds(1500));
  EXPECT_EQ(must(cache.get()).expose(), "token-2");
}

TEST_F(BearerCacheTest, ForgetsARefusedTokenOnce) {
  auto first = must(cache.get());
  cache.drop(first);
  EXPECT_EQ(must(cache.get()).expose(), "token-2");
  cache.drop(first);  // another thread noticed later
  EXPECT_EQ(must(cache.get()).expose(), "token-2");
}

}  // namespace
}  // namespace dash::storage
