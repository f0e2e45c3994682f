#include "daemon/http/router.hpp"

#include <gtest/gtest.h>

namespace dash::daemon {
namespace {

Route row(std::string method, std::string pattern) {
  return {.method = std::move(method), .pattern = std::move(pattern), .auth = Auth::anybody};
}

Router router() {
  return Router({row("GET", "/api/jobs/{id}"), row("DELETE", "/api/jobs/{id}"),
                 row("GET", "/api/jobs/summary"), row("POST", "/api/jobs/{id}/reject"),
                 row("GET", "/api/assets/{name...}"), row("GET", "/"),
                 row("POST", "/api/assets/{name}/scope")});
}

std::string pattern_of(const Match& match) { return match.route ? match.route->pattern : ""; }

TEST(Router, DecodesANameOnceAndKeepsAnEscapedSlashInIt) {
  auto all = router();
  auto match = all.match("GET", "/api/jobs/a%2Fb%2525");
  EXPECT_EQ(pattern_of(match), "/api/jobs/{id}");
  EXPECT_EQ(match.params.at("id"), "a/b%25");
}

TEST(Router, ALiteralBeatsANameWhateverTheOrderOfTheRows) {
  EXPECT_EQ(pattern_of(router().match("GET", "/api/jobs/summary")), "/api/jobs/summary");
}

TEST(Router, ANameOfAnotherMethodStillAnswersWhereTheLiteralDoesNot) {
  auto all = router();
  EXPECT_EQ(pattern_of(all.match("DELETE", "/api/jobs/summary")), "/api/jobs/{id}");
  EXPECT_EQ(pattern_of(all.match("GET", "/api/assets/a/scope")), "/api/assets/{name...}");
}

TEST(Router, TheRestTakesSlashesAndIsNeverEmpty) {
  auto all = router();
  EXPECT_EQ(all.match("GET", "/api/assets/dir/a%20b//c").params.at("name"), "dir/a b//c");
  EXPECT_FALSE(all.match("GET", "/api/assets/").route);
  EXPECT_FALSE(all.match("GET", "/api/assets").route);
}

TEST(Router, MatchesByteForByte) {
  auto all = router();
  for (auto path : {"/api/jobs", "/api/jobs/", "/api/jobs/1/", "//api/jobs/1", "/API/jobs/1", "/%61pi/jobs/1",
                    "/api//jobs/1"}) {
    auto match = all.match("GET", path);
    EXPECT_FALSE(match.route) << path;
    EXPECT_EQ(match.allow, "") << path;
  }
  EXPECT_TRUE(all.match("GET", "/").route);
}

TEST(Router, NamesTheMethodsOfAPathThatExists) {
  auto all = router();
  EXPECT_EQ(all.match("PATCH", "/api/jobs/7").allow, "DELETE, GET, HEAD");
  EXPECT_EQ(all.match("get", "/api/jobs/7").allow, "DELETE, GET, HEAD");
  EXPECT_EQ(pattern_of(all.match("HEAD", "/api/jobs/7")), "/api/jobs/{id}");
}

}  // namespace
}  // namespace dash::daemon
