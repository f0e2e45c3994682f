#include "core/automation/ip_address.hpp"

#include <gtest/gtest.h>

#include "tests/support/must.hpp"

namespace dash::automation {
namespace {

TEST(IpAddress, HasOneFormHoweverItIsWritten) {
  for (auto text : {"127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1"})
    EXPECT_EQ(ip_text(parse_ip(text).value()), "127.0.0.1") << text;
  for (auto text : {"2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1"})
    EXPECT_EQ(ip_text(must(resolve_name(text)).at(0)), "127.0.0.1") << text;
  for (auto text : {"", "name", "10.0.0.0/8", "1.2.3", "fe80::1%lo", "[::1]"})
    EXPECT_FALSE(parse_ip(text)) << text;
}

TEST(IpAddress, KnowsThisMachineAndItsLinks) {
  for (auto own :
       {"127.0.0.1", "127.255.0.9", "0.0.0.0", "169.254.169.254", "::1", "::", "fe80::1", "febf::1",
        "::ffff:169.254.1.1", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1"})
    EXPECT_TRUE(is_own_machine_or_link(parse_ip(own).value())) << own;
  for (auto other : {"10.0.0.1", "192.168.1.1", "128.0.0.1", "169.255.0.1", "2001:db8::1", "fec0::1",
                     "fd00::1", "64:ff9b::a00:1", "2002:a00:1::"})
    EXPECT_FALSE(is_own_machine_or_link(parse_ip(other).value())) << other;
}

TEST(IpNetwork, ContainsWhatItsPrefixCovers) {
  auto contains = [](const char* network, const char* address) {
    return parse_network(network).value().contains(parse_ip(address).value());
  };
  EXPECT_TRUE(contains("10.0.0.0/8", "10.255.1.2"));
  EXPECT_FALSE(contains("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(contains("10.0.0.128/25", "10.0.0.200"));
  EXPECT_FALSE(contains("10.0.0.128/25", "10.0.0.127"));
  EXPECT_TRUE(contains("0.0.0.0/0", "1.2.3.4"));
  EXPECT_FALSE(contains("0.0.0.0/0", "2001:db8::1"));
  EXPECT_TRUE(contains("10.0.0.1", "::ffff:10.0.0.1"));
  EXPECT_TRUE(contains("::ffff:10.0.0.0/104", "10.9.9.9"));
  EXPECT_TRUE(contains("2001:db8::/33", "2001:db8:7fff::1"));
  EXPECT_FALSE(contains("2001:db8::/33", "2001:db8:8000::1"));
  for (auto bad :
       {"10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "10.0.0.0/8x", "::/129", "/8", "::ffff:0.0.0.0/95"})
    EXPECT_FALSE(parse_network(bad)) << bad;
}

TEST(ResolveName, FailsForANameWithoutAddress) {
  EXPECT_EQ(resolve_name("no-such-host.invalid").error().code, Code::invalid);
}

}  // namespace
}  // namespace dash::automation
