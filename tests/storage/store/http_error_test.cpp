#include "core/storage/store/http_error.hpp"

#include <gtest/gtest.h>

#include "core/net/http/retry.hpp"

namespace dash::storage {
namespace {

Error error_of(int status, net::Headers headers = {}) {
  return http_error({status, std::move(headers), "", 0}, "obj_cloud1: reading 'x'",
                    {"TheCode", "the sentence"});
}

TEST(HttpError, NamesThePlaceTheStoresCodeAndItsSentence) {
  auto message = error_of(403).message;
  for (std::string_view part : {"obj_cloud1: reading 'x'", "credentials", "403", "TheCode", "the sentence"})
    EXPECT_NE(message.find(part), message.npos) << part;
}

TEST(HttpError, TellsWhatPassesFromWhatDoesNot) {
  for (int status : {408, 429, 500, 502, 503, 504})
    EXPECT_TRUE(net::is_transient(error_of(status))) << status;
  for (int status : {301, 400, 401, 403, 404, 409, 412, 416})
    EXPECT_FALSE(net::is_transient(error_of(status))) << status;
  EXPECT_EQ(error_of(404).code, Code::not_found);
  EXPECT_EQ(error_of(412).code, Code::precondition);
}

TEST(HttpError, ReadsRetryAfterAsSecondsOrDate) {
  EXPECT_EQ(error_of(503, {{"Retry-After", "12"}}).retry_after, std::chrono::seconds(12));
  net::Headers date{{"Date", "Fri, 03 Jul 2026 14:00:00 GMT"},
                    {"retry-after", "Fri, 03 Jul 2026 14:00:30 GMT"}};
  EXPECT_EQ(error_of(429, date).retry_after, std::chrono::seconds(30));
  EXPECT_EQ(error_of(503, {{"Retry-After", "soon"}}).retry_after, std::nullopt);
}

}  // namespace
}  // namespace dash::storage
