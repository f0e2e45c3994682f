#include "daemon/routes/prefer.hpp"

#include <gtest/gtest.h>

namespace dash::daemon {
namespace {

bool prefers(std::initializer_list<std::pair<std::string, std::string>> headers) {
  Request request;
  request.headers = Headers(headers);
  return prefers_async(request);
}

TEST(PrefersAsync, ReadsTheListOfEveryPreferHeader) {
  EXPECT_TRUE(prefers({{"Prefer", "respond-async"}}));
  EXPECT_TRUE(prefers({{"prefer", "Respond-Async; x=1 , wait=10"}}));
  EXPECT_TRUE(prefers({{"Prefer", "wait=10"}, {"Prefer", "handling=lenient,respond-async"}}));
  EXPECT_FALSE(prefers({}));
  EXPECT_FALSE(prefers({{"Prefer", "return=minimal"}, {"X", "respond-async"}}));
  EXPECT_FALSE(prefers({{"Prefer", "respond-async-later"}}));
  EXPECT_FALSE(prefers({{"Prefer", ";respond-async"}}));
}

}  // namespace
}  // namespace dash::daemon
