#include "core/base/address.hpp"

#include <gtest/gtest.h>

namespace dash {
namespace {

TEST(NetworkOf, IsTheAddressOrTheSubscribersPartOfIt) {
  EXPECT_EQ(network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(network_of("2001:db8:1:2:aaaa::1"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_of("2001:db8:1:2:bbbb::2"), "2001:db8:1:2::/64");
  EXPECT_NE(network_of("2001:db8:1:3::1"), "2001:db8:1:2::/64");
  EXPECT_EQ(network_of("unix"), "unix");
  EXPECT_EQ(network_of(""), "");
}

}  // namespace
}  // namespace dash
