#include "daemon/http/target.hpp"

#include <gtest/gtest.h>

namespace dash::daemon {
namespace {

TEST(RequestTarget, SplitsPathAndQueryAndKeepsThePathEncoded) {
  auto target = parse_target("/api/a%2Fb?x=1&y=%20&x=2&flag");
  ASSERT_TRUE(target);
  EXPECT_EQ(target->path, "/api/a%2Fb");
  EXPECT_EQ(target->query.get("x"), "1");
  EXPECT_EQ(target->query.get("y"), " ");
  EXPECT_EQ(target->query.get("flag"), "");
  EXPECT_FALSE(target->query.has("z"));
}

TEST(RequestTarget, TakesTheAbsoluteFormThatEveryServerMustAccept) {
  EXPECT_EQ(parse_target("http://host:80/api/x?q=1")->path, "/api/x");
  EXPECT_EQ(parse_target("http://host")->path, "/");
}

TEST(RequestTarget, TakesEscapesOfUnreservedCharactersForTheCharactersAndDecodesNothingTwice) {
  EXPECT_EQ(parse_target("/api/%61uth/%4De%2D%2e%5F%7e%30")->path, "/api/auth/Me-._~0");
  for (auto kept : {"/api/%2561uth", "/a%2Fb", "/a%2fb", "/a%3Fb", "/a%20b", "/%C3%BC", "/%25%36%31"})
    EXPECT_EQ(parse_target(kept)->path, std::string(kept) == "/%25%36%31" ? "/%2561" : kept);
  EXPECT_EQ(parse_target("HTTP://host/%61")->path, "/a");
}

TEST(RequestTarget, RefusesWhatTwoReadersCouldReadDifferently) {
  for (auto bad : {"", "api", "*", "/a b", "/a\tb", "/a%", "/a%2", "/a%zz", "/a%00b", "/.", "/..", "/a/../b",
                   "/a/%2e%2E/b", "/a/.", "/a#b", "/a\\b", "/?x=%", "/?x=%00", "host:443"})
    EXPECT_FALSE(parse_target(bad)) << bad;
  EXPECT_FALSE(parse_target(std::string_view("/a\0b", 4)));
}

TEST(RequestTarget, RefusesWhatIsNotUtf8) {
  for (auto bad : {"/a/%ff", "/a/%c3%28/b", "/\xff", "/a?x=%ff", "/a?%ed%a0%80=x"})
    EXPECT_FALSE(parse_target(bad)) << bad;
  EXPECT_EQ(parse_target("/z%C3%BCrich?x=%C3%BC")->query.get("x"), "ü");
}

TEST(RequestTarget, LeavesDotsInsideNamesAlone) {
  EXPECT_TRUE(parse_target("/a..b/.hidden/..."));
  EXPECT_TRUE(parse_target("/x%2F..%2Fy"));  // one segment; its meaning is the handler's
}

TEST(FormFields, PlusIsASpaceAndAnEscapedPlusIsAPlus) {
  auto fields = parse_fields("name=a+b%2Bc&&empty=&=v");
  ASSERT_TRUE(fields);
  EXPECT_EQ(fields->get("name"), "a b+c");
  EXPECT_EQ(fields->get("empty"), "");
  EXPECT_EQ(fields->get(""), "v");
}

}  // namespace
}  // namespace dash::daemon
