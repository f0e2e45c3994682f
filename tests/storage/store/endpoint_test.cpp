#include "core/storage/store/endpoint.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::storage {
namespace {

Result<Endpoint> read(std::string text) {
  return read_endpoint({{"storage_obj_cloud4_endpoint", std::move(text)}}, "obj_cloud4",
                       "https://usual.example");
}

TEST(StoreEndpoint, StandsInForAnEmptyOne) {
  EXPECT_EQ(must(read(" ")).url, "https://usual.example");
  EXPECT_EQ(must(read_endpoint({}, "obj_cloud4", "https://usual.example/")).host(), "usual.example");
}

TEST(StoreEndpoint, IsTakenApart) {
  auto endpoint = must(read("HTTP://Store.Example:9000/Base/path//"));
  EXPECT_EQ(endpoint.url, "http://store.example:9000/Base/path");
  EXPECT_EQ(endpoint.scheme(), "http");
  EXPECT_EQ(endpoint.host(), "store.example:9000");
  EXPECT_EQ(endpoint.path(), "/Base/path");
}

TEST(StoreEndpoint, ASchemeIsHttpsUnlessItIsNamed) {
  EXPECT_EQ(must(read("store.example")).url, "https://store.example");
}

// Signatures cover the host as it goes out, and clients leave out a scheme's own port.
TEST(StoreEndpoint, TheSchemesOwnPortIsLeftOut) {
  EXPECT_EQ(must(read("https://store.example:443/x")).host(), "store.example");
  EXPECT_EQ(must(read("http://store.example:80")).host(), "store.example");
  EXPECT_EQ(must(read("http://store.example:443")).host(), "store.example:443");
}

TEST(StoreEndpoint, NamesTheSettingThatIsNoAddress) {
  for (auto text : {"ftp://x", "http://u:p@x", "https://", "https://x?y", "https://x y", "https:///x"}) {
    auto endpoint = read(text);
    ASSERT_FALSE(endpoint) << text;
    EXPECT_NE(endpoint.error().message.find("storage_obj_cloud4_endpoint"), std::string::npos);
  }
}

}  // namespace
}  // namespace dash::storage
